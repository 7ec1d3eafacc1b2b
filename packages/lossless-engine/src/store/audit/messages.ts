// Audits messages against their links, and conversations against their messages.
import { boundRow, bytesOf, digestOf, isSame, linkOf, NO_LINK } from "../chain.ts";
import { isRemoved } from "../remove.ts";
import { FLAGS, messageOf } from "../rows.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, changed, type Fault, fault, ROWS_AT_ONCE, readable } from "./fault.ts";

/** Below every number, also those that nobody gave. */
const FIRST = -Infinity;

/** Messages against their links, in the order in which they came. */
export function messagePart(): AuditPart {
  const faults: Fault[] = [];
  const heads = new Map<number, Uint8Array | null>();
  const counts = new Map<number, { messages: number; turns: number }>();
  let closing: readonly Fault[] = [];
  let [upTo, read, isLater] = [FIRST, 0, false];
  const look = (sql: Sql, from: number, to: number) => {
    const rows = bySeq(
      sql("SELECT * FROM message WHERE seq > ? AND seq <= ? ORDER BY seq").all(from, to),
      "seq",
    );
    const links = bySeq(
      sql("SELECT * FROM link WHERE message > ? AND message <= ? ORDER BY message").all(from, to),
      "message",
    );
    const numbers = [...new Set([...rows.keys(), ...links.keys()])].sort((a, b) => a - b);
    const found = numbers.flatMap((seq) => {
      const [row, link] = [rows.get(seq), links.get(seq)];
      if (row !== undefined) {
        read++;
        const counted = counts.get(Number(row.conversation)) ?? { messages: 0, turns: 0 };
        counts.set(Number(row.conversation), {
          messages: counted.messages + 1,
          turns: Math.max(counted.turns, Number(row.turn)),
        });
      }
      return messageFaults(sql, { seq, row, link, heads });
    });
    return { found, last: numbers.at(-1) ?? from };
  };
  /** Nothing comes behind what was read: where something does, all are read again. */
  const startOverIfAdded = (sql: Sql) => {
    isLater = false;
    const all = sql("SELECT count(*) AS rows FROM message").get()!;
    const more = sql("SELECT count(*) AS rows FROM message WHERE seq > ?").get(upTo)!;
    if (Number(all.rows) - Number(more.rows) === read) return;
    faults.length = 0;
    heads.clear();
    counts.clear();
    [upTo, read] = [FIRST, 0];
  };
  return {
    name: "messages",
    get faults() {
      return [...faults, ...closing];
    },
    get read() {
      return read;
    },
    readLater() {
      isLater = true;
    },
    readOn(moment, isOver) {
      for (;;) {
        const next = readable(() =>
          moment.read((sql) => {
            if (isLater) startOverIfAdded(sql);
            const end = endOf(sql, upTo);
            const { found, last } = look(sql, upTo, end ?? Number.MAX_SAFE_INTEGER);
            if (end === null) {
              closing = conversationFaults(sql, heads, counts);
              upTo = last;
            }
            return { end, found };
          }),
        );
        if (next === undefined) {
          // The page is damaged: what stands on it is told one by one.
          const known = readable(() => moment.read((sql) => numbersBehind(sql, upTo)));
          faults.push(
            ...unreadable(known ?? [], (seq) =>
              moment.read((sql) => look(sql, seq - 1, seq).found),
            ),
          );
          if (known === undefined || known.length < ROWS_AT_ONCE || known.at(-1)! <= upTo) {
            faults.push(lostRest(upTo));
            return true;
          }
          upTo = known.at(-1)!;
        } else {
          faults.push(...next.found);
          if (next.end === null) return true;
          if (next.end <= upTo) {
            faults.push(lostRest(upTo));
            return true;
          }
          upTo = next.end;
        }
        if (isOver()) return false;
      }
    },
  };
}

/** Each for itself; those that cannot be read are told. */
function unreadable(numbers: readonly number[], look: (seq: number) => readonly Fault[]): Fault[] {
  return numbers.flatMap(
    (seq) =>
      readable(() => look(seq)) ?? [
        fault("unreadable", "message", seq, `message ${seq} stands on a damaged page of the file`),
      ],
  );
}

const lostRest = (upTo: number): Fault =>
  fault("unreadable", "message", null, `a damaged page hides messages behind number ${upTo}`);

/** The last number of the slice behind `from`; null = it reaches to the end. */
function endOf(sql: Sql, from: number): number | null {
  const numbers = numbersBehind(sql, from);
  return numbers.length < ROWS_AT_ONCE ? null : numbers.at(-1)!;
}

const numbersBehind = (sql: Sql, from: number): number[] =>
  sql("SELECT message FROM link WHERE message > ? ORDER BY message LIMIT ?")
    .all(from, ROWS_AT_ONCE)
    .map(({ message }) => Number(message));

type Row = Record<string, unknown>;

const bySeq = (rows: readonly Row[], key: string) =>
  new Map(rows.map((row) => [Number(row[key]), row]));

function messageFaults(
  sql: Sql,
  {
    seq,
    row,
    link,
    heads,
  }: {
    seq: number;
    row: Row | undefined;
    link: Row | undefined;
    heads: Map<number, Uint8Array | null>;
  },
): Fault[] {
  if (link === undefined)
    return [fault("added", "message", seq, `message ${seq} was never stored by the engine`)];
  const conversation = Number(link.conversation);
  const before = heads.get(conversation) ?? NO_LINK;
  heads.set(conversation, bytesOf(link.hash));
  if (row === undefined)
    return isRemoved(sql, conversation)
      ? []
      : [
          fault(
            "missing",
            "message",
            seq,
            `message ${seq} of conversation ${conversation} is gone`,
          ),
        ];
  const change = sql("SELECT was FROM change WHERE message = ? ORDER BY id LIMIT 1").get(seq);
  const bound = boundRow(sql, row);
  const isWhole = bound.conversation === conversation;
  // Of a damaged one that was told again nobody knows what it said first.
  const first = change === undefined ? digestOf(bound) : change.was;
  const isLinked = first === null || isSame(link.hash, linkOf(before, bytesOf(first)));
  if (!isWhole || !isLinked) return [changed(seq)];
  const edges = Number(
    sql("SELECT count(*) AS edges FROM payload_use WHERE message = ?").get(seq)?.edges,
  );
  const isForgotten = (bound.flags & FLAGS.forgotten) !== 0;
  if (edges + (isForgotten ? 1 : 0) !== bound.payloads.length)
    return [
      fault("added", "edge", seq, `message ${seq} is tied to a long text that it does not hold`),
    ];
  return messageOf(sql, row).isDamaged
    ? [fault("unreadable", "message", seq, `message ${seq} cannot be read`)]
    : [];
}

/** At the end: each conversation ends with its newest link, and counts what it holds. */
function conversationFaults(
  sql: Sql,
  heads: ReadonlyMap<number, Uint8Array | null>,
  counts: ReadonlyMap<number, { messages: number; turns: number }>,
): Fault[] {
  const rows = sql("SELECT * FROM conversation").all();
  const known = new Set(rows.map(({ id }) => Number(id)));
  const gone = [...new Set([...heads.keys(), ...counts.keys()])].filter((id) => !known.has(id));
  return [
    ...gone.map((id) => fault("missing", "conversation", id, `conversation ${id} is gone`)),
    ...rows.flatMap((row) => {
      const id = Number(row.id);
      const head = heads.get(id);
      const isClosed =
        head == null || isRemoved(sql, id) ? row.newest === null : isSame(row.newest, head);
      const { messages, turns } = counts.get(id) ?? { messages: 0, turns: 0 };
      return [
        ...(isClosed
          ? []
          : [
              fault(
                ...(["missing", "conversation", id] as const),
                `conversation ${id} does not end where it ended: its newest messages are gone or exchanged`,
              ),
            ]),
        ...(Number(row.messages) === messages && Number(row.turns) === turns
          ? []
          : [
              fault(
                ...(["inconsistent", "conversation", id] as const),
                `conversation ${id} says that it holds ${Number(row.messages)} messages of ${Number(row.turns)} turns; there are ${messages} of ${turns}`,
              ),
            ]),
      ];
    }),
  ];
}
