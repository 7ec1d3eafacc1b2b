// Calls of models for tests, named by what matters.
import type { CallRow } from "../../src/inspect/shapes/calls.ts";
import type { EntryRow } from "../../src/inspect/shapes/entries.ts";
import type { SentItem } from "../../src/inspect/shapes/one-call.ts";
import type { PlayedPoint } from "../../src/lab/shapes.ts";

const NO_TOKENS = {
  system: 0,
  tools: 0,
  summaries: 0,
  messages: 0,
  replies: 0,
  toolOutput: 0,
  notes: 0,
  program: 0,
};

/** `id`: "2.1"; `tokens`: its messages' and total, or each source's. */
export function callRow(
  id: string,
  given: Partial<Omit<CallRow, "tokens">> & { tokens?: number | Partial<CallRow["tokens"]> } = {},
): CallRow {
  const [turn = 0, call = 0] = id.split(".").map(Number);
  const { tokens = 100, ...rest } = given;
  const bySource = {
    ...NO_TOKENS,
    ...(typeof tokens === "number" ? { messages: tokens } : tokens),
  };
  const total = Object.values(bySource).reduce((sum, count) => sum + count, 0);
  return {
    ...{
      id,
      turn,
      call,
      turnId: `turn-${turn}`,
      promptEntryId: null,
      startedAt: "2026-11-23T10:00:00.000Z",
    },
    ...{
      durationMs: 10,
      running: null,
      model: "house/large",
      engine: "legacy",
      stopReason: "stop",
      error: null,
    },
    ...{ isCounted: true, promptBudget: 1000, contextWindow: 2000, outputTokens: 10 },
    ...{ cache: null, cost: null, waste: [], marks: [], happened: [], requestHash: `hash-${id}` },
    lost: null,
    fates: fates({ shown: 1 }),
    ...rest,
    tokens: { ...bySource, total },
    estimatedTokens: rest.estimatedTokens ?? total,
  };
}

/** Those not named are none. */
export function fates(given: Partial<Omit<CallRow["fates"], "all">>): CallRow["fates"] {
  const counts = { shown: 0, summary: 0, cleared: 0, leftOut: 0, unseen: 0, ...given };
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { shortened: 0, changed: 0, ...counts, all };
}

/** Of a call as it would have been made. */
export const playedPoint = (id: string, total: number): PlayedPoint => ({
  ...{ id, ofCall: null, turn: 1, call: 1, tokens: callRow("1.1", { tokens: total }).tokens },
  ...{ promptBudget: 1000, isOverBudget: total > 1000, cache: { read: 0, written: 0 } },
  ...{ cost: dollars(0.5), fates: fates({ shown: 2, summary: 1, leftOut: 1 }) },
  ...{ evidence: { needed: 4, present: 3 }, engineMs: 1, marks: [] },
});

export function dollars(total: number): NonNullable<CallRow["cost"]> {
  return { input: total, cacheRead: 0, cacheWrite: 0, output: 0, summariser: 0, total };
}

export function sentItem(index: number, given: Partial<SentItem> = {}): SentItem {
  return {
    ...{ index, part: "messages", source: { kind: "entry", name: `e${index}` }, role: "user" },
    ...{ entryId: `e${index}`, number: index + 1, summaryId: null, reason: "history" },
    ...{
      engineReason: null,
      isHeld: false,
      tokens: 10,
      hash: `h${index}`,
      marks: [],
      isFromCache: null,
    },
    ...{ preview: `words ${index}`, chars: 8 },
    ...given,
  };
}

export function entryRow(number: number, given: Partial<EntryRow> = {}): EntryRow {
  return {
    ...{ number, entryId: `e${number}`, role: "user", at: null, preview: "words", chars: 5 },
    ...{ tokens: 10, fate: { kind: "shown" }, marks: [] },
    ...given,
  };
}
