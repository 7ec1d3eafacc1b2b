// Copies what a home holds of sessions into a database, one session at a time.
import { hash } from "node:crypto";
import { lstat, readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type {
  CopySummary,
  FileToKeep,
  FoundFile,
  FoundRecord,
  PostgresCopy,
  SessionToPut,
} from "@clew/store-postgres";
import { whoClaims } from "../../home/claim.ts";
import { isInForce, readOwner } from "../../locks/lock.ts";
import { fromJson } from "../../own-json.ts";
import { packPart, unpackPart } from "../../reports/packed-part.ts";
import { plainLines } from "../../reports/report-lines.ts";
import { type DeliveryLine, parseDeliveryLines } from "../../sessions/delivery-lines.ts";
import { completeIndex, labelIn } from "../../sessions/index-file.ts";
import { isArchivedKey } from "../../sessions/keys.ts";
import { fileNameOf } from "../../sessions/paths.ts";
import { storageReason } from "../../storage-reason.ts";
import { counted } from "../../text/number.ts";
import { isReports } from "../postgres/kept-reports.ts";
import { engineOfHome } from "../postgres/ports.ts";
import { type Names, needsCommon, planSession } from "./plan-session.ts";
import { type ReadLines, readLines } from "./read-session.ts";
import { type CopyResult, type CopyWay, nothingYet } from "./result.ts";
import { keptWaiting, newMessages, rowsOf, shaOfText, waitingOf } from "./waiting.ts";
import { type AgentHome, agentsIn, bytesIn, type HomeFile, shaOf, walkAgent } from "./walk-home.ts";

export interface CopyIn extends CopyWay {
  home: string;
  homeId: string;
  copy: PostgresCopy;
}

/** Throws what the file system and the database say; what was copied until then is whole. */
export async function copyIn(request: CopyIn): Promise<CopyResult> {
  const { home, homeId, copy, signal } = request;
  const result = nothingYet();
  const agents: AgentHome[] = [];
  for (const agentId of await agentsIn(home)) agents.push(await walkAgent(home, agentId));
  const total = agents.reduce((sum, { sessions }) => sum + sessions.size, 0);
  const known = await knownIn(copy, homeId);
  let done = 0;
  for (const agent of agents) {
    signal.throwIfAborted();
    result.stays.push(...agent.stays);
    result.left.push(...agent.unread);
    await copyParts(request, agent, known, result);
    const loose = [...agent.files, ...(await copyWaiting(request, agent, known, result))];
    const named = await namesIn(home, agent, result);
    for (const [sessionId, { transcript, files }] of agent.sessions) {
      signal.throwIfAborted();
      request.says(`${done++} of ${counted(total, "session")}, ${named.get(sessionId)?.key ?? ""}`);
      const given = { agentId: agent.agentId, sessionId, transcript, files };
      const names = named.get(sessionId);
      const what = names?.key ?? transcript?.place ?? sessionId;
      const copied = await whereReadable(result, what, () =>
        copySession(request, known, given, names, result),
      );
      const isSession = copied ?? true;
      if (!isSession) loose.push(...files, ...(transcript === undefined ? [] : [transcript]));
    }
    for (const [sessionId, names] of named)
      if (!agent.sessions.has(sessionId) && names.label !== null) {
        const given = { agentId: agent.agentId, sessionId, transcript: undefined, files: [] };
        await copySession(request, known, given, names, result);
      }
    await copyLoose(request, agent.agentId, loose, known, result);
  }
  return result;
}

/** What the database has. */
interface Known {
  byId: Map<string, CopySummary>;
  byKey: Map<string, CopySummary>;
  /** Of this home. */
  records: Map<string, FoundRecord>;
  /** Of all homes. */
  everCopied: Map<string, FoundRecord>;
  /** SHA-256 of kept files, by place. */
  files: Map<string, string>;
  kept: Map<string, FoundFile>;
}

const idOf = (agentId: string, id: string): string => `${agentId}\n${id}`;

async function knownIn(copy: PostgresCopy, homeId: string): Promise<Known> {
  const sessions = await copy.sessions();
  const records = await copy.records();
  const files = (await copy.files()).filter(({ home }) => home === homeId);
  const at = ({ agentId, sessionId }: { agentId: string; sessionId: string }) =>
    idOf(agentId, sessionId);
  return {
    byId: new Map(sessions.map((each) => [at(each), each])),
    byKey: new Map(sessions.map((each) => [idOf(each.agentId, each.key), each])),
    records: new Map(records.filter(({ home }) => home === homeId).map((each) => [at(each), each])),
    everCopied: new Map(records.map((each) => [at(each), each])),
    files: new Map(files.map((file) => [file.place, stampOf(file)])),
    kept: new Map(files.map((file) => [file.place, file])),
  };
}

const stampOf = ({ kind, sha }: { kind: string; sha: string }): string => `${kind} ${sha}`;

/** By session id; what has no name gets the one that a list would show. */
export async function namesIn(
  home: string,
  agent: AgentHome,
  result?: CopyResult,
): Promise<Map<string, Names>> {
  const ids = [...agent.sessions]
    .filter(([, { transcript }]) => transcript !== undefined)
    .map(([id]) => id);
  const index = await completeIndex(home, agent.agentId, agent.index ?? {}, ids);
  const named = new Map<string, Names>();
  // A name that people use comes before one that the gateway gave.
  const keys = Object.keys(index).sort(
    (a, b) => Number(isArchivedKey(a)) - Number(isArchivedKey(b)),
  );
  for (const key of keys) {
    const { sessionId } = index[key]!;
    const other = named.get(sessionId);
    const label = labelIn(index[key])?.replaceAll("\0", "") ?? null;
    if (other === undefined) named.set(sessionId, { key, label });
    else
      result?.left.push({
        what: key,
        why: `it stands for the same transcript as ${other.key}, and a database knows one name of each`,
      });
  }
  return named;
}

interface GivenSession {
  agentId: string;
  sessionId: string;
  transcript: HomeFile | undefined;
  files: readonly HomeFile[];
}

/** False: it is no session, but files that are kept as they are. */
async function copySession(
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
    else if (kind === "same") result.same += 1;
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
      const why = await store(request, known, {
        ...{ given, lines, stamped, database, stored: plan.stored, isKnown: plan.isKnown },
        known: own,
        names: plan.names,
        record: { agentId, sessionId, print, ...names },
      });
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

const CONFLICTS = {
  both: "it went on in the database as well as in files, and neither side is written over; keep one of them under another name (clew sessions fork), and delete it under this one",
  names: "it got another name in the database as well as in files; give both the same one",
};

/** Undefined: nobody has it open. */
export async function heldBy(file: string): Promise<string | undefined> {
  const lock = `${file}.lock`;
  const owner = await readOwner(lock);
  if (owner === null) {
    const isThere = await lstat(lock).then(
      () => true,
      () => false,
    );
    return isThere ? `it is locked by ${lock}, which cannot be read` : undefined;
  }
  if (!(await isInForce(owner))) return undefined;
  return `it is open in process ${owner.pid} on ${owner.host}, which keeps it for five minutes after its last reply; stop that process or wait, and copy again`;
}

type StampedFile = HomeFile & { sha: string };

/** The transcript first, then the others by their places. */
async function stampFiles({ transcript, files }: GivenSession): Promise<StampedFile[]> {
  const all = transcript === undefined ? files : [transcript, ...files];
  const stamped: StampedFile[] = [];
  for (const file of all) stamped.push({ ...file, sha: await shaOf(bytesIn(file)) });
  return stamped;
}

const HASHES_AT_A_TIME = 5000;

/** How many of the first entries are the same. */
async function commonOf(
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

interface StoreRequest {
  given: GivenSession;
  lines: ReadLines | null;
  stamped: readonly StampedFile[];
  database: CopySummary | null;
  stored: number;
  isKnown: boolean;
  /** What was noted when it was copied before. */
  known: FoundRecord | undefined;
  /** What it is called in the database then. */
  names: Names;
  record: Names & { agentId: string; sessionId: string; print: string };
}

/** Why it was not stored; undefined: it was. */
async function store(
  { copy, homeId, isCheck }: CopyIn,
  known: Known,
  request: StoreRequest,
): Promise<string | undefined> {
  const { database, record, given } = request;
  const { agentId, sessionId } = record;
  const { key } = request.names;
  const taken = known.byKey.get(idOf(agentId, key));
  const isTaken = taken !== undefined && taken.sessionId !== sessionId;
  if (isTaken && !(isEmpty(taken) && database === null))
    return "its name is that of another session in the database; keep it under another name (clew sessions fork), and delete it under this one";
  if (isCheck) return undefined;
  if (isTaken) await copy.removeEmpty({ agentId, key });
  const claim = await copy.claim({ agentId, key: database?.key ?? key, sessionId });
  if (claim.kind === "held")
    return `a gateway has it open in the database${claim.owner === null ? "" : ` (${claim.owner})`}; stop that one or wait, and copy again`;
  const { session } = claim;
  try {
    const { found } = session;
    const isAsPlanned =
      found.sessionId === sessionId &&
      found.head === request.stored &&
      found.step === (database?.step ?? found.step);
    if (!isAsPlanned) return CHANGED;
    const isStored = await session.put({
      ...{ home: homeId, record },
      session: await sessionToPut(copy, homeId, request),
    });
    if (!isStored) return CHANGED;
  } finally {
    await session.release();
  }
  known.byKey.set(idOf(agentId, key), { ...claim.session.found, key, sessionId });
  if (database !== null && database.key !== key) known.byKey.delete(idOf(agentId, database.key));
  return (await isUnchanged(given)) ? undefined : CHANGED;
}

const isEmpty = ({ head, header, label }: CopySummary): boolean =>
  head === 0 && header === null && label === null;

const CHANGED = "it changed while it was copied; copy again";

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

async function sessionToPut(
  copy: PostgresCopy,
  homeId: string,
  { given, lines, stamped, database, stored, isKnown, record, known, names }: StoreRequest,
): Promise<SessionToPut> {
  const head = lines?.head ?? 0;
  // A transcript that is not what its lines say is kept as it is, too.
  const files = stamped
    .filter(({ place }) => place !== given.transcript?.place || lines?.isWhole === false)
    .map((file) => fileToKeep(file, { ...record, head }));
  const reports = stamped.filter(({ place }) => isReports(place));
  return {
    ...{ ...names, stored, head, files },
    entries: () => lines?.entries(stored) ?? none(),
    lastEntry: lines?.lastEntry ?? null,
    branch: lines?.branch ?? [[1, null]],
    header: lines?.header ?? null,
    bytes: lines?.bytes ?? 0,
    changedAt: given.transcript?.changedAt ?? Date.now(),
    deliveries: await newDeliveries(copy, homeId, { given, database, known }),
    base:
      reports.length === 0
        ? null
        : hash("sha256", JSON.stringify(reports.map(({ place, sha }) => [place, sha]))),
    told: database === null ? [] : isKnown ? "all" : await turnsIn(reports),
  };
}

async function* none() {}

const fileToKeep = (
  file: StampedFile,
  { agentId, sessionId, head }: { agentId: string; sessionId: string | null; head: number | null },
): FileToKeep => ({
  ...{ place: file.place, agentId, sessionId, kind: file.kind, isOwn: file.isOwn },
  ...{ size: file.size, sha: file.sha, head, changedAt: file.changedAt },
  bytes: () => bytesIn(file),
});

/** Behind those that the database has of this home. */
async function newDeliveries(
  copy: PostgresCopy,
  homeId: string,
  { given, database, known: record }: Pick<StoreRequest, "given" | "database" | "known">,
): Promise<{ engineId: string; change: string }[]> {
  const file = given.files.find(({ place }) => isDeliveries(place, given.sessionId));
  if (file === undefined) return [];
  const lines = parseDeliveryLines(await readFile(file.path)).lines;
  const kept =
    database === null
      ? undefined
      : (await copy.filesOf(given)).find(
          ({ home, place }) => home === homeId && place === file.place,
        );
  const ofHome = engineOfHome(homeId);
  const before = kept === undefined ? [] : await deliveriesIn(copy.bytesOf(kept));
  // A copy back into this home added those that came to the database since.
  const since = (await copy.deliveries(given, record?.line ?? 0)).map(({ engineId, change }) => ({
    ...{ engineId, change: fromJson(change) as DeliveryLine["change"] },
  }));
  before.push(...ofHome.known(since));
  const isBehind = isDeepStrictEqual(lines.slice(0, before.length), before);
  return lines.slice(isBehind ? before.length : 0).map(({ engineId, change }) => ({
    engineId: ofHome.name(engineId),
    change: JSON.stringify(change).replaceAll("\0", ""),
  }));
}

/** Pure. What engines acknowledged of a session. */
export const isDeliveries = (place: string, sessionId: string): boolean =>
  place.endsWith(`/outbox/${fileNameOf(sessionId)}`);

async function deliveriesIn(bytes: AsyncIterable<Uint8Array>): Promise<DeliveryLine[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return parseDeliveryLines(Buffer.concat(pieces)).lines;
}

/** Ids of the turns that reports in files tell of. */
async function turnsIn(files: readonly HomeFile[]): Promise<string[]> {
  const turns: string[] = [];
  for (const { path } of files)
    for (const line of plainLines(await readFile(path, "utf8")).split("\n"))
      try {
        const { turnId } = fromJson(line) as { turnId?: unknown };
        if (typeof turnId === "string") turns.push(turnId);
      } catch {}
  return turns;
}

const PARTS_AT_A_TIME = 200;

/** Those that cannot be kept as text, or not so that they are the same again, as files. */
async function copyParts(
  request: CopyIn,
  { agentId, parts }: AgentHome,
  known: Known,
  result: CopyResult,
): Promise<void> {
  const { copy, signal, isCheck, says } = request;
  const hashes = [...parts.keys()];
  for (let at = 0; at < hashes.length; at += PARTS_AT_A_TIME) {
    signal.throwIfAborted();
    says(`${at} of ${counted(hashes.length, "part")} of reports`);
    const some = hashes.slice(at, at + PARTS_AT_A_TIME);
    const missing = new Set(await copy.missingParts(agentId, some));
    const contents = new Map<string, string>();
    const odd: HomeFile[] = [];
    for (const name of some) {
      const file = parts.get(name)!;
      // Of one that is there already it is known that it says the same, as its name does.
      if (!missing.has(name)) continue;
      const bytes = await whereReadable(result, file.place, () => readFile(file.path));
      if (bytes === undefined) continue;
      const text = await unpackPart(bytes).catch(() => undefined);
      const isPlain = text !== undefined && !text.includes("\0");
      if (isPlain) contents.set(name, text);
      if (!isPlain || !(await packPart(text)).equals(bytes)) odd.push(file);
      else {
        result.files += 1;
        result.bytes += file.size;
      }
    }
    await copyLoose(request, agentId, odd, known, result);
    if (contents.size > 0 && !isCheck) await copy.putParts(agentId, contents);
  }
}

/** What a file system does not give is named, and the rest is copied. */
async function whereReadable<Answer>(
  { left }: CopyResult,
  what: string,
  work: () => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (typeof code !== "string" || syscall === undefined || ContextEngineError.is(error))
      throw error;
    const why = code === "ENOENT" ? CHANGED : `it cannot be read, as ${storageReason(error)}`;
    left.push({ what, why });
    return undefined;
  }
}

/** Files that are of no session, or of something that is none. */
async function copyLoose(
  { copy, homeId, signal, isCheck }: CopyIn,
  agentId: string,
  files: readonly HomeFile[],
  known: Known,
  result: CopyResult,
): Promise<void> {
  for (const file of files) {
    signal.throwIfAborted();
    await whereReadable(result, file.place, async () => {
      const sha = await shaOf(bytesIn(file));
      if (known.files.get(file.place) === stampOf({ kind: file.kind, sha })) return;
      const whole = fileToKeep({ ...file, sha }, { agentId, sessionId: null, head: null });
      if (!isCheck) await copy.keep(homeId, whole);
      result.files += 1;
      result.bytes += file.size;
    });
  }
}

/** What was copied once is the database's: a message that was said there is not put there again. */
async function copyWaiting(
  { home, homeId, copy, isCheck }: CopyIn,
  agent: AgentHome,
  known: Known,
  result: CopyResult,
): Promise<HomeFile[]> {
  const others: HomeFile[] = [];
  const runs = agent.waiting.length > 0 ? await whoClaims(home) : null;
  for (const file of agent.waiting) {
    const text = await whereReadable(result, file.place, () => readFile(file.path, "utf8"));
    if (text === undefined) continue;
    const found = waitingOf(text);
    if (found === undefined) others.push(file);
    if (found === undefined || known.files.get(file.place) === stampOf(textFile(text))) continue;
    const { sessionKey, messages } = found;
    if (runs !== null) {
      const what = counted(messages.length, "message waits", "messages wait");
      const why = `${what} there, and the gateway of this home runs (process ${runs.pid}); stop it, and copy again`;
      result.left.push({ what: sessionKey, why });
      continue;
    }
    const kept = known.kept.get(file.place);
    const fresh = newMessages(messages, (await keptWaiting(copy, kept)).messages);
    result.files += 1;
    if (isCheck) continue;
    const whole = { ...file, ...textFile(text) };
    await copy.keep(
      homeId,
      fileToKeep(whole, { agentId: agent.agentId, sessionId: null, head: null }),
      {
        ...{ agentId: agent.agentId, key: sessionKey, messages: rowsOf(fresh) },
      },
    );
  }
  return others;
}

const textFile = (text: string) => ({
  ...{ kind: "file" as const, sha: shaOfText(text), size: Buffer.byteLength(text) },
});
