// Audits changes of messages, of which the newest says what its message says now.
import { boundRow, bytesOf, digestOf, isSame, linkOf, NO_LINK } from "../chain.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, changed, type Fault, fault, orUnreadable, ROWS_AT_ONCE } from "./fault.ts";

type Row = Record<string, unknown>;

/** Changes of messages, of which the newest of each message says what its row has to say. */
export function changePart(): AuditPart {
  const faults: Fault[] = [];
  const heads = new Map<number, Uint8Array>();
  let [upTo, read] = [0, 0];
  const look = (sql: Sql, row: Row): Fault[] => {
    const [id, seq, conversation] = [Number(row.id), Number(row.message), Number(row.conversation)];
    const before = heads.get(conversation) ?? NO_LINK;
    heads.set(conversation, bytesOf(row.hash));
    const earlier = sql("SELECT max(id) AS id FROM change WHERE message = ? AND id < ?").get(
      seq,
      id,
    );
    if (Number(earlier?.id ?? 0) !== Number(row.earlier))
      return [
        fault("inconsistent", "change", id, `changes of message ${seq} do not follow one another`),
      ];
    const next = sql("SELECT was FROM change WHERE message = ? AND id > ? ORDER BY id LIMIT 1");
    const later = next.get(seq, id);
    if (later !== undefined)
      return later.was === null || isSame(row.hash, linkOf(before, bytesOf(later.was)))
        ? []
        : [fault("changed", "change", id, `change ${id} of message ${seq} is not what it was`)];
    const message = sql("SELECT * FROM message WHERE seq = ?").get(seq);
    if (message === undefined)
      return [
        fault("inconsistent", "change", id, `change ${id} is of message ${seq}, which is gone`),
      ];
    return isSame(row.hash, linkOf(before, digestOf(boundRow(sql, message)))) ? [] : [changed(seq)];
  };
  const closing = (sql: Sql): Fault[] =>
    sql("SELECT id, changed FROM conversation")
      .all()
      .flatMap(({ id, changed: last }) => {
        const head = heads.get(Number(id));
        if (head === undefined ? last === null : isSame(last, head)) return [];
        return [
          fault(
            ...(["missing", "change", Number(id)] as const),
            `changes of messages of conversation ${id} are gone or exchanged`,
          ),
        ];
      });
  return {
    name: "changes",
    faults,
    get read() {
      return read;
    },
    readOn(store, isOver) {
      for (;;) {
        const isDone = orUnreadable(faults, "change", "changes of messages", () =>
          store.read((sql) => {
            const rows = sql("SELECT * FROM change WHERE id > ? ORDER BY id LIMIT ?").all(
              ...[upTo, ROWS_AT_ONCE],
            );
            const found = rows.flatMap((row) => look(sql, row));
            const isEnd = rows.length < ROWS_AT_ONCE;
            faults.push(...found, ...(isEnd ? closing(sql) : []));
            upTo = Number(rows.at(-1)?.id ?? upTo);
            read += rows.length;
            return isEnd;
          }),
        );
        if (isDone || isOver()) return isDone;
      }
    },
  };
}
