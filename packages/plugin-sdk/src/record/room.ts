// How many tokens each part of a record may take under a prompt budget.

/** Tokens of the parts of a record that code writes. */
export interface RecordRoom {
  /** Of the list of names. */
  ledger: number;
  /** Of the verbatim passages. */
  anchors: number;
  /** Of what people asked to hold to; the open request comes on top, whole. */
  pins: number;
}

/** Prompt budget and rooms, tokens: straight lines between them, level beyond the last. */
const STEPS: readonly (readonly [budget: number, room: RecordRoom])[] = [
  [0, { ledger: 0, anchors: 0, pins: 0 }],
  [8_000, { ledger: 1_000, anchors: 300, pins: 340 }],
  [32_000, { ledger: 3_500, anchors: 2_000, pins: 500 }],
  [64_000, { ledger: 4_500, anchors: 5_000, pins: 800 }],
  [112_000, { ledger: 4_500, anchors: 6_500, pins: 800 }],
];

/**
 * The rooms under a prompt budget, all in tokens. A ledger is worth its whole room: of the names a
 * session goes back to, most of those a smaller one misses stood once in an output. Passages bring
 * back more of what stood around names than any other room of their size does.
 */
export function recordRoomOf(promptBudget: number): RecordRoom {
  const above = STEPS.findIndex(([budget]) => promptBudget < budget);
  if (above < 0) return STEPS.at(-1)![1];
  const [low, least] = STEPS[Math.max(0, above - 1)]!;
  const [high, most] = STEPS[above]!;
  const share = high === low ? 0 : (promptBudget - low) / (high - low);
  const between = (part: keyof RecordRoom) =>
    Math.max(0, Math.floor(least[part] + share * (most[part] - least[part])));
  return { ledger: between("ledger"), anchors: between("anchors"), pins: between("pins") };
}

/** The room of a ledger alone; see `recordRoomOf`. */
export const ledgerRoomOf = (promptBudget: number): number => recordRoomOf(promptBudget).ledger;

/** `room` in which no more than `maxTokens` are taken in all, each part the same share less. */
export function withinTokens(room: RecordRoom, maxTokens: number): RecordRoom {
  const all = room.ledger + room.anchors + room.pins;
  const share = Math.min(1, Math.max(0, maxTokens) / Math.max(1, all));
  return {
    ledger: Math.floor(room.ledger * share),
    anchors: Math.floor(room.anchors * share),
    pins: Math.floor(room.pins * share),
  };
}
