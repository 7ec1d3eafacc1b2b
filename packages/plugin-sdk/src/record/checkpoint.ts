// How what a ledger knows is kept beside a transcript, to go on from after a restart.
import { z } from "zod";
import { type Steps, stepsAtOnce } from "../slices.ts";
import { keyOf, type LedgerState } from "./state.ts";

/**
 * Of what `saveLedger` gives. Goes up with every change of what a fold makes of the same entries: a
 * checkpoint of another version is of no use.
 */
const VERSION = 3;

const item = z.strictObject({
  kind: z.enum(["path", "symbol", "id", "command", "error"]),
  name: z.string(),
  state: z.string().optional(),
  stateEntryId: z.string().optional(),
  entryId: z.string(),
  weight: z.number(),
  at: z.number(),
});
const pending = z.tuple([
  z.string(),
  z.array(z.strictObject({ key: z.string(), done: z.string(), failed: z.string().optional() })),
]);
const passage = z.strictObject({
  entryId: z.string(),
  text: z.string(),
  names: z.array(z.string()),
});
const pin = z.strictObject({
  text: z.string(),
  entryId: z.string(),
  force: z.enum(["standing", "rule", "wish", "amount", "plain", "task"]),
  at: z.number(),
  nth: z.number().int(),
  unkept: z.number().int(),
});
const head = {
  v: z.literal(VERSION),
  entries: z.number().int().nonnegative(),
  lastEntryId: z.string().nullable(),
};
const lists = { items: item, open: pending, once: z.string(), passages: passage, pins: pin };
/** What is in its lists is checked one by one. */
const Checkpoint = z.strictObject({
  ...head,
  items: z.array(z.unknown()),
  open: z.array(z.unknown()),
  once: z.array(z.unknown()),
  passages: z.array(z.unknown()),
  pins: z.array(z.unknown()),
});

/** A ledger's state as JSON: write it down, and `restoreLedger` gives the same state back. */
export type LedgerCheckpoint = z.infer<z.ZodObject<typeof head>> & {
  [List in keyof typeof lists]: z.infer<(typeof lists)[List]>[];
};

/** `state` as a value that JSON holds. Bounded, however long the session is: about 2 MB. */
export function saveLedger(state: LedgerState): LedgerCheckpoint {
  return {
    v: VERSION,
    entries: state.entries,
    lastEntryId: state.lastEntryId,
    items: [...state.items.values()],
    open: [...state.open].map(([callId, expected]) => [callId, [...expected]]),
    once: [...state.once],
    passages: [...state.passages.values()].map((passage) => ({
      ...passage,
      names: [...passage.names],
    })),
    pins: [...state.pins.values()],
  };
}

/**
 * The state that was saved; undefined when `saved` is not of this version, or damaged. Folding what
 * came after its `lastEntryId` gives what folding everything would: whoever restores checks that
 * the entry at `entries` − 1 of the branch still is that one.
 */
export const restoreLedger = (saved: unknown): LedgerState | undefined =>
  stepsAtOnce(restoreSteps(saved));

/** The same in steps. */
export function* restoreSteps(saved: unknown): Steps<LedgerState | undefined> {
  const { success, data } = Checkpoint.safeParse(saved);
  if (!success) return undefined;
  const items = yield* eachSteps(data.items, lists.items);
  const open = yield* eachSteps(data.open, lists.open);
  const once = yield* eachSteps(data.once, lists.once);
  const passages = yield* eachSteps(data.passages, lists.passages);
  const pins = yield* eachSteps(data.pins, lists.pins);
  if (!items || !open || !once || !passages || !pins) return undefined;
  return {
    items: new Map(items.map((one) => [keyOf(one), one])),
    open: new Map(open),
    once: new Set(once),
    passages: new Map(passages.map((one) => [one.text, one])),
    pins: new Map(pins.map((one) => [one.text, one])),
    entries: data.entries,
    lastEntryId: data.lastEntryId,
  };
}

/** Undefined when one of them is not of this kind. */
function* eachSteps<Value>(
  values: readonly unknown[],
  kind: z.ZodType<Value>,
): Steps<Value[] | undefined> {
  const checked: Value[] = [];
  for (const value of values) {
    yield;
    const { success, data } = kind.safeParse(value);
    if (!success) return undefined;
    checked.push(data);
  }
  return checked;
}
