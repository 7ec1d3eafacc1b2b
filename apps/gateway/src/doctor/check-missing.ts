// Finds turns that have no report.
import { stat } from "node:fs/promises";
import { paidSince } from "../costs/paid-since.ts";
import { describeMissing } from "../inspect/describe-missing.ts";
import { findMissing } from "../inspect/missing-turns.ts";
import { isInForce, readOwner } from "../locks/lock.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { keptAfter } from "../reports/report-files.ts";
import { shortName } from "../sessions/keys.ts";
import { readBranch } from "../sessions/read-transcript.ts";
import type { Finding } from "./finding.ts";

interface CheckedSession {
  home: string;
  key: string;
  sessionId: string;
  /** The transcript. */
  file: string;
  /** The folder of reports of its agent. */
  reports: string;
}

/** Of one that is open nothing is said: its newest turn may be running. */
export async function checkMissing(session: CheckedSession): Promise<Finding[]> {
  const turns = await missingIn(session).catch(() => []);
  if (turns.length === 0) return [];
  const text = `${describeMissing(turns).join("; ")}; "clew inspect" lists no calls of these turns, and the session itself is not concerned`;
  const subject = `reports of session "${shortName(session.key)}"`;
  return [{ level: "warning", code: "session-reports-missing", subject, text }];
}

async function missingIn({ home, key, sessionId, file, reports }: CheckedSession) {
  const owner = await readOwner(`${file}.lock`).catch(() => null);
  if (owner !== null && (await isInForce(owner))) return [];
  if ((await stat(file)).size === 0) return [];
  const turns: { promptEntryId: string | null; turn: number; calls: number }[] = [];
  const gone: number[] = [];
  const unreadable: number[] = [];
  const { turns: letGo } = await keptAfter(reports, sessionId);
  const place = [reports, sessionId, REPORTS_START] as const;
  const end = await readReports(
    ...place,
    ({ turn, report: { promptEntryId, modelCalls } }) => {
      turns.push({ promptEntryId, turn, calls: modelCalls.length });
    },
    { onUnreadable: (turn, isGone) => (isGone ? gone : unreadable).push(turn), atOnce: true },
  );
  const { branch } = await readBranch(file);
  return findMissing(
    { branch, paidSince: (at) => paidSince(home, key, at) },
    { turns, gone, unreadable, letGo, newest: end.turns },
  );
}
