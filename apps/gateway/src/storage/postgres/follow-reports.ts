// Brings a gateway's own reports of a session up to what PostgreSQL has of them.
import type { TurnReport } from "@clew/engine-core";
import type { WholeReport } from "@clew/store-postgres";
import { findInNewest } from "../../reports/read-reports.ts";
import { openReportLog } from "../../reports/report-log.ts";

export interface FollowedReports {
  /** Reports behind that of a turn (null = the first one), oldest first. */
  later(afterTurn: string | null, limit: number): Promise<readonly WholeReport[]>;
  /** Of one session's reports. */
  maxBytes: number;
}

const REPORTS_AT_A_TIME = 50;

/** `folder` is an agent's reports folder among the copies. */
export async function followReports(
  folder: string,
  sessionId: string,
  { later, maxBytes }: FollowedReports,
): Promise<void> {
  const newest = await findInNewest(folder, sessionId, (reports) => reports.at(-1));
  let last = newest?.report.turnId ?? null;
  const log = openReportLog(folder, sessionId, { maxBytes });
  try {
    for (;;) {
      const reports = await later(last, REPORTS_AT_A_TIME);
      for (const { report, parts } of reports) {
        await log.append(report as TurnReport, parts);
        last = (report as TurnReport).turnId;
      }
      if (reports.length < REPORTS_AT_A_TIME) return;
    }
  } finally {
    await log.close();
  }
}
