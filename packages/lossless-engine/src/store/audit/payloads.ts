// Audits long texts against their hashes, and what ties them to messages.
import { isSame } from "../chain.ts";
import { textKept } from "../kept-text.ts";
import { payloadHash } from "../payloads.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, type Fault, fault, orUnreadable, readable } from "./fault.ts";

type Row = Record<string, unknown>;

/** Long texts against their hashes, and each used by some message. */
export function payloadPart(): AuditPart {
  const faults: Fault[] = [];
  let [upTo, read] = [0, 0];
  const look = (sql: Sql, row: Row): Fault[] => {
    const id = Number(row.id);
    const isKept = isSame(row.hash, payloadHash(textOrNone(row.text)));
    const isUsed = sql("SELECT 1 FROM payload_use WHERE payload = ? LIMIT 1").get(id) !== undefined;
    return [
      ...(isKept
        ? []
        : [fault("changed", "payload", id, `long text ${id} is not what was stored`)]),
      ...(isUsed || row.isReplaced
        ? []
        : [fault("missing", "edge", id, `no message is tied to long text ${id}`)]),
    ];
  };
  return {
    name: "payloads",
    faults,
    get read() {
      return read;
    },
    readOn(store, isOver) {
      for (;;) {
        const isDone = orUnreadable(faults, "payload", "long texts", () =>
          store.read((sql) => {
            const mayBeOrphans = sql("SELECT 1 FROM change LIMIT 1").get() !== undefined;
            const rows = sql("SELECT * FROM payload WHERE id > ? ORDER BY id LIMIT 1").all(upTo);
            faults.push(...rows.flatMap((row) => look(sql, { ...row, isReplaced: mayBeOrphans })));
            upTo = Number(rows.at(-1)?.id ?? upTo);
            read += rows.length;
            return rows.length === 0;
          }),
        );
        if (isDone) {
          faults.push(...(readable(() => store.read(edgesToNothing)) ?? []));
          faults.push(...(readable(() => store.read(gravesOfNobody)) ?? []));
          return true;
        }
        if (isOver()) return false;
      }
    },
  };
}

/** One more would make a placeholder of what is told next. */
const gravesOfNobody = (sql: Sql): Fault[] =>
  sql("SELECT message FROM forgotten WHERE message NOT IN (SELECT seq FROM message)")
    .all()
    .map(({ message }) =>
      fault(
        ...(["added", "message", Number(message)] as const),
        `message ${message} is said to be forgotten, and was never stored`,
      ),
    );

const edgesToNothing = (sql: Sql): Fault[] =>
  sql(`
    SELECT DISTINCT payload_use.message AS seq FROM payload_use
      LEFT JOIN message ON message.seq = payload_use.message
      LEFT JOIN payload ON payload.id = payload_use.payload
    WHERE message.seq IS NULL OR payload.id IS NULL
  `)
    .all()
    .map(({ seq }) =>
      fault(
        "inconsistent",
        "edge",
        Number(seq),
        `message ${seq} is tied to a long text, and one of the two is gone`,
      ),
    );

/** Damaged ones say nothing that was ever stored. */
function textOrNone(kept: unknown): string {
  try {
    return textKept(kept);
  } catch {
    return "";
  }
}
