// The settings of built-in compaction, their defaults, and which of them have an effect.
import { DEFAULT_RESERVE_TOKENS, type WaterSettings } from "@clew/plugin-sdk/host";
import { z } from "zod";

const tokens = z.number().int().nonnegative();

const water = {
  highWaterTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      "Messages and summary above this many tokens are compacted; unset = by the budget, 30,400 of 32,000 up to 107,000 of 128,000; at most 0.95 of it.",
    ),
  lowWaterTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      "Tokens a compaction goes down to, below highWaterTokens; unset = as that one is, 10,500 for 30,400 up to 24,500 for 107,000.",
    ),
  costFirst: z
    .boolean()
    .optional()
    .describe("True: compact where calls cost least, by how fast the session grows."),
};

/**
 * One schema for config, defaults and the docs table (spec "compaction" §4). Loose: keys of other
 * versions stay in place, and `keysWithoutEffect` names them.
 */
export const CompactionOptionsSchema = z.looseObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      "False: no compaction at the threshold; overflow recovery and manual compaction remain.",
    ),
  mode: z
    .enum(["default", "safeguard"])
    .default("default")
    .describe(
      "Safeguard: a history larger than its share of the window is summarised in two steps, oldest part first.",
    ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe('Model that summarises, as "provider/model"; unset = the session\'s model.'),
  timeoutSeconds: z
    .number()
    .int()
    .positive()
    .default(180)
    .describe("How long one request to the summarising model may take, in seconds."),
  keepRecentTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      "At most about this many of the newest tokens are kept as they are; unset = what lowWaterTokens leaves beside summary and ledger.",
    ),
  recentTurnsPreserve: z
    .number()
    .int()
    .min(0)
    .max(12)
    .default(3)
    .describe(
      "Newest summarised turns that are also quoted after the summary, 600 characters per message.",
    ),
  reserveTokensFloor: tokens
    .default(DEFAULT_RESERVE_TOKENS)
    .describe("Tokens held back for the reply, at most a quarter of the window; 0 = none."),
  maxHistoryShare: z
    .number()
    .min(0.1)
    .max(0.9)
    .default(0.5)
    .describe("Safeguard: largest share of the window for history in one pass."),
  identifierPolicy: z
    .enum(["strict", "off"])
    .default("strict")
    .describe(
      "Strict: the model is told to keep ids, paths and addresses verbatim, and the summary is checked for it.",
    ),
  qualityGuard: z
    .looseObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("Check every summary for headings, identifiers and the latest request."),
      maxRetries: z
        .number()
        .int()
        .min(0)
        .default(1)
        .describe("Corrective requests after a failed check; at most 3."),
    })
    .prefault({})
    .describe("The check of summaries."),
  prune: z
    .boolean()
    .default(true)
    .describe("First replace old tool output by a placeholder, which is often enough."),
  pruneProtectTokens: tokens
    .default(40_000)
    .describe("Newest tool output, in tokens, that no prune clears."),
  pruneMinimumTokens: tokens
    .default(20_000)
    .describe("A prune must free at least this many tokens."),
  pruneProtectedTools: z
    .array(z.string())
    .default([])
    .describe(
      "Tools whose output no prune clears, besides skill, memory_search and gandiva_recall.",
    ),
  agentPrune: z
    .boolean()
    .default(false)
    .describe(
      "Also clear, inside a long turn too, what a later read or write of the same file replaces, and output that came again.",
    ),
  ...water,
  models: z
    .record(z.string(), z.looseObject(water))
    .default({})
    .describe('The same three for one model, by "provider/model".'),
  midTurnPrecheck: z
    .looseObject({
      enabled: z.boolean().default(true).describe("Check the size again after each tool result."),
    })
    .prefault({})
    .describe("The size check between tool calls."),
});
/** The section with every default in place. */
export type CompactionOptions = z.infer<typeof CompactionOptionsSchema>;

/** What the options say of the marks for one model, by "provider/model". */
export function waterOf(
  { highWaterTokens, lowWaterTokens, costFirst, models }: CompactionOptions,
  model: string,
): WaterSettings {
  const own = Object.hasOwn(models, model) ? models[model] : undefined;
  return {
    highWaterTokens: own?.highWaterTokens ?? highWaterTokens,
    lowWaterTokens: own?.lowWaterTokens ?? lowWaterTokens,
    costFirst: own?.costFirst ?? costFirst,
  };
}

/** A pair of marks of which the low one is not below the high one. */
export interface WaterConflict {
  /** Where in the section both hold: "" = for every model, else a name in `models`. */
  model: string;
  /** Tokens. */
  lowWaterTokens: number;
  /** Tokens. */
  highWaterTokens: number;
}

/** Each pair of marks that contradicts itself: its low one would be ignored. */
export function waterConflicts(options: CompactionOptions): WaterConflict[] {
  return ["", ...Object.keys(options.models)].flatMap((model) => {
    const { lowWaterTokens: low, highWaterTokens: high } = waterOf(options, model);
    if (low === undefined || high === undefined || low < high) return [];
    const own = options.models[model];
    // What holds for every model is told once.
    const isOwn = own?.lowWaterTokens !== undefined || own?.highWaterTokens !== undefined;
    return model === "" || isOwn ? [{ model, lowWaterTokens: low, highWaterTokens: high }] : [];
  });
}

/** Keys that are accepted and do nothing here, and why; `clew doctor` names those a config sets. */
export const KEYS_WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  provider: "compaction providers of plugins are not called",
  thinkingLevel: "summaries are asked for without a thinking level",
  postIndexSync: "there is no memory index to bring up to date",
  postCompactionSections: "AGENTS.md stands unchanged in every system prompt",
  maxActiveTranscriptBytes: "transcripts are never rotated by size",
  notifyUser: "every compaction is told in the turn's events",
  reserveTokens: "retired; use reserveTokensFloor",
  customInstructions: "retired; give the focus with /compact <focus>",
  identifierInstructions: "retired; identifierPolicy is strict or off",
  truncateAfterCompaction: "retired; transcripts are append-only",
};

/**
 * The keys of `raw` that change nothing, in its order, each with a reason a person can read.
 * Unknown keys are not judged here.
 */
export function keysWithoutEffect(raw: unknown): { key: string; reason: string }[] {
  if (typeof raw !== "object" || raw === null) return [];
  return Object.keys(raw).flatMap((key) => {
    const reason = Object.hasOwn(KEYS_WITHOUT_EFFECT, key) ? KEYS_WITHOUT_EFFECT[key] : undefined;
    return reason === undefined ? [] : [{ key, reason }];
  });
}

/**
 * Complete options: what is missing or unusable (a wrong type, NaN, a negative size) takes its
 * default; fractions of tokens are cut off.
 */
export function compactionOptions(raw: Record<string, unknown> = {}): CompactionOptions {
  const given = Object.fromEntries(
    Object.entries(raw).map(([key, value]) => [
      key,
      isFraction(key, value) ? Math.floor(value) : value,
    ]),
  );
  const parsed = CompactionOptionsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const bad = new Set(parsed.error.issues.map(({ path }) => path[0]));
  return CompactionOptionsSchema.parse(
    Object.fromEntries(Object.entries(given).filter(([key]) => !bad.has(key))),
  );
}

const isFraction = (key: string, value: unknown): value is number =>
  key !== "maxHistoryShare" && typeof value === "number" && Number.isFinite(value);
