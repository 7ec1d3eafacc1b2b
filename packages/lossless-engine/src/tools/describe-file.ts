// Shows what is kept of a file, and what it said at a turn.

import { type FileHistory, type FileSighting, versionAt } from "../files/versions.ts";
import type { StoredFile } from "../store/files.ts";
import { messagesWithFile } from "../store/files.ts";
import type { Scope } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { type SliceRequest, sliceOf } from "./slice.ts";

/** How to show a file. */
export interface FileRequest extends SliceRequest {
  /** What it said at this turn of the session. Absent: what it said last. */
  readonly turn?: number | undefined;
  /** False: only what is known about it. Absent: its text, too. */
  readonly expandFile?: boolean | undefined;
}

/** Calls, and messages, that are listed. */
const MOST_LISTED = 20;

/** A file by its id. `room`: characters of its text. */
export function describeStored(
  store: Store,
  { id, text }: StoredFile,
  { scope, asked, room }: { scope: Scope; asked: FileRequest; room: number },
): string {
  const holders = messagesWithFile(store, scope, id);
  const about = `${id} · ${sizeOf(text)} · in ${listed(holders.map((seq) => `#${seq}`))}`;
  return asked.expandFile === false ? about : `${about}\n${slice(text, { id, asked, room })}`;
}

/** A file by its path, as calls named it. `until`: number of the last message of the turn. */
export function describePath(
  path: string,
  { sightings, isComplete }: FileHistory,
  { asked, until, room }: { asked: FileRequest; until?: number | undefined; room: number },
): string {
  const paths = [...new Set(sightings.map((sighting) => sighting.path))];
  if (paths.length > 1) return `Several files end so; name one: ${listed(paths)}.`;
  const version = versionAt(sightings, until);
  const { shown, changedSince, number, of } = version;
  const at = asked.turn === undefined ? "" : ` at turn ${asked.turn}`;
  const count = `${sightings.length} ${sightings.length === 1 ? "call" : "calls"}`;
  const about = [
    `${paths[0] ?? path} · named by ${count}${isComplete ? "" : " or more"} · ${of} ${of === 1 ? "text" : "texts"} kept`,
    ...sightings.toReversed().slice(0, MOST_LISTED).map(lineOf),
    ...(sightings.length > MOST_LISTED ? [`… and ${sightings.length - MOST_LISTED} older`] : []),
  ].join("\n");
  if (shown === undefined)
    return `${about}\n\nIts whole text${at} is not kept: no call read or wrote all of it by then.`;
  const since =
    changedSince.length === 0
      ? ""
      : `; changed since, in ${listed(changedSince.map(({ seq }) => `#${seq}`))}`;
  const head = `Version ${number} of ${of}${at}, from #${shown.seq}, turn ${shown.turn}${since}:`;
  if (asked.expandFile === false) return `${about}\n\n${head.slice(0, -1)}.`;
  return `${about}\n\n${head}\n${slice(shown.text!, { id: paths[0]!, asked, room })}`;
}

function lineOf({ seq, turn, tool, text, isPart, fileId, hasId }: FileSighting): string {
  const part = isPart ? ["a part"] : [];
  const told = text === null ? [] : [sizeOf(text), ...part, ...(hasId ? [fileId!] : [])];
  return [`#${seq}`, `turn ${turn}`, tool, ...told].join(" · ");
}

function slice(
  text: string,
  { id, asked, room }: { id: string; asked: FileRequest; room: number },
): string {
  const { shown, from, to, isCut } = sliceOf(text, asked, room);
  if (!isCut && from === 0) return shown;
  const next = {
    id,
    offset: to,
    ...(asked.turn !== undefined && { turn: asked.turn }),
    ...(asked.toLine !== undefined && { toLine: asked.toLine }),
  };
  const more = isCut ? `; to go on: ${JSON.stringify(next)}` : "";
  return `${shown}\n\nCharacters ${from} to ${to} of ${text.length}${more}.`;
}

const sizeOf = (text: string) => `${text.length} characters, ${text.split("\n").length} lines`;

const listed = (names: readonly string[]) =>
  names.length <= MOST_LISTED
    ? names.join(", ")
    : `${names.slice(0, MOST_LISTED).join(", ")} and ${names.length - MOST_LISTED} more`;
