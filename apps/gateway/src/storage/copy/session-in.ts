// Copies one session of a home into a database, all of it or nothing.
import { hash } from "node:crypto";
import { lstat } from "node:fs/promises";
import type { CopySummary, PostgresCopy } from "@clew/store-postgres";
import {
  copyRowsAlone,
  type RowsCopied,
  rowsInHome,
  wholeRows,
  wouldRenumber,
} from "./engine-rows-in.ts";
import { heldBy } from "./held-by.ts";
import { idOf, type Known } from "./known.ts";
import { type Names, needsCommon, planSession } from "./plan-session.ts";
import { type ReadLines, readLines } from "./read-session.ts";
import { CHANGED, type CopyIn, type CopyResult } from "./result.ts";
import {
  type GivenSession,
  type StoreRequest,
  sessionToPut,
  stampFiles,
} from "./session-to-put.ts";

/** False: it is no session, but files that are kept as they are. */
export async function copySession(
  request: CopyIn,
  known: Known,
  given: GivenSession,
  names: Names | undefined,
  result: CopyResult,
): Promise<boolean> {
  const { agentId, sessionId, transcript } = given;
  if (names === undefined) return false;
  const whyHeld = transcript && (await heldBy(transcript.path));
  if (whyHeld !== undefined) {
    result.left.push({ what: names.key, why: whyHeld });
    return true;
  }
  if (names.key.includes("\0")) {
    result.left.push({ what: transcript?.place ?? sessionId, why: "its name holds a zero byte" });
    return false;
  }
  const stamped = await stampFiles(given);
  const print = hash("sha256", JSON.stringify(stamped.map(({ place, sha }) => [place, sha])));
  const database = known.byId.get(idOf(agentId, sessionId)) ?? null;
  const own = known.records.get(idOf(agentId, sessionId));
  const copied = own ?? (database === null ? known.everCopied.get(idOf(agentId, sessionId)) : null);
  const sides = { files: { ...names, print, head: 0 }, database, copied: copied ?? null };
  if (!needsCommon(sides)) {
    const { kind } = planSession({ ...sides, common: 0 });
    if (kind === "removed") result.deleted.push(names.key);
    else if (kind === "same")
      noteRows(await copyRowsAlone(request, known, { record: own!, names }), names, result);
    if (kind !== "copy" && kind !== "conflict") return true;
  }
  const lines = transcript === undefined ? null : await readLines(transcript.path, request.signal);
  if (transcript !== undefined && lines === null) return false;
  try {
    const head = lines?.head ?? 0;
    const common = database === null ? 0 : await commonOf(request.copy, database, lines);
    const plan = planSession({ ...sides, files: { ...names, print, head }, common });
    if (plan.kind === "ahead") result.ahead.push(names.key);
    else if (plan.kind === "conflict")
      result.left.push({ what: names.key, why: CONFLICTS[plan.why] });
    else if (plan.kind === "copy") {
      const why = await store(
        request,
        known,
        {
          ...{ given, lines, stamped, database, stored: plan.stored, isKnown: plan.isKnown },
          known: own,
          names: plan.names,
          record: { agentId, sessionId, print, ...names, rows: null },
        },
        result,
      );
      if (why !== undefined) result.left.push({ what: names.key, why });
      else {
        result.copied.push(plan.names.key);
        result.bytes += stamped.reduce((sum, { size }) => sum + size, 0);
      }
    }
    return true;
  } finally {
    await lines?.forget();
  }
}

function noteRows(copied: RowsCopied, { key }: Names, result: CopyResult): void {
  if (copied === "same") result.same += 1;
  else if (copied === "copied") result.copied.push(key);
  else if (copied === "renumbered") {
    result.copied.push(key);
    result.renumbered.push(key);
  } else result.left.push({ what: key, why: copied.why });
}

const CONFLICTS = {
  both: "it went on in the database as well as in files, and neither side is written over; keep one of them under another name (clew sessions fork), and delete it under this one",
  names: "it got another name in the database as well as in files; give both the same one",
};

const HASHES_AT_A_TIME = 5000;

/** How many of the first entries are the same. */
export async function commonOf(
  copy: PostgresCopy,
  database: CopySummary,
  lines: ReadLines | null,
): Promise<number> {
  const own = lines?.hashes ?? [];
  // Who began otherwise has nothing in common.
  if (database.header !== null && lines !== null && database.header !== lines.header) return -1;
  for (let at = 0; at < own.length; ) {
    const stored = await copy.hashes(database, { after: at, limit: HASHES_AT_A_TIME });
    const differs = stored.findIndex((each, index) => each !== own[at + index]);
    if (differs >= 0) return at + differs;
    at += stored.length;
    if (stored.length < HASHES_AT_A_TIME) return at;
  }
  return own.length;
}

/** Why it was not stored; undefined: it was. */
async function store(
  way: CopyIn,
  known: Known,
  request: Omit<StoreRequest, "engineRows">,
  result: CopyResult,
): Promise<string | undefined> {
  const { copy, homeId, isCheck, engines } = way;
  const { database, record, given } = request;
  const { agentId, sessionId } = record;
  const { key } = request.names;
  const taken = known.byKey.get(idOf(agentId, key));
  const isTaken = taken !== undefined && taken.sessionId !== sessionId;
  if (isTaken && !(isEmpty(taken) && database === null))
    return "its name is that of another session in the database; keep it under another name (clew sessions fork), and delete it under this one";
  const session = { agentId, sessionId, sessionKey: record.key };
  if (isCheck) {
    const own = await rowsInHome(engines, session);
    if (await wouldRenumber(way, known, { agentId, sessionId, own })) result.renumbered.push(key);
    return undefined;
  }
  if (isTaken) await copy.removeEmpty({ agentId, key });
  const claim = await copy.claim({ agentId, key: database?.key ?? key, sessionId });
  if (claim.kind === "held")
    return `a gateway has it open in the database${claim.owner === null ? "" : ` (${claim.owner})`}; stop that one or wait, and copy again`;
  const { session: claimed } = claim;
  try {
    const { found } = claimed;
    const isAsPlanned =
      found.sessionId === sessionId &&
      found.head === request.stored &&
      found.step === (database?.step ?? found.step);
    if (!isAsPlanned) return CHANGED;
    const own = await rowsInHome(engines, session);
    const { rows, isRenumbered } = await wholeRows(way, known, { agentId, sessionId, own });
    const isStored = await claimed.put({
      ...{ home: homeId, record: { ...record, rows: own?.print ?? null } },
      session: await sessionToPut(copy, homeId, { ...request, engineRows: rows }),
    });
    if (!isStored) return CHANGED;
    if (isRenumbered) result.renumbered.push(key);
  } finally {
    await claimed.release();
  }
  known.byKey.set(idOf(agentId, key), { ...claim.session.found, key, sessionId });
  if (database !== null && database.key !== key) known.byKey.delete(idOf(agentId, database.key));
  return (await isUnchanged(given)) ? undefined : CHANGED;
}

const isEmpty = ({ head, header, label }: CopySummary): boolean =>
  head === 0 && header === null && label === null;

/** Its files, as they were found. */
async function isUnchanged({ transcript, files }: GivenSession): Promise<boolean> {
  for (const { path, size, changedAt } of transcript === undefined
    ? files
    : [transcript, ...files]) {
    const now = await lstat(path).catch(() => undefined);
    if (now === undefined || Math.round(now.mtimeMs) !== changedAt) return false;
    if (now.isFile() && now.size !== size) return false;
  }
  return true;
}
