// Finds turn reports that nobody can read any more.
import { readdir } from "node:fs/promises";
import { pause } from "@clew/plugin-sdk/host";
import type { ToldTurns } from "../inspect/missing-turns.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { counted } from "../text/number.ts";
import type { Finding } from "./finding.ts";

const REPORT_FILE = /^(.+?)(?:\.older)?\.jsonl$/;

/** What one session's reports tell of. */
export type SessionReports = Omit<ToldTurns, "letGo">;

export const NO_REPORTS: SessionReports = { turns: [], gone: [], unreadable: [], newest: 0 };

/** By session id, in the order of these; null: they cannot be read. `folder` is an agent's. */
export async function readAllReports(
  folder: string,
  signal?: AbortSignal,
): Promise<Map<string, SessionReports | null>> {
  const names = await readdir(folder).catch(() => []);
  const ids = new Set(names.flatMap((name) => REPORT_FILE.exec(name)?.[1] ?? []));
  const found = new Map<string, SessionReports | null>();
  for (const sessionId of [...ids].sort()) {
    await pause(signal);
    found.set(sessionId, await readAll(folder, sessionId).catch(() => null));
  }
  return found;
}

async function readAll(folder: string, sessionId: string): Promise<SessionReports> {
  const turns: SessionReports["turns"][number][] = [];
  const [gone, unreadable]: [number[], number[]] = [[], []];
  const end = await readReports(
    ...([folder, sessionId, REPORTS_START] as const),
    ({ turn, report: { promptEntryId, modelCalls } }) => {
      turns.push({ promptEntryId, turn, calls: modelCalls.length });
    },
    { onUnreadable: (turn, isGone) => (isGone ? gone : unreadable).push(turn), atOnce: true },
  );
  return { turns, gone, unreadable, newest: end.turns };
}

/** Pure. */
export function describeReports(
  all: ReadonlyMap<string, SessionReports | null>,
  agentId: string,
): Finding[] {
  const findings: Finding[] = [];
  for (const [sessionId, reports] of all) {
    const turns = reports?.unreadable ?? [];
    if (reports !== null && turns.length === 0) continue;
    const what =
      reports === null
        ? "its turn reports cannot be read"
        : `${counted(turns.length, "turn report")} cannot be read (${turns.slice(0, 5).join(", ")}${turns.length > 5 ? ", …" : ""})`;
    findings.push({
      ...{ level: "warning", code: "session-reports-damaged" },
      subject: `reports of session ${sessionId} of ${agentId}`,
      text: `${what}: "clew inspect" lists no calls of these turns, and says of which others it cannot tell what was sent; the session itself is not concerned, and the reports of its next turns are whole again`,
    });
  }
  return findings;
}
