// Decides under which numbers a session's rows are shared where others have theirs.
import type { EngineRow } from "@clew/plugin-sdk/core";
import { sharedIn } from "../sharing/plan-sharing.ts";

/** The numbers that a session's rows say. */
export interface RowNumbers {
  /** Of its history. Null: the rows say nothing. */
  readonly conversation: number | null;
  /** What each message is known by, by its number, in their order. */
  readonly messages: ReadonlyMap<number, string>;
  /** Of its summaries. */
  readonly summaries: readonly number[];
}

/** Numbers that nobody else gets, from these on. */
export interface FreeNumbers {
  /** One. */
  readonly conversation: number;
  /** As many as there are messages. */
  readonly message: number;
  /** As many as there are summaries. */
  readonly summary: number;
}

/** Pure. */
export function numbersInRows(rows: readonly EngineRow[]): RowNumbers {
  const { conversation, messages, summaries } = sharedIn(rows);
  return {
    conversation,
    messages: new Map([...messages].map(([seq, { name }]) => [seq, name])),
    summaries: [...summaries.keys()],
  };
}

/** Kinds of rows in which numbers stand in words; they are made anew without asking a model. */
const MADE_ANEW: ReadonlySet<string> = new Set(["cut", "cuts", "ledger"]);

/**
 * Pure. The same messages and summaries under other numbers. What `known`, the rows that are there
 * already, names keeps its numbers, as far as the order of the messages allows.
 */
export function renumberedRows(
  rows: readonly EngineRow[],
  { known, free }: { known: readonly EngineRow[]; free: FreeNumbers },
): EngineRow[] {
  const [own, before] = [sharedIn(rows), sharedIn(known)];
  const places = newPlaces([...own.messages.values()], [...before.messages.values()], free.message);
  const olds = [...places.keys()];
  const from = (seq: number) => places.get(olds.find((each) => each >= seq) ?? olds.at(-1)!) ?? seq;
  const to = (seq: number) => places.get(olds.findLast((each) => each <= seq) ?? olds[0]!) ?? seq;
  const rangeOf = ({ depth, first, last }: Record<string, unknown>) => `${depth} ${first} ${last}`;
  const earlier = new Map([...before.summaries].map(([id, said]) => [rangeOf(said), id]));
  const moved = [...own.summaries].map(([id, said]) => {
    const range = { first: from(Number(said.first)), last: to(Number(said.last)) };
    // What is quoted of messages names them.
    const days = JSON.stringify(
      JSON.parse(String(said.days), (key, value) =>
        key === "seq" && typeof value === "number" ? (places.get(value) ?? value) : value,
      ),
    );
    return { id, said: { ...said, ...range, days } };
  });
  const ids = new Map(
    moved.map(({ id, said }, at) => [id, earlier.get(rangeOf(said)) ?? free.summary + at]),
  );
  const conversation = before.conversation ?? free.conversation;
  return [
    rowOf("place", "", { conversation }),
    ...rows.flatMap((row): EngineRow[] => {
      if (row.body === null || MADE_ANEW.has(row.kind)) return [];
      if (row.kind === "told") {
        const told = (JSON.parse(row.body) as [number, ...unknown[]][]).map(([seq, ...rest]) => [
          ...[places.get(seq)!, ...rest],
        ]);
        return [rowOf("told", String(told[0]![0]), told)];
      }
      if (row.kind === "message") {
        const said = JSON.parse(row.body) as { seq: number };
        const seq = places.get(said.seq);
        return seq === undefined ? [] : [rowOf("message", String(seq), { ...said, seq })];
      }
      return row.kind === "place" || row.kind === "summary" ? [] : [row];
    }),
    ...moved.map(({ id, said }): EngineRow => {
      const parent = (said as { parent?: number | null }).parent ?? null;
      const names = { id: ids.get(id), parent: parent === null ? null : (ids.get(parent) ?? null) };
      return rowOf("summary", String(ids.get(id)), { ...said, ...names });
    }),
  ];
}

interface Named {
  readonly seq: number;
  readonly name: string;
}

/** New numbers by the old ones, in one order. */
function newPlaces(
  own: readonly Named[],
  before: readonly Named[],
  free: number,
): Map<number, number> {
  const isSame = before.every(({ name }, at) => own[at]?.name === name);
  const kept = isSame ? before : [];
  return new Map(own.map(({ seq }, at) => [seq, kept[at]?.seq ?? free + at]));
}

const rowOf = (kind: string, key: string, body: unknown): EngineRow => ({
  ...{ kind, key, body: JSON.stringify(body) },
});
