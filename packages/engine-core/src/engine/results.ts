// What each method of an engine may return, field by field.
import type { AgentMessage, SubagentPreparation } from "@clew/plugin-sdk/core";
import { type EngineMethod, isRecord } from "@clew/plugin-sdk/host";
import { z } from "zod";
import {
  kindOf,
  type Reading,
  readAt,
  refuse,
  refuseWhole,
  type Taken,
  takeFrom,
  takePlain,
} from "./plain-data.ts";
import { quietPromises } from "./quiet-promises.ts";
import { takeMessages } from "./taken-messages.ts";

/** Absent and null say the same where many engines write null for "nothing to say". */
const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);
/** NaN and infinity too: they say "not known". */
const number = z.custom<number>((value) => typeof value === "number", "expected a number");

// Unknown fields are passed over: newer engines may send more (contract §1.3).
const SCHEMAS = {
  assemble: z.object({
    estimatedTokens: number.default(0),
    promptAuthority: z.enum(["assembled", "preassembly_may_overflow"]).optional(),
    systemPromptAddition: z.string().optional(),
    // Shown to people and nothing else: a wrong one costs no view.
    reasons: z
      .array(z.object({ from: number, reason: z.string() }))
      .optional()
      .catch(undefined),
    summaries: z
      .array(
        z.object({
          at: number,
          id: z.string(),
          covers: z.array(z.object({ from: maybe(z.string()), until: z.string() })),
        }),
      )
      .optional()
      .catch(undefined),
    contextProjection: z
      .object({
        mode: z.enum(["per_turn", "thread_bootstrap"]),
        epoch: z.string().optional(),
        fingerprint: z.string().optional(),
      })
      .optional(),
  }),
  compact: z.object({
    ok: z.boolean(),
    compacted: z.boolean(),
    reason: maybe(z.string()),
    code: maybe(z.string()),
    result: maybe(
      z.object({
        summary: maybe(z.string()),
        firstKeptEntryId: maybe(z.string()),
        tokensBefore: maybe(number),
        tokensAfter: maybe(number),
        details: z.unknown().optional(),
        sessionId: maybe(z.string()),
        sessionTarget: maybe(
          z.looseObject({
            agentId: z.string(),
            sessionId: z.string(),
            sessionKey: maybe(z.string()),
            storePath: maybe(z.string()),
          }),
        ),
        sessionFile: maybe(z.string()),
      }),
    ),
  }),
  commitTurn: z.object({ status: z.enum(["committed", "duplicate"]) }),
  bootstrap: z.object({
    bootstrapped: z.boolean(),
    importedMessages: maybe(number),
    reason: maybe(z.string()),
  }),
  maintain: z.object({
    changed: z.boolean(),
    bytesFreed: number.default(0),
    rewrittenEntries: number.default(0),
    reason: maybe(z.string()),
  }),
  ingest: z.object({ ingested: z.boolean() }),
  ingestBatch: z.object({ ingestedCount: number }),
} satisfies Partial<Record<EngineMethod, z.ZodObject>>;

/** What hosts of this contract call the shape of some results (contract §3.1). */
const EXPECTED = {
  assemble: 'an object with a "messages" array',
  compact: 'an object with boolean "ok" and "compacted"',
  commitTurn: 'an object with status "committed" or "duplicate"',
} as const satisfies Partial<Record<EngineMethod, string>>;

/** What each of these means when it returns nothing; older engines do. */
const NOTHING_SAID: Partial<Record<EngineMethod, unknown>> = {
  bootstrap: { bootstrapped: false },
  maintain: { changed: false, bytesFreed: 0, rewrittenEntries: 0 },
  ingest: { ingested: false },
  ingestBatch: { ingestedCount: 0 },
};

/**
 * What `method` returned, as an object of the host's own, or the field that is wrong with it. The
 * engine's own object is read once and never looked at again. `given` are the messages the engine
 * was given.
 */
export function takeResult(
  method: EngineMethod,
  result: unknown,
  given: readonly AgentMessage[] = [],
): Taken<unknown> {
  quietPromises(result);
  return takeFrom((reading) => {
    switch (method) {
      case "afterTurn":
      case "onSubagentEnded":
        return undefined;
      case "prepareSubagentSpawn":
        return takePreparation(reading, result);
      default:
        if (result === undefined && method in NOTHING_SAID) return NOTHING_SAID[method];
        return takeFields(reading, method, result, given);
    }
  });
}

function takeFields(
  reading: Reading,
  method: keyof typeof SCHEMAS,
  result: unknown,
  given: readonly AgentMessage[],
): unknown {
  if (!isRecord(result))
    return refuseWhole(
      result,
      method in EXPECTED ? EXPECTED[method as keyof typeof EXPECTED] : "an object",
    );
  const messages = method === "assemble" && takeView(reading, result, given);
  const schema = SCHEMAS[method];
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(schema.shape)) {
    const value = readAt(reading, key, () => takePlain(reading, result[key]));
    if (value !== undefined) fields[key] = value;
  }
  const parsed = schema.safeParse(fields);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    reading.path.push(
      ...(issue?.path ?? []).map((key) => (typeof key === "number" ? key : String(key))),
    );
    return refuse(`is wrong: ${issue?.message}`);
  }
  const clean = withoutAbsent(parsed.data);
  return messages === false ? clean : { messages, ...clean };
}

function takeView(
  reading: Reading,
  result: Record<string, unknown>,
  given: readonly AgentMessage[],
): AgentMessage[] {
  const { messages } = result;
  if (!Array.isArray(messages)) return refuseWhole(result, EXPECTED.assemble);
  return readAt(reading, "messages", () => takeMessages(reading, messages, given));
}

/** What undoes a preparation is a function of the engine's, called with the object it came in. */
function takePreparation(reading: Reading, result: unknown): SubagentPreparation | undefined {
  if (result === undefined || result === null) return undefined;
  if (!isRecord(result)) return refuseWhole(result, "an object");
  const rollback = readAt(reading, "rollback", () => {
    const { rollback } = result;
    return typeof rollback === "function"
      ? rollback
      : refuse(`is ${kindOf(rollback)}; expected a function`);
  });
  return { rollback: async () => void (await rollback.call(result)) };
}

function withoutAbsent(value: object): object {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, isRecord(field) ? withoutAbsent(field) : field]),
  );
}
