// Copies what a database holds of sessions into a home, one session at a time.
import { hash } from "node:crypto";
import { lstat, mkdir, readFile, rm, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CopySummary, FoundFile, FoundRecord, PostgresCopy } from "@clew/store-postgres";
import { acquireLock } from "../../locks/lock.ts";
import { underLock } from "../../locks/wait-for-lock.ts";
import { fromJson, toJson } from "../../own-json.ts";
import { formatDeliveryLine } from "../../sessions/delivery-lines.ts";
import { keepBeside } from "../../sessions/durable-file.ts";
import {
  completeIndex,
  readIndex,
  type SessionIndex,
  writeIndex,
} from "../../sessions/index-file.ts";
import { isSafeId, parseSessionName } from "../../sessions/keys.ts";
import { headerOf } from "../../sessions/open.ts";
import {
  agentPaths,
  deliveriesPlace,
  transcriptFile,
  transcriptPlace,
} from "../../sessions/paths.ts";
import { removeSession } from "../../sessions/remove-session.ts";
import { noteWrite } from "../../sessions/writes.ts";
import { counted } from "../../text/number.ts";
import { isReports } from "../postgres/kept-reports.ts";
import { engineOfHome } from "../postgres/ports.ts";
import { heldBy, isDeliveries, namesIn } from "./copy-in.ts";
import { type Placed, placeBytes } from "./place-bytes.ts";
import { planIndex } from "./plan-index.ts";
import { planPlace } from "./plan-place.ts";
import { copyParts, copyReports } from "./reports-out.ts";
import { type CopyOut, type CopyResult, nothingYet } from "./result.ts";
import { keptWaiting } from "./waiting.ts";
import { copyWaiting, isWaiting } from "./waiting-out.ts";
import { bytesIn, type HomeFile, shaOf, walkAgent } from "./walk-home.ts";

/** Throws what the file system and the database say; what was copied until then is whole. */
export async function copyOut(request: CopyOut): Promise<CopyResult> {
  const { home, copy, signal, isCheck } = request;
  const result = nothingYet();
  const sessions = (await copy.sessions()).filter((each) => isUsable(each, result));
  const [files, records] = [await copy.files(), await copy.records()];
  const agents = [...new Set([...sessions, ...files, ...records].map(({ agentId }) => agentId))];
  const stays = new Set<string>();
  let done = 0;
  for (const agentId of agents.filter(isSafeId).sort()) {
    const staging = join(home, "agents", agentId, ".copying");
    const own = sessions.filter((each) => each.agentId === agentId);
    const there: CopySummary[] = [];
    try {
      for (const session of own) {
        signal.throwIfAborted();
        request.says(`${done++} of ${counted(sessions.length, "session")}, ${session.key}`);
        if (session.head === 0 && session.header === null) there.push(session);
        else if (await copySession({ ...request, records, stays }, session, staging, result))
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
  if (stays.size > 0)
    result.stays.push({
      what: "What engines acknowledged",
      why: "it is of the home that sessions came from; engines of this one are told all of a session when it is opened",
    });
  return result;
}

interface OutRequest extends CopyOut {
  /** Of earlier copies, of all homes. */
  records: readonly FoundRecord[];
  /** Told of homes whose own files are of no use here. */
  stays: Set<string>;
}

/** What comes from elsewhere must lead nowhere else. */
function isUsable({ agentId, sessionId, key }: CopySummary, result: CopyResult): boolean {
  if (isSafeId(agentId) && isSafeId(sessionId)) return true;
  result.left.push({ what: key, why: "its id is no name of a file" });
  return false;
}

/** True: its transcript is there as the database has it. */
async function copySession(
  request: OutRequest,
  session: CopySummary,
  staging: string,
  result: CopyResult,
): Promise<boolean> {
  const { home, copy, isCheck } = request;
  const { agentId, sessionId, key } = session;
  const file = transcriptFile(home, agentId, sessionId);
  const left = (why: string) => {
    result.left.push({ what: key, why });
    return false;
  };
  const whyHeld = await heldBy(file);
  if (whyHeld !== undefined) return left(whyHeld);
  if (isCheck) return count(await copyClaimed(request, session, staging), session, result);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const outcome = await acquireLock(`${file}.lock`);
  if (!outcome.held) return left((await heldBy(file)) ?? CHANGED);
  try {
    const claim = await copy.claim({ agentId, key, sessionId });
    if (claim.kind === "held")
      return left(
        `a gateway has it open in the database${claim.owner === null ? "" : ` (${claim.owner})`}; stop that one or wait, and copy again`,
      );
    try {
      const { found } = claim.session;
      if (found.sessionId !== sessionId) return left(CHANGED);
      Object.assign(session, found);
      return count(await copyClaimed(request, found, staging), found, result);
    } finally {
      await claim.session.release();
    }
  } finally {
    await outcome.lock.release();
  }
}

const CHANGED = "it changed while it was copied; copy again";

interface CopiedFiles {
  transcript: Placed;
  others: number;
}

function count(copied: CopiedFiles, session: CopySummary, result: CopyResult): boolean {
  result.files += copied.others;
  if (copied.transcript === "other") {
    const why =
      "its file says something else than the database, and neither is written over; keep one of them under another name (clew sessions fork), and delete it under this one";
    result.left.push({ what: session.key, why });
    return false;
  }
  if (copied.transcript === "longer") {
    result.ahead.push(session.key);
    return false;
  }
  if (copied.transcript === "same" && copied.others === 0) result.same += 1;
  else result.copied.push(session.key);
  if (copied.transcript === "written") result.bytes += session.bytes;
  return true;
}

async function copyClaimed(
  { home, homeId, copy, isCheck, records, stays }: OutRequest,
  session: CopySummary,
  staging: string,
): Promise<CopiedFiles> {
  const { agentId, sessionId } = session;
  const file = transcriptFile(home, agentId, sessionId);
  const kept = await copy.filesOf(session);
  const record = records.find(
    (each) => each.home === homeId && each.agentId === agentId && each.sessionId === sessionId,
  );
  const placeOf = transcriptPlace(agentId, sessionId);
  const original = kept.find(({ place }) => place === placeOf);
  const isOriginal = original !== undefined && original.head === session.head;
  const wanted = () => (isOriginal ? copy.bytesOf(original) : linesOf(copy, session));
  let transcript = await placeBytes({ file, wanted: wanted(), staging, isCheck });
  if (transcript === "other" && original !== undefined && !isCheck)
    if ((await shaAt(file)) === original.sha) {
      // It was not in order, and the session went on from what could be read of it.
      await keepBeside(file, "before-copy", await readFile(file));
      await rm(file);
      transcript = await placeBytes({ file, wanted: wanted(), staging, isCheck });
    }
  noteWrite(file);
  if (transcript === "other" || transcript === "longer") return { transcript, others: 0 };
  if (transcript === "written" && !isCheck) await setTime(file, session.changedAt);
  let others = 0;
  const isGrown = (each: FoundFile) => each.head !== session.head;
  for (const each of kept) {
    if (each.place === placeOf || isReports(each.place) || !isPlace(each)) continue;
    if (each.isOwn && each.home !== homeId) {
      stays.add(each.home);
      continue;
    }
    if (isCache(each.place) && isGrown(each)) continue;
    if (isDeliveries(each.place, sessionId)) continue;
    const placed = await placeKept({ home, copy, staging, isCheck }, each);
    if (placed === "written") others += 1;
  }
  others += await copyDeliveries({ home, homeId, copy, isCheck }, session, {
    kept,
    staging,
    record,
  });
  others += await copyReports({ home, copy, isCheck }, session, staging);
  return { transcript, others };
}

const shaAt = async (file: string): Promise<string> =>
  shaOf(bytesIn({ ...(await asHomeFile(file)) }));

async function asHomeFile(path: string): Promise<HomeFile> {
  const { size, mtimeMs } = await lstat(path);
  return { place: "", path, kind: "file", isOwn: false, size, changedAt: Math.round(mtimeMs) };
}

/** Inside of the millisecond, as seconds are rounded on their way. */
async function setTime(file: string, ms: number): Promise<void> {
  const seconds = (Math.floor(ms) + 0.25) / 1000;
  await utimes(file, seconds, seconds).catch(() => {});
}

/** A session file, as it would have been written. */
async function* linesOf(copy: PostgresCopy, session: CopySummary): AsyncIterable<Uint8Array> {
  const { agentId, sessionId, key: sessionKey } = session;
  const made = () => toJson(headerOf({ agentId, sessionId, sessionKey }, "", session.createdAt));
  yield Buffer.from(`${session.header ?? made()}\n`);
  for (let at = 0; at < session.head; ) {
    const lines = await copy.lines(session, at);
    if (lines.length === 0) return;
    at = lines.at(-1)!.seq;
    yield Buffer.from(lines.map(({ body }) => `${body}\n`).join(""));
  }
}

/** Made again from a transcript that is another one. */
const isCache = (place: string): boolean => /\.jsonl\.(?:checkpoint|ledger|calls)$/.test(place);

/** Pure. Below its agent's folders, and nowhere else. */
function isPlace({ place, agentId }: FoundFile): boolean {
  const [agents, agent, ...path] = place.split("/");
  if (agents !== "agents" || agent !== agentId || !isSafeId(agentId)) return false;
  if (path.length < 2 || path.some((part) => part === "" || part === "." || part === ".."))
    return false;
  const [folder] = path;
  if (!["sessions", "reports", "outbox", "waiting"].includes(folder!)) return false;
  return planPlace(path).kind !== "lock";
}

interface KeptRequest extends Pick<CopyOut, "home" | "copy" | "isCheck"> {
  staging: string;
}

async function placeKept(
  { home, copy, staging, isCheck }: KeptRequest,
  kept: FoundFile,
): Promise<Placed> {
  const file = join(home, ...kept.place.split("/"));
  if (!(await isBelowFolders(home, kept.place))) return "other";
  if (kept.kind === "file") {
    const placed = await placeBytes({ file, wanted: copy.bytesOf(kept), staging, isCheck });
    if (placed === "written" && !isCheck) await setTime(file, kept.changedAt);
    return placed === "longer" ? "other" : placed;
  }
  const found = await lstat(file).catch(() => undefined);
  if (kept.kind === "folder") {
    if (found !== undefined) return found.isDirectory() ? "same" : "other";
    if (!isCheck) await mkdir(file, { recursive: true, mode: 0o700 });
    return "written";
  }
  // Where a link leads is looked at by those who made it.
  if (found !== undefined) return found.isSymbolicLink() ? "same" : "other";
  const pieces: Uint8Array[] = [];
  for await (const piece of copy.bytesOf(kept)) pieces.push(piece);
  if (!isCheck) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await symlink(Buffer.concat(pieces).toString("utf8"), file);
  }
  return "written";
}

/** No link stands between the folder of the agent's sessions and the file. */
async function isBelowFolders(home: string, place: string): Promise<boolean> {
  const parts = place.split("/");
  for (let length = 4; length < parts.length; length++) {
    const found = await lstat(join(home, ...parts.slice(0, length))).catch(() => undefined);
    if (found !== undefined && !found.isDirectory()) return false;
  }
  return true;
}

/** What engines of this home acknowledged: as it was copied, and what came since. */
async function copyDeliveries(
  { home, homeId, copy, isCheck }: Pick<CopyOut, "home" | "homeId" | "copy" | "isCheck">,
  session: CopySummary,
  {
    kept,
    staging,
    record,
  }: { kept: readonly FoundFile[]; staging: string; record: FoundRecord | undefined },
): Promise<number> {
  const { agentId, sessionId } = session;
  const place = deliveriesPlace(agentId, sessionId);
  const before = kept.find((each) => each.place === place && each.home === homeId);
  const { known } = engineOfHome(homeId);
  const since = known(
    (await copy.deliveries(session, record?.line ?? 0)).map(({ engineId, change }) => ({
      engineId,
      change: fromJson(change) as never,
    })),
  );
  if (before === undefined && since.length === 0) return 0;
  async function* wanted() {
    let last = 10;
    if (before !== undefined)
      for await (const piece of copy.bytesOf(before)) {
        last = piece.at(-1) ?? last;
        yield piece;
      }
    const lines = since.map((line) => formatDeliveryLine(line)).join("");
    if (lines !== "") yield Buffer.from(`${last === 10 ? "" : "\n"}${lines}`);
  }
  const file = join(home, ...place.split("/"));
  const placed = await placeBytes({ file, wanted: wanted(), staging, isCheck });
  return placed === "written" ? 1 : 0;
}

/** Files of no session; folders and what is in them before links. */
async function copyLoose(
  request: CopyOut,
  staging: string,
  loose: readonly FoundFile[],
  result: CopyResult,
): Promise<void> {
  const { homeId } = request;
  const order = ["folder", "file", "link"];
  const sorted = loose
    .filter(({ place }) => !isIndex(place) && !isWaiting(place))
    .toSorted(
      (a, b) =>
        Number(b.home === homeId) - Number(a.home === homeId) ||
        order.indexOf(a.kind) - order.indexOf(b.kind),
    );
  const done = new Set<string>();
  for (const file of sorted) {
    request.signal.throwIfAborted();
    if (!isPlace(file)) {
      result.left.push({ what: file.place, why: "it is no place of a session's file" });
      continue;
    }
    const placed = await placeKept({ ...request, staging }, file);
    if (placed === "written") result.files += 1;
    // What a home has itself is newer.
    if (placed === "other" && file.home !== homeId && !done.has(`${file.place} ${file.sha}`))
      result.left.push({ what: file.place, why: "another file is in its place, and stays" });
    done.add(`${file.place} ${file.sha}`);
  }
}

const isIndex = (place: string): boolean => /^agents\/[^/]+\/sessions\/sessions\.json$/.test(place);

/** Those whose files are as they were when they were copied. */
async function removeDeleted(
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

async function copyIndex(
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
    for (const key of plan.taken)
      result.left.push({ what: key, why: "its name is that of another session in files" });
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
async function noteCopies(
  { home, homeId, copy }: CopyOut,
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
    await copy.note(homeId, { agentId, sessionId, print, key, label }, session);
  }
}
