// Copies what a database holds of sessions into a home, one session at a time.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { CopySummary } from "@clew/store-postgres";
import { completeIndex, readIndex } from "../../sessions/index-file.ts";
import { isArchivedKey, isSafeId, shortName } from "../../sessions/keys.ts";
import { counted } from "../../text/number.ts";
import { costsThatStay } from "./costs.ts";
import { otherEngines } from "./engine-rows-out.ts";
import { copyLoose } from "./files-out.ts";
import { copyIndex, NAME_TAKEN, noteCopies, removeDeleted } from "./index-out.ts";
import { copyJobsOut } from "./jobs-out.ts";
import { isLostObject } from "./lost-object.ts";
import { planTakenNames } from "./plan-index.ts";
import { copyParts } from "./reports-out.ts";
import { type CopyOut, type CopyResult, nothingYet } from "./result.ts";
import { copySession, type OutRequest } from "./session-out.ts";
import { copyWaiting } from "./waiting-out.ts";

/** Throws what the file system and the database say; what was copied until then is whole. */
export async function copyOut(request: CopyOut): Promise<CopyResult> {
  const { home, copy, signal, isCheck } = request;
  const result = nothingYet();
  const sessions = (await copy.sessions()).filter((each) => isUsable(each, result));
  const [files, records] = [await copy.files(), await copy.records()];
  const agents = [...new Set([...sessions, ...files, ...records].map(({ agentId }) => agentId))];
  const stays = new Set<string>();
  const apart: string[] = [];
  let done = 0;
  for (const agentId of agents.filter(isSafeId).sort()) {
    const staging = join(home, "agents", agentId, ".copying");
    // What a session said before it was begun anew is brought with it.
    const own = sessions
      .filter((each) => each.agentId === agentId)
      .sort((a, b) => Number(isArchivedKey(a.key)) - Number(isArchivedKey(b.key)));
    const there: CopySummary[] = [];
    const isTaken = await namesTaken(home, agentId, [...own, ...records]);
    try {
      for (const session of own) {
        signal.throwIfAborted();
        request.says(`${done++} of ${counted(sessions.length, "session")}, ${session.key}`);
        if (session.head === 0 && session.header === null) there.push(session);
        else if (isTaken(session)) result.left.push({ what: session.key, why: NAME_TAKEN });
        else if (
          await copyUnlessLost({ ...request, records, stays, apart }, session, staging, result)
        )
          there.push(session);
      }
      await copyParts(request, agentId, result);
      await removeDeleted(request, agentId, { sessions, records }, result);
      const loose = files.filter((file) => file.agentId === agentId);
      await copyLoose(request, staging, loose, result);
      await copyWaiting(request, agentId, loose, result);
      await copyIndex(request, agentId, { sessions: there, loose, records, staging }, result);
      if (!isCheck) await noteCopies(request, agentId, there);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }
  await copyJobsOut(request, result);
  result.left.push(...request.engines.problems());
  result.stays.push(...(await enginesThatStay(request, apart)), ...(await costsThatStay(request)));
  if (stays.size > 0)
    result.stays.push({
      what: "What engines acknowledged",
      why: "it is of the home that sessions came from; engines of this one are told all of a session when it is opened",
    });
  return result;
}

/** A session whose large bodies are gone is left, and keeps no other from being copied. */
async function copyUnlessLost(
  request: OutRequest,
  session: CopySummary,
  staging: string,
  result: CopyResult,
): Promise<boolean> {
  try {
    return await copySession(request, session, staging, result);
  } catch (error) {
    if (!isLostObject(error)) throw error;
    result.left.push({ what: session.key, why: error.message });
    return false;
  }
}

/** Asked before anything of a session is written: nothing of it would be found there. */
async function namesTaken(
  home: string,
  agentId: string,
  copied: readonly { agentId: string; sessionId: string }[],
): Promise<(session: CopySummary) => boolean> {
  const ids = copied.flatMap((each) => (each.agentId === agentId ? [each.sessionId] : []));
  const index = await completeIndex(home, agentId, (await readIndex(home, agentId)) ?? {});
  return planTakenNames(index, new Set(ids));
}

/** What engines keep in the database, and have in no file afterwards. */
async function enginesThatStay(
  { copy }: CopyOut,
  apart: readonly string[],
): Promise<CopyResult["stays"]> {
  const stays = (await otherEngines(copy)).map((engine) => ({
    what: `What the engine "${engine}" keeps beside sessions`,
    why: "the database keeps it, as nobody knows how that engine keeps it in files; it is told all of a session when that is opened",
  }));
  if (apart.length > 0)
    stays.push({
      what: `Records and summaries of ${apart.map(shortName).join(", ")}`,
      why: "other sessions of the home have their numbers; the engine is told these sessions anew when they are opened",
    });
  return stays;
}

/** What comes from elsewhere must lead nowhere else. */
function isUsable({ agentId, sessionId, key }: CopySummary, result: CopyResult): boolean {
  if (isSafeId(agentId) && isSafeId(sessionId)) return true;
  result.left.push({ what: key, why: "its id is no name of a file" });
  return false;
}
