// Finds turns that have no report.
import { activeBranch, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { paidByKey } from "../costs/paid-since.ts";
import { describeMissing } from "../inspect/describe-missing.ts";
import { planMissing, turnsByPrompt } from "../inspect/missing-turns.ts";
import { keptAfter } from "../reports/report-files.ts";
import { callsByPrompt, planUntold, type UntoldTurn } from "../reports/untold-turns.ts";
import { shortName } from "../sessions/keys.ts";
import type { SessionReports } from "./check-reports.ts";
import type { Finding } from "./finding.ts";

/** A session of which turns may be missing: what its calls were paid for says which. */
export interface Suspect {
  sessionId: string;
  reports: SessionReports;
  untold: readonly UntoldTurn[];
}

/** Pure. Undefined: none is missing. `entries`: those of every branch. */
export function planSuspect(
  sessionId: string,
  entries: readonly TranscriptEntry[],
  reports: SessionReports,
): Suspect | undefined {
  const untold = planUntold(activeBranch(entries), callsByPrompt(reports.turns));
  return untold.length + reports.gone.length === 0 ? undefined : { sessionId, reports, untold };
}

/** `key`: of the session by its id. `folder`: of the reports of the agent. */
export async function checkMissing(
  suspects: readonly (Suspect & { key: string })[],
  { home, folder }: { home: string; folder: string },
): Promise<Finding[]> {
  const since = suspects.flatMap(({ key, untold: [oldest] }) =>
    oldest === undefined ? [] : [[key, oldest.at] as const],
  );
  const paid = await paidByKey(home, new Map(since));
  const findings: Finding[] = [];
  for (const { sessionId, key, untold, reports } of suspects) {
    const { turns: letGo } = await keptAfter(folder, sessionId);
    const turnOf = turnsByPrompt(reports.turns);
    const missing = planMissing({ ...reports, letGo, untold, turnOf, paid: paid.get(key) ?? [] });
    if (missing.length === 0) continue;
    findings.push({
      ...{ level: "warning", code: "session-reports-missing" },
      subject: `reports of session "${shortName(key)}"`,
      text: `${describeMissing(missing).join("; ")}; "clew inspect" lists no calls of these turns, and the session itself is not concerned`,
    });
  }
  return findings;
}
