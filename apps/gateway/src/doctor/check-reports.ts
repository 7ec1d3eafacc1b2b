// Finds turn reports that nobody can read any more.
import { readdir } from "node:fs/promises";
import { pause } from "@clew/plugin-sdk/host";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { counted } from "../text/number.ts";
import type { Finding } from "./finding.ts";

const REPORT_FILE = /^(.+?)(?:\.older)?\.jsonl$/;

/** `folder` is the reports folder of the agent. */
export async function checkReports(
  folder: string,
  agentId: string,
  signal?: AbortSignal,
): Promise<Finding[]> {
  const names = await readdir(folder).catch(() => []);
  const ids = new Set(names.flatMap((name) => REPORT_FILE.exec(name)?.[1] ?? []));
  const findings: Finding[] = [];
  for (const sessionId of [...ids].sort()) {
    await pause(signal);
    const turns: number[] = [];
    const isRead = await readReports(...([folder, sessionId, REPORTS_START] as const), () => {}, {
      onUnreadable: (turn) => turns.push(turn),
      atOnce: true,
    }).then(
      () => true,
      () => false,
    );
    if (isRead && turns.length === 0) continue;
    const what = isRead
      ? `${counted(turns.length, "turn report")} cannot be read (${turns.slice(0, 5).join(", ")}${turns.length > 5 ? ", …" : ""})`
      : "its turn reports cannot be read";
    findings.push({
      ...{ level: "warning", code: "session-reports-damaged" },
      subject: `reports of session ${sessionId} of ${agentId}`,
      text: `${what}: "clew inspect" lists no calls of these turns, and says of which others it cannot tell what was sent; the session itself is not concerned, and the reports of its next turns are whole again`,
    });
  }
  return findings;
}
