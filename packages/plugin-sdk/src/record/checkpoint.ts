// How what a ledger knows is kept beside a transcript, to go on from after a restart.
import { z } from "zod";
import { keyOf, type LedgerState } from "./state.ts";

/**
 * Of what `saveLedger` gives. Goes up with every change of what a fold makes of the same entries: a
 * checkpoint of another version is of no use.
 */
const VERSION = 2;

const item = z.strictObject({
  kind: z.enum(["path", "symbol", "id", "command", "error"]),
  name: z.string(),
  state: z.string().optional(),
  stateEntryId: z.string().optional(),
  entryId: z.string(),
  weight: z.number(),
  at: z.number(),
});
const Checkpoint = z.strictObject({
  v: z.literal(VERSION),
  entries: z.number().int().nonnegative(),
  lastEntryId: z.string().nullable(),
  items: z.array(item),
  open: z.array(
    z.tuple([
      z.string(),
      z.array(z.strictObject({ key: z.string(), done: z.string(), failed: z.string().optional() })),
    ]),
  ),
  once: z.array(z.string()),
  passages: z.array(
    z.strictObject({ entryId: z.string(), text: z.string(), names: z.array(z.string()) }),
  ),
  pins: z.array(
    z.strictObject({
      text: z.string(),
      entryId: z.string(),
      force: z.enum(["standing", "rule", "wish", "amount", "plain", "task"]),
      at: z.number(),
      nth: z.number().int(),
      unkept: z.number().int(),
    }),
  ),
});

/** A ledger's state as JSON: write it down, and `restoreLedger` gives the same state back. */
export type LedgerCheckpoint = z.infer<typeof Checkpoint>;

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
export function restoreLedger(saved: unknown): LedgerState | undefined {
  const { success, data } = Checkpoint.safeParse(saved);
  if (!success) return undefined;
  return {
    items: new Map(data.items.map((one) => [keyOf(one), one])),
    open: new Map(data.open),
    once: new Set(data.once),
    passages: new Map(data.passages.map((passage) => [passage.text, passage])),
    pins: new Map(data.pins.map((pin) => [pin.text, pin])),
    entries: data.entries,
    lastEntryId: data.lastEntryId,
  };
}
