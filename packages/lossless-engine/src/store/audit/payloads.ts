// Audits long texts against their hashes, and what ties them to messages.
import { isSame } from "../chain.ts";
import { textKept } from "../kept-text.ts";
import { payloadHash } from "../payloads.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, type Fault, fault } from "./fault.ts";
import { walkPart } from "./walk.ts";

type Row = Record<string, unknown>;

/** Long texts against their hashes, and each used by some message. */
export const payloadPart = (): AuditPart =>
  walkPart({
    ...{ name: "payloads", table: "payload", what: "payload", things: "long texts" },
    atOnce: 1,
    look: () => ({ row: lookAt, end: (sql) => [...edgesToNothing(sql), ...gravesOfNobody(sql)] }),
  });

function lookAt(sql: Sql, row: Row): Fault[] {
  const id = Number(row.id);
  const isKept = isSame(row.hash, payloadHash(textOrNone(row.text)));
  const isUsed = sql("SELECT 1 FROM payload_use WHERE payload = ? LIMIT 1").get(id) !== undefined;
  // What a message said before it was told again may still be there.
  const mayBeOrphan = isUsed || sql("SELECT 1 FROM change LIMIT 1").get() !== undefined;
  return [
    ...(isKept ? [] : [fault("changed", "payload", id, `long text ${id} is not what was stored`)]),
    ...(mayBeOrphan ? [] : [fault("missing", "edge", id, `no message is tied to long text ${id}`)]),
  ];
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
