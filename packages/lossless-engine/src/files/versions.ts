// What a file said, as far as calls that named it tell.
import { pause } from "@clew/plugin-sdk/host";
import { textOf } from "@clew/plugin-sdk/transcript";
import { patiently } from "../patiently.ts";
import { search } from "../search/search.ts";
import { fileIdOf, isFileIn } from "../store/files.ts";
import { messagesBetween, type Scope } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { type FileAccess, fileAccessesIn, saysCut } from "./accesses.ts";
import { endsIn, filePath } from "./paths.ts";

/** A call that named the file, and what it tells of the file's text. */
export interface FileSighting extends Pick<FileAccess, "tool" | "changes" | "isPart"> {
  /** See `filePath`. */
  readonly path: string;
  /** Number of the message that holds the text, or the call where nothing does. */
  readonly seq: number;
  readonly turn: number;
  readonly conversation: number;
  /** Null: it tells only that something was done. */
  readonly text: string | null;
  /** Of the text: the same for the same. Null: there is none. */
  readonly fileId: string | null;
  /** True: the text is long, and had by `fileId`. */
  readonly hasId: boolean;
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
/** Messages before a result among which its call is looked for. */
const CALL_WITHIN = 50;
/** Messages behind a call among which its result is looked for. */
const RESULT_WITHIN = 200;
/** Of these so many are read at once: nearly all results follow their calls. */
const AT_ONCE = 8;

/** Where to look for a file. */
export interface FileRequest {
  /** In any spelling; or its end, from a folder on. */
  readonly path: string;
  readonly scope: Scope;
  /** Where relative paths begin. Absent: not known. */
  readonly workspace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls that named the file of this path within a scope; where no call named just that one, of all
 * whose paths end so.
 */
export async function historyOfFile(store: Store, request: FileRequest): Promise<FileHistory> {
  const { scope, workspace, signal } = request;
  const asked = filePath(request.path, workspace);
  const accessesOf = ({ message }: StoredMessage): FileAccess[] =>
    fileAccessesIn(message)
      .map((access) => ({ ...access, path: filePath(access.path, workspace) }))
      .filter(({ path }) => path === asked || endsIn(path, asked));
  const name = asked.slice(asked.lastIndexOf("/") + 1);
  if (name === "") return { sightings: [], isComplete: true };
  const { hits, stoppedAt } = await search(store, {
    mode: "pattern",
    query: escaped(JSON.stringify(name).slice(1, -1)),
    ...{ scope, limit: MOST_CALLS, boundMs: BOUND_MS, signal },
    accepts: (message) => accessesOf(message).length > 0,
  });
  const named = hits
    .toReversed()
    .flatMap(({ message }) => accessesOf(message).map((access) => ({ message, access })));
  const exact = named.filter(({ access }) => access.path === asked);
  const sightings: FileSighting[] = [];
  for (const { message, access } of exact.length > 0 ? exact : named)
    sightings.push(await sightingOf(store, { call: message, access, signal }));
  return { sightings, isComplete: stoppedAt === null };
}

async function sightingOf(
  store: Store,
  {
    call,
    access,
    signal,
  }: { call: StoredMessage; access: FileAccess; signal?: AbortSignal | undefined },
): Promise<FileSighting> {
  const { tool, path, changes, isPart, written } = access;
  const { turn, conversation } = call;
  const about = { tool, path, changes, isPart, turn, conversation };
  const result = await resultOf(store, { call, callId: access.callId, signal });
  const isDone = result !== undefined && result.message.role === "toolResult";
  if (isDone && result.message.isError === true)
    return { ...about, changes: false, seq: result.seq, text: null, fileId: null, hasId: false };
  const isShown = isDone && !changes;
  const text = written ?? (isShown ? textOf(result.message) : null);
  const seq = written === null && isShown ? result.seq : call.seq;
  const fileId = text === null ? null : fileIdOf(text);
  const hasId = fileId !== null && (await patiently(() => isFileIn(store, seq, fileId), signal));
  const isCut = isShown && written === null && saysCut(textOf(result.message));
  return { ...about, isPart: isPart || isCut, seq, text, fileId, hasId };
}

/** Whether a call of this result's message read a file, or a call of the message wrote one. */
export const isOfFile = (store: Store, stored: StoredMessage): boolean => {
  const { message, seq, conversation } = stored;
  if (fileAccessesIn(message).some(({ written }) => written !== null)) return true;
  if (message.role !== "toolResult") return false;
  const call = messagesBetween(store, {
    ...{ scope: [conversation], from: seq - CALL_WITHIN, to: seq - 1, limit: CALL_WITHIN },
  }).findLast((before) =>
    fileAccessesIn(before.message).some(({ callId }) => callId === message.toolCallId),
  );
  return call !== undefined;
};

/** Ids of calls may be used again: the first result behind the call is its own. */
async function resultOf(
  store: Store,
  {
    call: { seq, conversation },
    callId,
    signal,
  }: { call: StoredMessage; callId: string; signal?: AbortSignal | undefined },
): Promise<StoredMessage | undefined> {
  const scope = [conversation];
  let from = seq + 1;
  for (let looked = 0; looked < RESULT_WITHIN; looked += AT_ONCE) {
    await pause(signal);
    const behind = await patiently(
      () => messagesBetween(store, { scope, from, to: Number.MAX_SAFE_INTEGER, limit: AT_ONCE }),
      signal,
    );
    const found = behind.find(
      ({ message }) => message.role === "toolResult" && message.toolCallId === callId,
    );
    if (found !== undefined || behind.length < AT_ONCE) return found;
    from = behind.at(-1)!.seq + 1;
  }
  return undefined;
}

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

/** Pure. `until`: number of the last message that counts; absent: all do. */
export function versionAt(
  sightings: readonly FileSighting[],
  until: number = Number.POSITIVE_INFINITY,
): FileVersion {
  const whole = sightings.filter(({ text, isPart }) => text !== null && !isPart);
  const ids = [...new Set(whole.map(({ fileId }) => fileId))];
  const byThen = sightings.filter(({ seq }) => seq <= until);
  const shown = whole.findLast(({ seq }) => seq <= until);
  return {
    shown,
    changedSince: byThen
      .slice(shown === undefined ? 0 : byThen.indexOf(shown) + 1)
      .filter(({ changes, text }) => changes && text === null),
    number: shown === undefined ? 0 : ids.indexOf(shown.fileId) + 1,
    of: ids.length,
  };
}
