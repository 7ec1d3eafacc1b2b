// Takes a session away with the files that are its own.
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { acquireLock, type LockOutcome } from "../locks/lock.ts";
import { changeIndex, findSessionId } from "./change-index.ts";
import type { SessionName } from "./keys.ts";
import {
  agentPaths,
  deliveriesFile,
  editorFile,
  fileOf,
  olderReportsOf,
  transcriptFile,
  waitingFile,
} from "./paths.ts";

/** Nothing happens where there is none. Throws SESSION_LOCKED while somebody has it open. */
export async function removeSession(home: string, name: SessionName): Promise<void> {
  const { agentId, key } = name;
  const sessionId = await findSessionId(home, name);
  if (sessionId === undefined) return;
  const file = transcriptFile(home, agentId, sessionId);
  const outcome = await acquireLock(`${file}.lock`);
  if (!outcome.held) throw new ContextEngineError("SESSION_LOCKED", lockedMessage(key, outcome));
  try {
    // The transcript goes before the key: a transcript without a key would be given one again.
    await removeFiles(file);
    await rm(deliveriesFile(home, agentId, sessionId), { force: true });
    await rm(waitingFile(home, agentId, key), { force: true });
    await rm(editorFile(home, agentId, key), { force: true });
    const { reports } = agentPaths(home, agentId);
    for (const id of [sessionId, olderReportsOf(sessionId)])
      await rm(fileOf(reports, id), { force: true });
    await changeIndex(home, agentId, async (index) => {
      if (index[key]?.sessionId !== sessionId) return index;
      const { [key]: _gone, ...others } = index;
      return others;
    });
  } finally {
    await outcome.lock.release();
  }
}

/** No run need be under way: whoever has talked in a session keeps it for minutes. */
function lockedMessage(key: string, { owner, file }: Extract<LockOutcome, { held: false }>) {
  if (owner === null)
    return `Session ${key} is locked by ${file}, which cannot be read, and stays; delete that file if no other Clew is running.`;
  return `Session ${key} stays: process ${owner.pid} on ${owner.host} has had it open since ${owner.since}, and keeps it for five minutes after its last reply; leave the chat there, or stop that process, then try again.`;
}

/** With what is kept beside it, but for its lock. */
export async function removeFiles(file: string): Promise<void> {
  const name = basename(file);
  const beside = (await readdir(dirname(file)).catch(() => [])).filter(
    (each) => each.startsWith(`${name}.`) && !each.startsWith(`${name}.lock`),
  );
  for (const each of [name, ...beside]) await rm(join(dirname(file), each), { force: true });
}
