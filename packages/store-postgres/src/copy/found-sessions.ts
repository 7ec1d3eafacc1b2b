// Reads what a database has of sessions, and what homes have copied.
import {
  removeSession,
  type StoredSummary,
  SUMMARY,
  type SummaryRow,
  summaryOf,
} from "../catalogue.ts";
import type { Database, Statement } from "../database.ts";
import type { CopyRecord } from "./put-session.ts";

/** A session as the database has it, also one in which nothing was said. */
export interface CopySummary extends StoredSummary {
  /** ms since the epoch. */
  createdAt: number;
  /** Changes of what engines acknowledged. */
  line: number;
}

/** What is known of an earlier copy. */
export interface FoundRecord extends CopyRecord {
  /** Names the home. */
  home: string;
  /** Of the session in the database. */
  step: number;
  /** Of what engines acknowledged. */
  line: number;
}

type CopyRow = SummaryRow & { created_at: number; line: number };

const COLUMNS = `
  ${SUMMARY}, s.head_line::float8 as line,
  (extract(epoch from s.created_at) * 1000)::float8 as created_at`;

const SESSIONS: Statement<CopyRow> = {
  name: "copy-sessions",
  text: `
    select ${COLUMNS} from session s where s.key not like 'begun:%' order by s.agent_id, s.key`,
};

const SESSION: Statement<CopyRow> = {
  name: "copy-session",
  text: `select ${COLUMNS} from session s where s.agent_id = $1 and s.key = $2`,
};

const RECORDS: Statement<RecordRow> = {
  name: "copy-records",
  text: `
    select home, agent_id, session_id, print, step::float8, line::float8, key, label, engine_rows
    from copied order by at`,
};

interface RecordRow {
  home: string;
  agent_id: string;
  session_id: string;
  print: string;
  step: number;
  line: number;
  key: string;
  label: string | null;
  engine_rows: string | null;
}

export const foundSessions = async (database: Database): Promise<CopySummary[]> =>
  (await database.ask(SESSIONS, [])).map(copySummaryOf);

export const foundRecords = async (database: Database): Promise<FoundRecord[]> =>
  (await database.ask(RECORDS, [])).map(recordOf);

/** Undefined: there is none of this name. */
export async function foundSession(
  database: Database,
  { agentId, key }: { agentId: string; key: string },
): Promise<CopySummary | undefined> {
  const [row] = await database.ask(SESSION, [agentId, key]);
  return row && copySummaryOf(row);
}

/** Takes away a name under which nothing was said. False: something was, or it is open. */
export async function removeEmptySession(
  database: Database,
  { agentId, key }: { agentId: string; key: string },
): Promise<boolean> {
  const found = await foundSession(database, { agentId, key });
  if (found === undefined || found.head > 0 || found.header !== null) return false;
  return (await removeSession(database, { agentId, key })) !== null;
}

const copySummaryOf = (row: CopyRow): CopySummary => ({
  ...{ ...summaryOf(row), createdAt: row.created_at, line: row.line },
});

const recordOf = (row: RecordRow): FoundRecord => ({
  ...{ home: row.home, agentId: row.agent_id, sessionId: row.session_id, print: row.print },
  ...{ step: row.step, line: row.line, key: row.key, label: row.label, rows: row.engine_rows },
});
