// Audits changes of messages, of which the newest says what its message says now.
import { boundRow, bytesOf, digestOf, isSame, linkOf, NO_LINK } from "../chain.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, changed, type Fault, fault } from "./fault.ts";
import { walkPart } from "./walk.ts";

type Row = Record<string, unknown>;

/** Changes of messages, of which the newest of each message says what its row has to say. */
export const changePart = (): AuditPart =>
  walkPart({
    ...{ name: "changes", table: "change", what: "change", things: "changes of messages" },
    look() {
      const heads = new Map<number, Uint8Array>();
      return {
        row(sql, row) {
          const conversation = Number(row.conversation);
          const before = heads.get(conversation) ?? NO_LINK;
          heads.set(conversation, bytesOf(row.hash));
          return changeFaults(sql, row, before);
        },
        end: (sql) => endFaults(sql, heads),
      };
    },
  });

/** `before`: the hash of the change before it in its conversation. */
function changeFaults(sql: Sql, row: Row, before: Uint8Array): Fault[] {
  const [id, seq] = [Number(row.id), Number(row.message)];
  const earlier = sql("SELECT max(id) AS id FROM change WHERE message = ? AND id < ?").get(seq, id);
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
}

/** Each conversation ends with its newest change. */
const endFaults = (sql: Sql, heads: ReadonlyMap<number, Uint8Array>): Fault[] =>
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
