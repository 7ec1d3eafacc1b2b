// Imports the sessions of one file into a home.
import type { LogPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { findSessionId } from "../sessions/change-index.ts";
import { parseSessionName } from "../sessions/keys.ts";
import { transcriptFile } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import { createChildFiles } from "../subagents/child-files.ts";
import type { Format, FoundSession } from "./foreign.ts";
import { openForeign } from "./open-foreign.ts";
import { type PlannedSession, planChild, planSession } from "./plan-session.ts";
import { nameInStore } from "./store-names.ts";
import { openDraft, type SessionDraft, type StoredSession } from "./store-session.ts";
import type { Tally } from "./tally.ts";

export interface ImportedSession extends Omit<StoredSession, "said"> {
  /** Canonical. */
  key: string;
  /** Key of the session that started it; null = nobody did. */
  parent: string | null;
  title: string | null;
  messages: number;
}

export interface ImportedFile {
  file: string;
  from: Format;
  sessions: ImportedSession[];
  tally: Tally;
}

interface Writing {
  found: FoundSession;
  plan: PlannedSession;
  draft: SessionDraft;
}

/**
 * All of its sessions are written before the first is put in its place. Null: nobody knows whose
 * file it is. Throws FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE, SESSION_LOCKED, REQUEST_INVALID,
 * SESSION_NAME_INVALID, STORAGE_FAILED.
 */
export async function importFile(request: ImportRequest): Promise<ImportedFile | null> {
  for (let round = 0; round < ROUNDS; round++) {
    const imported = await importOnce(request);
    if (imported !== "made-meanwhile") return imported;
  }
  throw new ContextEngineError(
    "SESSION_LOCKED",
    `The sessions of ${request.file} are being made and removed by others; import it again when they are done.`,
  );
}

/** Several imports of one file at once find each other's sessions in the second. */
const ROUNDS = 5;

interface ImportRequest {
  home: string;
  file: string;
  from?: Format | undefined;
  /**
   * The session that the file's own one becomes. Absent: by its program's name for it, and a
   * session that Clew wrote down by its own.
   */
  key?: string | undefined;
  log: LogPort;
}

/** "made-meanwhile": somebody made one of its sessions while this read the file. */
async function importOnce(request: ImportRequest): Promise<ImportedFile | null | "made-meanwhile"> {
  const { home, file, from, key, log } = request;
  const foreign = await openForeign(file, { from });
  if (foreign === null) return null;
  const writings = new Map<string, Writing>();
  try {
    for await (const { session, entry } of foreign.entries()) {
      let writing = writings.get(session);
      if (writing === undefined) {
        const known = foreign.session(session);
        const label = known.label ?? (await nameInStore(file, known.sourceId));
        const found = { ...known, label };
        const ownKey = key ?? (await keyOfOwn(home, found, entry.id));
        const plan = planSession(foreign.format, found, { key: ownKey });
        writing = { found, plan, draft: await openDraft(home, plan.name, found) };
        writings.set(session, writing);
      }
      await writing.draft.add(entry);
    }
    const sessions: ImportedSession[] = [];
    const children = createChildFiles({ home, log });
    for (const writing of planOrder([...writings.values()])) {
      const { found, plan } = writing;
      const kept = await writing.draft.keep();
      if (kept === undefined) return "made-meanwhile";
      const { said, ...stored } = kept;
      const { key: ownKey } = plan.name;
      const parent = plan.parent === null ? null : plan.parent.key;
      sessions.push({
        ...{ key: ownKey, parent, title: found.label },
        ...stored,
        messages: said.messages,
      });
      if (plan.parent === null) continue;
      const sessionId = (await findSessionId(home, plan.parent)) ?? "";
      const { name } = plan;
      await children.write(planChild(found, { name, parent: { ...plan.parent, sessionId } }, said));
    }
    return { file, from: foreign.format, sessions, tally: foreign.tally };
  } finally {
    for (const { draft } of writings.values()) await draft.drop().catch(() => {});
  }
}

/** A session that Clew wrote down keeps its name, unless another session has that by now. */
async function keyOfOwn(
  home: string,
  { ownKey, parent }: FoundSession,
  firstId: string,
): Promise<string | undefined> {
  if (ownKey === undefined || parent !== null) return undefined;
  const name = parseSessionName(ownKey);
  if (name === undefined) return undefined;
  const sessionId = await findSessionId(home, name);
  if (sessionId === undefined) return ownKey;
  const entries = await readAllEntries(transcriptFile(home, name.agentId, sessionId));
  return entries[0]?.id === firstId ? ownKey : undefined;
}

/** Parents first; one in which nobody said anything is no session, unless it started one. */
function planOrder(writings: readonly Writing[]): Writing[] {
  const parents = new Set(writings.flatMap(({ plan }) => plan.parent?.key ?? []));
  return writings
    .filter(({ draft, plan }) => draft.messages() > 0 || parents.has(plan.name.key))
    .toSorted((a, b) => Number(a.plan.parent !== null) - Number(b.plan.parent !== null));
}
