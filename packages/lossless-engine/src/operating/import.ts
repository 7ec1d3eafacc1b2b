// Stores what session files of OpenClaw and pi, or exports, tell and a store lacks.
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isNameless, type NamedMessage } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import { catchUp } from "../search/catch-up.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { markNamedLeft } from "../store/left.ts";
import { knownNames, storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { tombstones } from "../store/tombstones.ts";
import { addTranscripts } from "../store/transcripts.ts";
import { READER } from "../summaries/facts.ts";
import { othersTurn } from "../turns.ts";
import { counted } from "./describe-store.ts";
import type { OperatingOptions } from "./progress.ts";
import { type ReadSession, readSession } from "./read-session.ts";
import type { LineMessage } from "./session-lines.ts";

/** What is to be read, and whose it is. */
export interface ImportOptions extends OperatingOptions {
  /** Files, and folders of which every file is read whose name ends with .jsonl. */
  readonly files: readonly string[];
  /** Whose the sessions are; see `ownerOf`. */
  readonly owner: string;
  /** The sessions' key. Absent: the one that each file names, or none. */
  readonly sessionKey?: string | undefined;
}

/** What came of one file. */
export interface ImportedFile {
  /** Its path. */
  readonly file: string;
  /** Of its transcript. Null: the file could not be read. */
  readonly sessionId: string | null;
  /** How many messages it tells. */
  readonly told: number;
  /** How many of them the store lacked. */
  readonly added: number;
  /** How many of them were forgotten, or are no longer kept, and stay so. */
  readonly absent: number;
  /** What of it is not stored, a sentence each. */
  readonly problems: readonly string[];
}

/** What came of all of them. */
export interface Imported {
  /** In the order in which they were read. */
  readonly files: readonly ImportedFile[];
  /** True: all that the files tell is stored. */
  readonly isWhole: boolean;
  /** All of it for people. */
  readonly text: string;
}

/**
 * Whatever is stored already is not stored again, so an import that was interrupted is begun anew.
 * Throws FILE_NOT_FOUND, REQUEST_INVALID where nothing was named that can be read.
 */
export async function importSessions(store: Store, options: ImportOptions): Promise<Imported> {
  const { onProgress, signal } = options;
  const paths = options.files.flatMap(filesAt);
  const files: ImportedFile[] = [];
  for (const [at, path] of paths.entries()) {
    files.push(await importOne(store, path, options, paths.length === 1));
    onProgress?.({ part: "reading session files", done: at + 1, of: paths.length });
  }
  onProgress?.({ part: "indexing for searches", done: 0, of: null });
  await catchUp(store, signal);
  const isWhole = files.every(({ problems }) => problems.length === 0);
  return { files, isWhole, text: describe(store.path, files) };
}

/** Throws what an import of these would throw before it stores anything. */
export async function assertImportable({
  files,
  signal,
}: Pick<ImportOptions, "files" | "signal">): Promise<void> {
  const paths = files.flatMap(filesAt);
  if (paths.length === 1) await readSession(paths[0]!, signal);
}

const SESSION_FILE = /\.jsonl$/;

function filesAt(named: string): string[] {
  const path = resolve(named);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    throw new ContextEngineError("FILE_NOT_FOUND", `There is nothing at ${path}; check the path.`);
  if (!found.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => SESSION_FILE.test(name));
  if (names.length === 0)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `The folder ${path} has no session files (*.jsonl); name another one.`,
    );
  return names.sort().map((name) => join(path, name));
}

/** Of several files one that is no session file keeps no other from being read. */
async function importOne(
  store: Store,
  file: string,
  options: ImportOptions,
  isOnly: boolean,
): Promise<ImportedFile> {
  let read: ReadSession;
  try {
    read = await readSession(file, options.signal);
  } catch (error) {
    if (isOnly || !ContextEngineError.is(error)) throw error;
    return { file, sessionId: null, told: 0, added: 0, absent: 0, problems: [error.message] };
  }
  const { added, absent, refused } = await storeAll(store, read, options);
  const { sessionId, messages, badLines, isTorn } = read;
  return {
    ...{ file, sessionId, told: messages.length, added, absent },
    problems: [
      ...badLines.map(({ line, reason }) => `line ${line} is ${reason}`),
      ...(isTorn ? ["its last line is half written"] : []),
      ...refused,
    ],
  };
}

/** Messages that are stored in one transaction: few enough to keep nobody waiting. */
const BATCH = 32;

async function storeAll(
  store: Store,
  { sessionId, sessionKey: named, further, messages: told }: ReadSession,
  { owner, sessionKey = named, signal, onProgress }: ImportOptions,
): Promise<{ added: number; absent: number; refused: readonly string[] }> {
  const session: OwnedSession = { sessionId, sessionKey, owner };
  const refused: string[] = [];
  let [added, absent, done] = [0, 0, 0];
  for (const batch of batchesOf(told)) {
    const from = batch[0]!.isSeen ? "seen" : "told";
    const messages = await namesakesTold(store, session, batch);
    const storing = await patiently(
      () => storeMessages(store, { session, messages, from }),
      signal,
    );
    added += storing.added;
    absent += await patiently(() => absentAmong(store, messages), signal);
    done += batch.length;
    refused.push(...storing.refused.map(({ name, why }) => `message ${name} is refused (${why})`));
    const left = batch.filter(({ isLeft }) => isLeft).map(({ name }) => name);
    if (left.length > 0)
      await patiently(() => markNamedLeft(store, { session, names: left }, READER), signal);
    onProgress?.({ part: `messages of ${sessionId}`, done, of: told.length });
    await othersTurn();
    signal?.throwIfAborted();
  }
  if (further.length > 0) await patiently(() => addTranscripts(store, session, further), signal);
  return { added, absent, refused };
}

/** How many of them were forgotten, or are no longer kept. */
const absentAmong = (store: Store, messages: readonly NamedMessage[]): number =>
  store.read((sql) => {
    const find = tombstones(sql);
    return find === undefined ? 0 : messages.filter(({ message }) => find(message)).length;
  });

const NAMESAKE = /#\d+$/;

/** Of messages without ids that say the same each is one of its own, however they are parted. */
async function namesakesTold(
  store: Store,
  session: OwnedSession,
  batch: readonly LineMessage[],
): Promise<readonly NamedMessage[]> {
  const names = batch.map(({ name }) => name).filter((name) => isNamesake(name));
  if (names.length === 0) return batch;
  const { known } = await patiently(() => knownNames(store, session, names));
  return batch.flatMap((message) => {
    if (!isNamesake(message.name)) return [message];
    return known.has(message.name) ? [] : [{ ...message, isNew: true }];
  });
}

const isNamesake = (name: string) => isNameless(name) && NAMESAKE.test(name);

/** What was told and what was only seen is stored in calls of their own. */
function* batchesOf(messages: readonly LineMessage[]): Generator<readonly LineMessage[]> {
  let batch: LineMessage[] = [];
  for (const message of messages) {
    const isOther = batch.length > 0 && batch[0]!.isSeen !== message.isSeen;
    if (isOther || batch.length === BATCH) {
      yield batch;
      batch = [];
    }
    batch.push(message);
  }
  if (batch.length > 0) yield batch;
}

/** Problems that are told of one file. */
const MOST_TOLD = 10;

function describe(path: string, files: readonly ImportedFile[]): string {
  const [told, added] = [total(files, "told"), total(files, "added")];
  const known = told - added;
  const absent = total(files, "absent");
  const lines = files.flatMap(({ file, problems }) => [
    ...problems.slice(0, MOST_TOLD).map((problem) => `${file}: ${problem}.`.replace(/\.\.$/, ".")),
    ...(problems.length > MOST_TOLD ? [`${file}: and ${problems.length - MOST_TOLD} more.`] : []),
  ]);
  return [
    `Imported ${counted(added, "message")} from ${counted(files.length, "session file")} into ${path}${known === 0 ? "" : `; ${counted(known, "message")} of them ${known === 1 ? "was" : "were"} there already`}${absent === 0 ? "" : `; ${counted(absent, "message")} ${absent === 1 ? "was" : "were"} forgotten or ${absent === 1 ? "is" : "are"} no longer kept, and ${absent === 1 ? "stays" : "stay"} so`}.`,
    ...(lines.length > 0 ? ["Not stored:", ...lines.map((line) => `  ${line}`)] : []),
  ].join("\n");
}

const total = (files: readonly ImportedFile[], what: "told" | "added" | "absent") =>
  files.reduce((sum, file) => sum + file[what], 0);
