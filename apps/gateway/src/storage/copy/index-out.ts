// Brings a home's list of sessions up to what was copied into it, and what was deleted.
import { hash } from "node:crypto";
import { lstat, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { CopySummary, FoundFile, FoundRecord } from "@clew/store-postgres";
import { underLock } from "../../locks/wait-for-lock.ts";
import { fromJson } from "../../own-json.ts";
import {
  completeIndex,
  readIndex,
  type SessionIndex,
  writeIndex,
} from "../../sessions/index-file.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import { agentPaths } from "../../sessions/paths.ts";
import { removeSession } from "../../sessions/remove-session.ts";
import { printInHome } from "./engine-rows-out.ts";
import { isIndex } from "./files-out.ts";
import { namesIn } from "./names-in.ts";
import { placeBytes } from "./place-bytes.ts";
import { planIndex } from "./plan-index.ts";
import type { CopyOut, CopyResult } from "./result.ts";
import { keptWaiting } from "./waiting.ts";
import { bytesIn, type HomeFile, shaOf, walkAgent } from "./walk-home.ts";

export const NAME_TAKEN = "its name is that of another session in files";

/** Those whose files are as they were when they were copied. */
export async function removeDeleted(
  { home, homeId, isCheck }: CopyOut,
  agentId: string,
  { sessions, records }: { sessions: readonly CopySummary[]; records: readonly FoundRecord[] },
  result: CopyResult,
): Promise<void> {
  const there = new Set(sessions.map((each) => `${each.agentId}\n${each.sessionId}`));
  const gone = records.filter(
    (each) =>
      each.home === homeId &&
      each.agentId === agentId &&
      !there.has(`${agentId}\n${each.sessionId}`),
  );
  if (gone.length === 0) return;
  const agent = await walkAgent(home, agentId);
  for (const { sessionId, print } of gone) {
    const found = agent.sessions.get(sessionId);
    if (found?.transcript === undefined) continue;
    const index = await completeIndex(home, agentId, agent.index ?? {}, [sessionId]);
    const key = Object.keys(index).find((each) => index[each]!.sessionId === sessionId);
    const name = key === undefined ? undefined : parseSessionName(key);
    if (key === undefined || name === undefined) continue;
    if ((await printOf(found)) !== print)
      result.left.push({
        what: key,
        why: "it was deleted in the database, and went on in files; delete it there, too, or keep it",
      });
    else {
      result.deleted.push(key);
      if (!isCheck) await removeSession(home, { ...name, key });
    }
  }
}

const printOf = async (found: {
  transcript: HomeFile | undefined;
  files: readonly HomeFile[];
}): Promise<string> => {
  const all = found.transcript === undefined ? found.files : [found.transcript, ...found.files];
  const stamps: [string, string][] = [];
  for (const file of all) stamps.push([file.place, await shaOf(bytesIn(file))]);
  return hash("sha256", JSON.stringify(stamps));
};

export async function copyIndex(
  { home, homeId, copy, isCheck }: CopyOut,
  agentId: string,
  {
    sessions,
    loose,
    records,
    staging,
  }: {
    sessions: readonly CopySummary[];
    loose: readonly FoundFile[];
    records: readonly FoundRecord[];
    staging: string;
  },
  result: CopyResult,
): Promise<void> {
  const { index: file } = agentPaths(home, agentId);
  const all = new Set((await copy.sessions()).map((each) => `${each.agentId}\n${each.sessionId}`));
  const deleted = new Set(
    records
      .filter((each) => each.agentId === agentId && !all.has(`${agentId}\n${each.sessionId}`))
      .map(({ sessionId }) => sessionId),
  );
  const kept = loose.filter(({ place }) => isIndex(place));
  const base = kept.find((each) => each.home === homeId) ?? kept[0];
  const what = `The list of sessions ${file}`;
  const work = async () => {
    const isThere = (await lstat(file).catch(() => undefined)) !== undefined;
    const before = isThere ? undefined : base;
    const text = before === undefined ? undefined : (await keptWaiting(copy, before)).text;
    const index = (isThere ? await readIndex(home, agentId) : parsed(text)) ?? {};
    const completed = await completeIndex(home, agentId, index);
    const named = sessions.filter(
      ({ header, head, label }) => head > 0 || header !== null || label !== null,
    );
    const plan = planIndex({ index, completed, sessions: named, deleted });
    for (const key of plan.taken) result.left.push({ what: key, why: NAME_TAKEN });
    if (isThere ? !plan.isChanged : !plan.isChanged && text === undefined) return;
    result.files += 1;
    if (isCheck) return;
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    if (plan.isChanged) return writeIndex(home, agentId, plan.index);
    await placeBytes({
      ...{ file, staging, isCheck: false },
      wanted: [Buffer.from(text!)],
    });
  };
  if (isCheck) await work();
  else if (sessions.length > 0 || base !== undefined || deleted.size > 0)
    await underLock({ file: `${file}.lock`, what, code: "SESSION_LOCKED" }, work);
}

function parsed(text: string | undefined): SessionIndex | undefined {
  try {
    return text === undefined ? undefined : (fromJson(text) as SessionIndex);
  } catch {
    return undefined;
  }
}

/** So that what changes in files later is known as such. */
export async function noteCopies(
  { home, homeId, copy, engines }: CopyOut,
  agentId: string,
  sessions: readonly CopySummary[],
): Promise<void> {
  const agent = await walkAgent(home, agentId);
  const named = await namesIn(home, agent);
  for (const session of sessions) {
    const { sessionId } = session;
    const found = agent.sessions.get(sessionId);
    if (found?.transcript === undefined) continue;
    const { key, label } = named.get(sessionId) ?? session;
    const print = await printOf(found);
    const rows = await printInHome(engines, { agentId, sessionId, key });
    await copy.note(homeId, { agentId, sessionId, print, key, label, rows }, session);
  }
}
