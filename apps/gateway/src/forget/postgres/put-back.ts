// Stores in a database what a copy of it says once something was forgotten there.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { ClaimedSession, FoundFile, PostgresCopy } from "@clew/store-postgres";
import { fromJson, toJson } from "../../own-json.ts";
import { waitingFile } from "../../sessions/paths.ts";
import { keepNumbers, rowsInHome } from "../../storage/copy/engine-rows-in.ts";
import { printInHome } from "../../storage/copy/engine-rows-out.ts";
import {
  createEngineStores,
  type EngineStores,
  ROWS_ENGINE,
} from "../../storage/copy/engine-stores.ts";
import { isIndex } from "../../storage/copy/files-out.ts";
import { readJobTexts, runsOfText } from "../../storage/copy/job-texts.ts";
import { readLines } from "../../storage/copy/read-session.ts";
import { commonOf } from "../../storage/copy/session-in.ts";
import { sessionToPut, stampFiles } from "../../storage/copy/session-to-put.ts";
import { keptText, rowsOf, shaOfText, waitingOf } from "../../storage/copy/waiting.ts";
import { type AgentHome, type LeftBehind, walkAgent } from "../../storage/copy/walk-home.ts";
import { scratchOf } from "../scratch-place.ts";
import { readIfThere } from "../transcripts.ts";
import { type ScratchRequest, stampsOf } from "./make-scratch.ts";
import { type PlannedPutBack, planPutBack } from "./plan-put-back.ts";
import type { PutBack, ScratchRecord } from "./scratch-record.ts";

type Known = ScratchRecord["sessions"][number];

const idOf = ({ agentId, sessionId }: Pick<Known, "agentId" | "sessionId">): string =>
  `${agentId}\n${sessionId}`;

const WENT_ON =
  "it went on while its words were forgotten, and holds them still; ask again while no gateway runs";

/** Each session at once or not at all; done again it goes on. What stays as it is, and why. */
export async function putBack(
  request: ScratchRequest,
  { record, removed }: Pick<PutBack, "record" | "removed">,
): Promise<LeftBehind[]> {
  const { copy, compress, signal, says } = request;
  const home = scratchOf(request.home);
  const engines = createEngineStores({ home, databasePath: undefined, compress, isMade: false });
  try {
    const rows = new Map<Known, string | null>();
    for (const each of record.sessions) rows.set(each, await printInHome(engines, each));
    const files = await stampsOf(home);
    const now = { files, rows: (each: Known) => rows.get(each) ?? null };
    const planned = planPutBack(record, { ...now, removed });
    const left: LeftBehind[] = [];
    const agents = new Map<string, AgentHome>();
    const there = new Map((await copy.sessions()).map((each) => [idOf(each), each]));
    for (const [at, session] of planned.changed.entries()) {
      signal.throwIfAborted();
      says(`${at} of ${planned.changed.length} sessions, ${session.key}`);
      const { agentId } = session;
      const agent = agents.get(agentId) ?? (await walkAgent(home, agentId));
      agents.set(agentId, agent);
      // Somebody removed it since.
      if (there.get(idOf(session)) === undefined) continue;
      const { key } = there.get(idOf(session))!;
      const why = await putSession({ copy, engines, signal }, agent, { ...session, key });
      if (why !== undefined) left.push({ what: session.key, why });
    }
    for (const session of planned.removed) {
      const why = await removeSession(copy, session, there.get(idOf(session))?.key);
      if (why !== undefined) left.push({ what: session.key, why });
    }
    for (const [agentId, hashes] of planned.parts) await copy.forgetting.dropParts(agentId, hashes);
    await putLoose(copy, home, planned);
    await dropWaiting(copy, home, record, planned);
    await dropRuns(copy, home, record, planned);
    return left;
  } finally {
    engines.close();
  }
}

/** Why it stays as it is; undefined: it says now what the copy says. */
async function putSession(
  { copy, engines, signal }: { copy: PostgresCopy; engines: EngineStores; signal: AbortSignal },
  agent: AgentHome,
  known: Known,
): Promise<string | undefined> {
  const { agentId, sessionId } = known;
  const { transcript, files = [] } = agent.sessions.get(sessionId) ?? {};
  const lines = transcript === undefined ? null : await readLines(transcript.path, signal);
  if (transcript === undefined || lines === null) return "its copy cannot be read";
  try {
    const session = await claimOf(copy, known);
    if (typeof session === "string") return session;
    try {
      const { found } = session;
      if (found.step !== known.step)
        return (await commonOf(copy, found, lines)) === lines.head ? undefined : WENT_ON;
      const { key, label } = found;
      const own = await rowsInHome(engines, { agentId, sessionId, sessionKey: known.key });
      await keepNumbers(copy, { numbers: new Map() }, own);
      const given = { agentId, sessionId, transcript, files };
      const record = { agentId, sessionId, key, label, print: "", rows: null };
      const home = randomUUID();
      const toPut = await sessionToPut(copy, home, {
        ...{ given, lines, record, stamped: await stampFiles(given), database: found },
        ...{ stored: 0, isKnown: true, known: undefined, names: { key, label } },
        engineRows: [{ engine: ROWS_ENGINE, rows: own?.rows ?? [], isAll: true }],
      });
      const blobs = await copy.forgetting.blobsOf(known);
      const { changedAt } = found;
      const over = { ...toPut, changedAt, isOver: true };
      if (!(await session.put({ home, record, session: over }))) return WENT_ON;
      await copy.forgetting.dropBlobs(agentId, blobs);
      return undefined;
    } finally {
      await session.release();
    }
  } finally {
    await lines.forget();
  }
}

/** A string: whose it is by now. */
async function claimOf(
  copy: PostgresCopy,
  { agentId, sessionId, key }: Known,
): Promise<ClaimedSession | string> {
  const claim = await copy.claim({ agentId, key, sessionId });
  if (claim.kind === "held") return heldBy(claim.owner);
  if (claim.session.found.sessionId === sessionId) return claim.session;
  await claim.session.release();
  return WENT_ON;
}

const heldBy = (owner: string | null): string =>
  `a gateway has it open${owner === null ? "" : ` (${owner})`}; stop that one, and run clew lossless forget --resume`;

/** `key`: what it is called now; undefined: it is gone already. */
async function removeSession(
  copy: PostgresCopy,
  { agentId, sessionId }: Known,
  key: string | undefined,
): Promise<string | undefined> {
  if (key !== undefined && !(await copy.forgetting.remove({ agentId, key }))) return heldBy(null);
  for (const file of await copy.files())
    if (file.agentId === agentId && isIndex(file.place)) await unname(copy, file, sessionId);
  return undefined;
}

/** The list of sessions that a home was copied with names it no more. */
async function unname(copy: PostgresCopy, file: FoundFile, sessionId: string): Promise<void> {
  const text = await keptText(copy, file);
  const index = parsed(text);
  // Nobody can read it, so nobody needs it.
  if (index === undefined) return copy.forgetting.dropFile(file);
  const left = Object.entries(index).filter(([, entry]) => entry?.sessionId !== sessionId);
  if (left.length === Object.keys(index).length) return;
  await keepText(copy, file, `${toJson(Object.fromEntries(left), null, 2)}\n`);
}

function parsed(text: string): Record<string, { sessionId?: string } | null> | undefined {
  try {
    return fromJson(text) as Record<string, { sessionId?: string } | null>;
  } catch {
    return undefined;
  }
}

async function keepText(copy: PostgresCopy, file: FoundFile, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const { home, ...kept } = file;
  await copy.keep(home, {
    ...{ ...kept, size: bytes.length, sha: shaOfText(text), bytes: () => [bytes] },
  });
}

/** Kept files of no session, of whichever home. */
async function putLoose(
  copy: PostgresCopy,
  home: string,
  { places }: PlannedPutBack,
): Promise<void> {
  for (const file of await copy.files()) {
    if (!places.has(file.place) || isIndex(file.place)) continue;
    const path = join(home, ...file.place.split("/"));
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text === undefined) await copy.forgetting.dropFile(file);
    else await keepText(copy, file, text);
  }
}

async function dropWaiting(
  copy: PostgresCopy,
  home: string,
  { waiting }: ScratchRecord,
  { places }: PlannedPutBack,
): Promise<void> {
  for (const { agentId, key, names } of waiting) {
    const file = waitingFile(home, agentId, key);
    if (!places.has(relative(home, file).split(sep).join("/"))) continue;
    const text = await readIfThere(file);
    const left = new Set(rowsOf(waitingOf(text)?.messages ?? []).map(({ name }) => name));
    const gone = names.filter((name) => !left.has(name));
    if (gone.length > 0) await copy.forgetting.dropWaiting({ agentId, key }, gone);
  }
}

async function dropRuns(
  copy: PostgresCopy,
  home: string,
  { runs }: ScratchRecord,
  { jobs }: PlannedPutBack,
): Promise<void> {
  const keyOf = (run: { due: number; startedAt: number }) => `${run.due} ${run.startedAt}`;
  for (const { id, runs: before } of runs) {
    if (!jobs.includes(id)) continue;
    const left = new Set(runsOfText((await readJobTexts(home, id)).runs).map(keyOf));
    await copy.forgetting.dropRuns(
      id,
      before.filter((run) => !left.has(keyOf(run))),
    );
  }
}
