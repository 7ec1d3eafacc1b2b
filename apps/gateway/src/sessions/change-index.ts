// Finds and changes which transcript a session key stands for, one process at a time.
import { randomUUID } from "node:crypto";
import { underLock } from "../locks/wait-for-lock.ts";
import { completeIndex, readIndex, type SessionIndex, writeIndex } from "./index-file.ts";
import type { SessionName } from "./keys.ts";
import { requireNewName } from "./name-errors.ts";
import { agentPaths } from "./paths.ts";

/** Undefined when the key has none. */
export async function findSessionId(
  home: string,
  { agentId, key }: SessionName,
): Promise<string | undefined> {
  const stored = await readIndex(home, agentId);
  const known = stored?.[key]?.sessionId;
  if (known !== undefined) return known;
  const completed = await completeIndex(home, agentId, stored ?? {});
  if (Object.keys(completed).length > Object.keys(stored ?? {}).length)
    await writeIndex(home, agentId, completed);
  return completed[key]?.sessionId;
}

/** The id of the transcript that the key gets, or has by now. Throws SESSION_NAME_INVALID. */
export async function registerSession(home: string, name: SessionName): Promise<string> {
  const { agentId, key } = name;
  const { after } = await changeIndex(home, agentId, async (index) => {
    // Another process may have named the session while we waited.
    if (index[key] !== undefined) return index;
    requireNewName(name);
    return { ...index, [key]: { sessionId: randomUUID() } };
  });
  return after[key]!.sessionId;
}

/**
 * One change of an agent's index at a time, across processes; nothing is written when `change`
 * gives back the index itself.
 */
export async function changeIndex(
  home: string,
  agentId: string,
  change: (index: SessionIndex) => Promise<SessionIndex>,
): Promise<{ before: SessionIndex; after: SessionIndex }> {
  const { index } = agentPaths(home, agentId);
  const what = `The list of sessions ${index}`;
  return underLock({ file: `${index}.lock`, what, code: "SESSION_LOCKED" }, async () => {
    const before = (await readIndex(home, agentId)) ?? {};
    const after = await change(before);
    if (after !== before) await writeIndex(home, agentId, after);
    return { before, after };
  });
}
