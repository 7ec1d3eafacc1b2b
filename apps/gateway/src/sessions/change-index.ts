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

interface Changed {
  before: SessionIndex;
  after: SessionIndex;
}

interface AskedChange {
  change: (index: SessionIndex) => Promise<SessionIndex>;
  made: PromiseWithResolvers<Changed>;
}

/** Changes that wait, by the file of the index; a list stays while somebody works on it. */
const asked = new Map<string, AskedChange[]>();

/**
 * One change of an agent's index at a time, across processes; nothing is written when `change`
 * gives back the index itself. What is asked while others have it is made with one lock and one
 * write.
 */
export function changeIndex(
  home: string,
  agentId: string,
  change: AskedChange["change"],
): Promise<Changed> {
  const { index } = agentPaths(home, agentId);
  const made = Promise.withResolvers<Changed>();
  const standing = asked.get(index);
  if (standing !== undefined) standing.push({ change, made });
  else {
    asked.set(index, [{ change, made }]);
    void makeAll(home, agentId, index);
  }
  return made.promise;
}

async function makeAll(home: string, agentId: string, file: string): Promise<void> {
  const waiting = asked.get(file)!;
  const place = { file: `${file}.lock`, what: `The list of sessions ${file}` };
  while (waiting.length > 0) {
    let taken: AskedChange[] = [];
    await underLock({ ...place, code: "SESSION_LOCKED" }, async () => {
      taken = waiting.splice(0);
      await makeTogether(home, agentId, taken);
    }).catch((error: unknown) => {
      for (const { made } of taken.length > 0 ? taken : waiting.splice(0)) made.reject(error);
    });
  }
  asked.delete(file);
}

/** Whose own change fails leaves the index as it was before it. */
async function makeTogether(
  home: string,
  agentId: string,
  changes: readonly AskedChange[],
): Promise<void> {
  const found = (await readIndex(home, agentId)) ?? {};
  const done: (() => void)[] = [];
  let index = found;
  for (const { change, made } of changes) {
    const before = index;
    try {
      const after = await change(before);
      index = after;
      done.push(() => made.resolve({ before, after }));
    } catch (error) {
      made.reject(error);
    }
  }
  if (index !== found) await writeIndex(home, agentId, index);
  for (const tell of done) tell();
}
