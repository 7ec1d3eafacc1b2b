// Removes what the gateway keeps of a session that is forgotten, besides its file.
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { unnameCosts } from "../costs/unname.ts";
import { fromJson } from "../own-json.ts";
import { removeReportFiles } from "../reports/report-files.ts";
import { removeUnnamedParts } from "../reports/unnamed-parts.ts";
import { changeIndex } from "../sessions/change-index.ts";
import { readIndex } from "../sessions/index-file.ts";
import { agentPaths, deliveriesFile } from "../sessions/paths.ts";
import { redactReports } from "./redact-reports.ts";
import { idsThatGo, type TranscriptChange } from "./transcripts.ts";

/**
 * What the reports of these sessions name of what goes: of a whole session all of them. Parts that
 * no other report names go, too.
 */
export async function forgetReports(
  home: string,
  agentId: string,
  changes: readonly TranscriptChange[],
): Promise<void> {
  const { reports } = agentPaths(home, agentId);
  for (const change of changes) {
    if (change.entries === null) await removeReportFiles(reports, change.sessionId);
    else await redactReports(reports, change.sessionId, await idsThatGo(home, change));
  }
  await removeUnnamedParts(reports);
}

/**
 * Of sessions that go whole: what is known of them as children and parents, what people allowed in
 * them, what waits in them, and last their names. `keys`: what else they are called.
 */
export async function removeNames(
  home: string,
  agentId: string,
  { sessionIds, keys }: { sessionIds: ReadonlySet<string>; keys: readonly string[] },
): Promise<void> {
  const index = (await readIndex(home, agentId)) ?? {};
  const isGone = ({ sessionId }: { sessionId: string }) => sessionIds.has(sessionId);
  const indexed = Object.entries(index).flatMap(([key, entry]) => (isGone(entry) ? [key] : []));
  const names = new Set([...keys, ...indexed, ...sessionIds]);
  const { subagents, approvals, waiting } = agentPaths(home, agentId);
  for (const folder of [subagents, approvals, waiting]) await removeNaming(folder, names);
  await unnameCosts(home, names);
  for (const id of sessionIds) await rm(deliveriesFile(home, agentId, id), { force: true });
  await changeIndex(home, agentId, async (known) =>
    Object.values(known).some(isGone)
      ? Object.fromEntries(Object.entries(known).filter(([, entry]) => !isGone(entry)))
      : known,
  );
}

/** Records in which one of the names is the whole of a text. */
async function removeNaming(folder: string, names: ReadonlySet<string>): Promise<void> {
  const isNaming = (value: unknown): boolean =>
    typeof value === "string"
      ? names.has(value)
      : typeof value === "object" && value !== null && Object.values(value).some(isNaming);
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.endsWith(".lock")) continue;
    const file = join(folder, name);
    if (isNaming(parsed(await readFile(file, "utf8")))) await rm(file, { force: true });
  }
}

function parsed(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}
