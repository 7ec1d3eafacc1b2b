// The settings of session pruning, `agents.defaults.contextPruning`.
import {
  DEFAULT_SESSION_PRUNE,
  parsePruneTtl,
  type SessionPruneSettings,
} from "@clew/plugin-sdk/transcript";
import { z } from "zod";

const count = z.number().int().nonnegative();
const share = z.number().min(0).max(1);

/** Loose: keys of other versions are tolerated. What is not set has its default. */
export const ContextPruningSchema = z.looseObject({
  mode: z
    .enum(["off", "cache-ttl", "adaptive", "aggressive"])
    .optional()
    .describe(
      '"cache-ttl": prune once the provider\'s prompt cache is cold. The last two are old names for it. Default: "off".',
    ),
  ttl: z
    .union([
      z.number().positive(),
      z
        .string()
        .refine((text) => parsePruneTtl(text) !== undefined, 'must be a time such as "5m" or "1h"'),
    ])
    .optional()
    .describe(
      "How long the provider keeps its cache; a bare number is minutes. Default: the model's own, else 5m.",
    ),
  tools: z
    .looseObject({
      allow: z
        .array(z.string())
        .default([])
        .describe("Tools whose results may be pruned, * matching anything; empty = all."),
      deny: z.array(z.string()).default([]).describe("Tools whose results are never pruned."),
    })
    .optional(),
  hardClear: z
    .looseObject({
      enabled: z
        .boolean()
        .optional()
        .describe("False: results are shortened but never cleared. Default: true."),
      placeholder: z.string().optional().describe("What a cleared result says."),
    })
    .optional(),
  softTrim: z
    .looseObject({
      maxChars: count.optional().describe("Longer results are shortened. Default: 4,000."),
      headChars: count.optional().describe("Characters kept at the beginning. Default: 1,500."),
      tailChars: count.optional().describe("Characters kept at the end. Default: 1,500."),
    })
    .optional(),
  keepLastAssistants: count
    .optional()
    .describe("This many newest replies, and everything among them, are left alone. Default: 3."),
  softTrimRatio: share
    .optional()
    .describe("Results are shortened once this share of the window is full. Default: 0.3."),
  hardClearRatio: share
    .optional()
    .describe("Results are cleared once this share of the window is full. Default: 0.5."),
  minPrunableToolChars: count
    .optional()
    .describe("Clear nothing if less than this could be cleared, in characters. Default: 50,000."),
});
export type ContextPruning = z.infer<typeof ContextPruningSchema>;

/** Pure. Only what is set; the rest is the host's default for the model. */
export function sessionPruneOf(
  config: ContextPruning | undefined,
): Partial<SessionPruneSettings> | undefined {
  if (config === undefined) return undefined;
  const {
    mode,
    ttl,
    tools,
    hardClear,
    softTrim,
    keepLastAssistants,
    softTrimRatio,
    hardClearRatio,
    minPrunableToolChars,
  } = config;
  const given = {
    mode: mode === undefined || mode === "off" ? mode : ("cache-ttl" as const),
    ttlMs: ttl === undefined ? undefined : parsePruneTtl(ttl),
    tools: tools && { allow: tools.allow, deny: tools.deny },
    hardClear: hardClear && { ...DEFAULT_SESSION_PRUNE.hardClear, ...known(hardClear) },
    softTrim: softTrim && { ...DEFAULT_SESSION_PRUNE.softTrim, ...known(softTrim) },
    ...{ keepLastAssistants, softTrimRatio, hardClearRatio, minPrunableToolChars },
  };
  return known(given);
}

/** Without keys that are there and undefined. */
function known<Value extends object>(
  value: Value,
): { [Key in keyof Value]?: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Key in keyof Value]?: Exclude<Value[Key], undefined>;
  };
}
