// What a file said, as far as calls that named it tell.
import { textOf } from "@clew/plugin-sdk/transcript";
import { patiently } from "../patiently.ts";
import { search } from "../search/search.ts";
import { fileIdOf } from "../store/files.ts";
import { messagesBetween, type Scope } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { type FileAccess, fileAccessesIn, namesFile } from "./accesses.ts";

/** A call that named the file, and what it tells of the file's text. */
export interface FileSighting extends Pick<FileAccess, "tool" | "path" | "changes" | "isPart"> {
  /** Number of the message that holds the text, or the call where nothing does. */
  readonly seq: number;
  readonly turn: number;
  readonly conversation: number;
  /** Null: it tells only that something was done. */
  readonly text: string | null;
  /** Of the text: the same for the same. Null: there is none. */
  readonly fileId: string | null;
}

/** What is known of a file. */
export interface FileHistory {
  /** Oldest first. */
  readonly sightings: readonly FileSighting[];
  /** False: time was up, or there were too many calls, before all were looked at. */
  readonly isComplete: boolean;
}

const MOST_CALLS = 500;
const BOUND_MS = 3_000;
/** Messages behind a call among which its result is looked for. */
const RESULT_WITHIN = 200;

/** Calls that named `path`, or a path that ends so, within a scope. */
export async function historyOfFile(
  store: Store,
  { path, scope, signal }: { path: string; scope: Scope; signal?: AbortSignal | undefined },
): Promise<FileHistory> {
  const accessesOf = ({ message }: StoredMessage) =>
    fileAccessesIn(message).filter((access) => namesFile(access.path, path));
  const { hits, stoppedAt } = await search(store, {
    mode: "pattern",
    query: escaped(JSON.stringify(path).slice(1, -1)),
    ...{ scope, limit: MOST_CALLS, boundMs: BOUND_MS, signal },
    accepts: (message) => accessesOf(message).length > 0,
  });
  const sightings: FileSighting[] = [];
  for (const { message } of hits.toReversed())
    for (const access of accessesOf(message))
      sightings.push(await patiently(() => sightingOf(store, message, access), signal));
  return { sightings, isComplete: stoppedAt === null };
}

function sightingOf(store: Store, call: StoredMessage, access: FileAccess): FileSighting {
  const { tool, path, changes, isPart, written } = access;
  const { turn, conversation } = call;
  const about = { tool, path, changes, isPart, turn, conversation };
  const result = resultOf(store, call, access.callId);
  const isDone = result !== undefined && result.message.role === "toolResult";
  if (isDone && result.message.isError === true)
    return { ...about, changes: false, seq: result.seq, text: null, fileId: null };
  if (written !== null)
    return { ...about, seq: call.seq, text: written, fileId: fileIdOf(written) };
  const text = isDone && !changes ? textOf(result.message) : null;
  return {
    ...{ ...about, seq: isDone && !changes ? result.seq : call.seq, text },
    fileId: text === null ? null : fileIdOf(text),
  };
}

/** Ids of calls may be used again: the first result behind the call is its own. */
const resultOf = (
  store: Store,
  { seq, conversation }: StoredMessage,
  callId: string,
): StoredMessage | undefined =>
  messagesBetween(store, {
    ...{ scope: [conversation], from: seq + 1, to: Number.MAX_SAFE_INTEGER },
    limit: RESULT_WITHIN,
  }).find(({ message }) => message.role === "toolResult" && message.toolCallId === callId);

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** What a file said at a turn. */
export interface FileVersion {
  /** The newest sighting of its whole text; undefined: there is none. */
  readonly shown: FileSighting | undefined;
  /** Changes since then, whose result nobody saw. */
  readonly changedSince: readonly FileSighting[];
  /** Which version it is, counting different texts from 1, and how many there are. */
  readonly number: number;
  readonly of: number;
}

/** Pure. `turn` absent: now. */
export function versionAt(
  sightings: readonly FileSighting[],
  turn: number = Number.POSITIVE_INFINITY,
): FileVersion {
  const whole = sightings.filter(({ text, isPart }) => text !== null && !isPart);
  const ids = [...new Set(whole.map(({ fileId }) => fileId))];
  const until = sightings.filter((sighting) => sighting.turn <= turn);
  const shown = whole.findLast((sighting) => sighting.turn <= turn);
  return {
    shown,
    changedSince: until
      .slice(shown === undefined ? 0 : until.indexOf(shown) + 1)
      .filter(({ changes, text }) => changes && text === null),
    number: shown === undefined ? 0 : ids.indexOf(shown.fileId) + 1,
    of: ids.length,
  };
}
