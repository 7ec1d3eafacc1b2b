// Audits rows that no link binds against their seals.
import { isCarriedBound } from "../forgetting.ts";
import { FLAGS } from "../rows.ts";
import { isSealed, SEALED, type SealedTable } from "../seals.ts";
import type { Sql } from "../sql.ts";
import {
  type AuditPart,
  type Fault,
  fault,
  orUnreadable,
  ROWS_AT_ONCE,
  readable,
} from "./fault.ts";

const WHAT: Readonly<Record<SealedTable, Fault["what"]>> = {
  ...{ transcript: "session", cut: "record", cursor: "cursor", advancement: "turn" },
  forgetting: "forgetting",
};

/** What a fault calls it. */
const NAMES: Readonly<Record<SealedTable, (row: Record<string, unknown>) => string>> = {
  transcript: ({ id }) => `the name of session ${id}`,
  cut: ({ id, conversation }) => `record ${id} of conversation ${conversation}`,
  cursor: ({ transcript }) => `how far the file of session ${transcript} was read`,
  advancement: ({ conversation }) =>
    `a turn of conversation ${conversation} that is marked as told`,
  forgetting: () => "what forgotten messages are known by",
};

/** A table after the other, a few rows at a time. */
export function sealPart(): AuditPart {
  const faults: Fault[] = [];
  const left = Object.keys(SEALED) as SealedTable[];
  let [at, read] = [0, 0];
  return {
    name: "sessions and records",
    faults,
    get read() {
      return read;
    },
    readOn(store, isOver) {
      for (;;) {
        const [table] = left;
        if (table === undefined) return true;
        const isEnd = orUnreadable(faults, WHAT[table], NAMES_OF_ALL[table], () =>
          store.read((sql) => {
            const rows = sql(`SELECT * FROM ${table} ORDER BY 1 LIMIT ? OFFSET ?`).all(
              ...[ROWS_AT_ONCE, at],
            );
            faults.push(...rows.flatMap((row) => rowFaults(table, row)));
            at += rows.length;
            read += rows.length;
            return rows.length < ROWS_AT_ONCE;
          }),
        );
        if (isEnd) {
          const ofAll = FAULTS_OF_ALL[table];
          if (ofAll !== undefined) faults.push(...(readable(() => store.read(ofAll)) ?? []));
          left.shift();
          at = 0;
        }
        if (isOver()) return left.length === 0;
      }
    },
  };
}

const NAMES_OF_ALL: Readonly<Record<SealedTable, string>> = {
  ...{ transcript: "names of sessions", cut: "records", cursor: "positions in session files" },
  ...{ advancement: "marks of turns", forgetting: "hashes of what was forgotten" },
};

function rowFaults(table: SealedTable, row: Record<string, unknown>): Fault[] {
  if (isSealed(table, row)) return [];
  const number = table === "forgetting" ? null : Number(row[SEALED[table].key[0]]);
  return [fault("changed", WHAT[table], number, `${NAMES[table](row)} is not what was stored`)];
}

/** The only row is there; what it binds of other databases is what was carried over. */
function forgettingFaults(sql: Sql): Fault[] {
  if (sql("SELECT 1 FROM forgetting").get() === undefined)
    return [fault("missing", "forgetting", null, "what forgotten messages are known by is gone")];
  const untrue = sql(
    `SELECT seq FROM message JOIN forgotten ON message = seq WHERE flags & ${FLAGS.forgotten} = 0`,
  )
    .all()
    .map(({ seq }) =>
      fault(
        ...(["added", "message", Number(seq)] as const),
        `message ${seq} is said to be forgotten, and is there`,
      ),
    );
  return isCarriedBound(sql)
    ? untrue
    : [
        ...untrue,
        fault(
          ...(["changed", "forgetting", null] as const),
          "what is known of messages that were forgotten in other databases is not what was stored",
        ),
      ];
}

/** Names of sessions are numbered one after the other, and stay, forgotten or not. */
function namelessFaults(sql: Sql): Fault[] {
  const nameless = sql(`
    SELECT id FROM conversation WHERE messages > 0
      AND NOT EXISTS (SELECT 1 FROM transcript WHERE transcript.conversation = conversation.id)
  `).all();
  const { gone } = sql("SELECT coalesce(max(id), 0) - count(*) AS gone FROM transcript").get()!;
  return [
    ...nameless.map(({ id }) =>
      fault("missing", "session", Number(id), `the session of conversation ${id} is gone`),
    ),
    ...(Number(gone) === 0
      ? []
      : [fault("missing", "session", null, `names of sessions are gone: ${gone}`)]),
  ];
}

/** What no row of a table tells by itself. */
const FAULTS_OF_ALL: Partial<Record<SealedTable, (sql: Sql) => Fault[]>> = {
  ...{ transcript: namelessFaults, forgetting: forgettingFaults },
};
