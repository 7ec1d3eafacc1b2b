// Stores what a session file holds and the store lacks.
import { type FileHandle, open } from "node:fs/promises";
import { beginningOf } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { type Cursor, cursorOf } from "../store/cursors.ts";
import { messageNamed, newestNames, storeMessages } from "../store/messages.ts";
import { roomFor } from "../store/room.ts";
import type { Store } from "../store/store.ts";
import { othersTurn } from "../turns.ts";
import { cursorBehind, type FilePart, readAppended, readWhole } from "./read-file.ts";
import { type ToldMessage, toldBranch } from "./told-branch.ts";

/** Messages that are stored in one transaction: few enough to keep nobody waiting. */
const BATCH = 32;

/** What an import came to. */
export interface Import {
  /** Messages that the store lacked. */
  readonly imported: number;
  /** For people: why nothing could be read. Absent: it could. */
  readonly reason?: string;
}

/**
 * Reads what was appended since the last time, or the whole file, and stores what is not there yet.
 * An import that is interrupted goes on where it stopped.
 */
export async function importFile(
  store: Store,
  {
    session,
    path,
    signal,
  }: { session: OwnedSession; path: string; signal?: AbortSignal | undefined },
): Promise<Import> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return { imported: 0, reason: `the session file ${path} cannot be read` };
  try {
    if (!(await file.stat()).isFile()) return { imported: 0, reason: `${path} is no file` };
    const cursor = await patiently(() => cursorOf(store, session), signal);
    const part = await readPart(file, cursor);
    if (part === undefined) return { imported: 0, reason: `${path} is no session file` };
    if (await isForeign(store, session, part))
      return {
        imported: 0,
        reason: `${path} is of another session, ${JSON.stringify(part.sessionId)}, and tells none of this one`,
      };
    let imported = 0;
    for (const { messages, end } of batchesOf(part)) {
      const line = end === undefined ? undefined : part.lines.get(end);
      const cursor = line && (await cursorBehind(file, line, end!));
      await roomFor(store, messages.length);
      const { added } = await patiently(
        () => storeMessages(store, { session, messages, from: "told", cursor }),
        signal,
      );
      imported += added;
      await othersTurn();
    }
    return { imported };
  } finally {
    await file.close();
  }
}

async function readPart(file: FileHandle, cursor: Cursor | undefined) {
  const appended = cursor && (await readAppended(file, cursor));
  return appended ?? readWhole(file);
}

/** Messages of each end by which a file of another name is known to tell the same session. */
const SAMPLE = 16;

/** True: it says that it is of another session, and it tells nothing of what this one holds. */
async function isForeign(
  store: Store,
  session: OwnedSession,
  { sessionId, entries }: FilePart,
): Promise<boolean> {
  if (sessionId === undefined || sessionId === session.sessionId) return false;
  const told = toldBranch(entries);
  for (const { name, message } of [...told.slice(0, SAMPLE), ...told.slice(-SAMPLE)]) {
    const stored = await patiently(() => messageNamed(store, session, name));
    // Hosts that count anew in each transcript repeat ids.
    if (stored?.role === message.role && beginningOf(stored) === beginningOf(message)) return false;
  }
  return (await patiently(() => newestNames(store, session, 1))).length > 0;
}

interface Batch {
  messages: readonly ToldMessage[];
  /** Id of the entry up to which the file is read with them; undefined: there is none. */
  end: string | undefined;
}

/** The last one moves the cursor behind everything that was read. */
function batchesOf({ entries }: FilePart): Batch[] {
  const told = toldBranch(entries);
  const last = entries.at(-1)?.id;
  const batches: Batch[] = [];
  for (let at = 0; at < told.length; at += BATCH) {
    const messages = told.slice(at, at + BATCH);
    const isLast = at + BATCH >= told.length;
    batches.push({ messages, end: isLast ? last : messages.at(-1)!.entryId });
  }
  return told.length > 0 || last === undefined ? batches : [{ messages: [], end: last }];
}
