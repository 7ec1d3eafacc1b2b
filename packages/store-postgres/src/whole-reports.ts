// Reads reports with what they name.
import type { Database } from "./database.ts";
import { readLaterReports, readParts, stepOfReport } from "./read.ts";

/** A report as it was stored. */
export interface StoredReport {
  /** The step of the session with which its turn ended. */
  step: number;
  /** As it was given. */
  report: unknown;
}

/** A report with what it names. */
export interface WholeReport extends StoredReport {
  /** By their hashes. */
  parts: Readonly<Record<string, string>>;
}

/** Those behind the one of a turn (null = the first one), oldest first. */
export async function wholeReports(
  database: Database,
  session: { agentId: string; sessionId: string },
  { afterTurn, limit }: { afterTurn: string | null; limit: number },
): Promise<WholeReport[]> {
  const after = afterTurn === null ? 0 : await stepOfReport(database, session, afterTurn);
  const rows = await readLaterReports(database, session, after ?? 0, limit);
  const names = [...new Set(rows.flatMap(({ parts }) => parts))];
  const bodies = await readParts(database, session.agentId, names);
  return rows.map(({ step, body, parts }) => ({
    ...{ step, report: JSON.parse(body) },
    parts: Object.fromEntries(
      parts.flatMap((hash) => (bodies[hash] === undefined ? [] : [[hash, bodies[hash]]])),
    ),
  }));
}
