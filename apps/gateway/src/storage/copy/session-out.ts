// Copies one session of a database into a home, where its file is the beginning of it.
import { lstat, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CopySummary, FoundFile, FoundRecord, PostgresCopy } from "@clew/store-postgres";
import { acquireLock } from "../../locks/lock.ts";
import { fromJson, toJson } from "../../own-json.ts";
import { formatDeliveryLine } from "../../sessions/delivery-lines.ts";
import { keepBeside } from "../../sessions/durable-file.ts";
import { headerOf } from "../../sessions/open.ts";
import {
  deliveriesPlace,
  doorJournalFile,
  transcriptFile,
  transcriptPlace,
} from "../../sessions/paths.ts";
import { noteWrite } from "../../sessions/writes.ts";
import { isReports } from "../postgres/kept-reports.ts";
import { engineOfHome } from "../postgres/ports.ts";
import { doorTextOf, isDoorJournal } from "./door-rows.ts";
import { takeRows } from "./engine-rows-out.ts";
import { isPlace, placeKept, setTime } from "./files-out.ts";
import { heldBy } from "./held-by.ts";
import { type Placed, placeBytes } from "./place-bytes.ts";
import { copyReports } from "./reports-out.ts";
import { CHANGED, type CopyOut, type CopyResult } from "./result.ts";
import { isDeliveries } from "./session-to-put.ts";
import { bytesIn, type HomeFile, shaOf } from "./walk-home.ts";

export interface OutRequest extends CopyOut {
  /** Of earlier copies, of all homes. */
  records: readonly FoundRecord[];
  /** Told of homes whose own files are of no use here. */
  stays: Set<string>;
  /** Told of sessions whose numbers others have here. */
  apart: string[];
}

/** True: its transcript is there as the database has it. */
export async function copySession(
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
  { home, homeId, copy, isCheck, records, stays, apart, engines }: OutRequest,
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
  const door = await doorTextOf(copy, session);
  for (const each of kept) {
    if (door !== undefined && isDoorJournal(each)) continue;
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
  if (door !== undefined) others += await placeDoor(door, { file, staging, isCheck, transcript });
  const rows = await takeRows({ copy, engines, isCheck }, session);
  if (rows === "taken") others += 1;
  else if (rows === "apart") apart.push(session.key);
  return { transcript, others };
}

/** What is known of a session that went on in the database alone is what the database knows. */
async function placeDoor(
  text: string,
  {
    file: transcriptPath,
    staging,
    isCheck,
    transcript,
  }: { file: string; staging: string; isCheck: boolean; transcript: Placed },
): Promise<number> {
  const file = doorJournalFile(transcriptPath);
  const place = () => placeBytes({ file, wanted: [Buffer.from(text)], staging, isCheck });
  let placed = await place();
  if (placed === "other" && transcript === "written" && !isCheck) {
    await rm(file, { force: true });
    placed = await place();
  }
  return placed === "written" ? 1 : 0;
}

const shaAt = async (file: string): Promise<string> =>
  shaOf(bytesIn({ ...(await asHomeFile(file)) }));

async function asHomeFile(path: string): Promise<HomeFile> {
  const { size, mtimeMs } = await lstat(path);
  return { place: "", path, kind: "file", isOwn: false, size, changedAt: Math.round(mtimeMs) };
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
