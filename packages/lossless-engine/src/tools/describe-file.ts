// Shows what is kept of a file, and what it said at a turn.

import { type FileHistory, type FileSighting, versionAt } from "../files/versions.ts";
import type { StoredFile } from "../store/files.ts";
import { messagesWithFile } from "../store/files.ts";
import type { Scope } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { partOf } from "./part.ts";
import { nameShown } from "./quoted.ts";
import type { SliceRequest } from "./slice.ts";

/** How to show a file. */
export interface FileRequest extends SliceRequest {
  /** What it said at this turn of the session. Absent: what it said last. */
  readonly turn?: number | undefined;
  /** False: only what is known about it. Absent: its text, too. */
  readonly expandFile?: boolean | undefined;
}

interface FileLimits {
  asked: FileRequest;
  /** Arguments that say where to look. */
  where: object;
  /** Characters of its text. */
  room: number;
}

/** Calls, and messages, that are listed. */
const MOST_LISTED = 20;

/** A file by its id. */
export function describeStored(
  store: Store,
  { id, text }: StoredFile,
  { scope, asked, where, room }: { scope: Scope } & FileLimits,
): string {
  const holders = messagesWithFile(store, scope, id);
  const about = `${id} · ${sizeOf(text)} · in ${listed(holders.map((seq) => `#${seq}`))}`;
  return asked.expandFile === false
    ? about
    : `${about}\n${partOf(text, { asked, next: { id, ...where }, room }).shown}`;
}

/** A file by its path, as calls named it. `until`: number of the last message of the turn. */
export function describePath(
  path: string,
  { sightings, isComplete }: FileHistory,
  { asked, where, until, room }: { until?: number | undefined } & FileLimits,
): string {
  const paths = [...new Set(sightings.map((sighting) => sighting.path))];
  if (paths.length > 1) return `Several files end so; name one: ${listed(paths.map(nameShown))}.`;
  const version = versionAt(sightings, until);
  const { shown, changedSince, number, of } = version;
  const at = asked.turn === undefined ? "" : ` at turn ${asked.turn}`;
  const count = `${sightings.length} ${sightings.length === 1 ? "call" : "calls"}`;
  const about = [
    `${nameShown(paths[0] ?? path)} · named by ${count}${isComplete ? "" : " or more"} · ${of} ${of === 1 ? "text" : "texts"} kept`,
    ...sightings.toReversed().slice(0, MOST_LISTED).map(lineOf),
    ...(sightings.length > MOST_LISTED ? [`… and ${sightings.length - MOST_LISTED} older`] : []),
  ].join("\n");
  if (shown === undefined)
    return `${about}\n\nIts whole text${at} is not kept: no call read or wrote all of it by then.${partsBy(sightings, until)}`;
  const since =
    changedSince.length === 0
      ? ""
      : `; changed since, in ${listed(changedSince.map(({ seq }) => `#${seq}`))}`;
  const head = `Version ${number} of ${of}${at}, from #${shown.seq}, turn ${shown.turn}${since}:`;
  if (asked.expandFile === false) return `${about}\n\n${head.slice(0, -1)}.`;
  const { turn } = asked;
  const next = { id: paths[0]!, ...(turn !== undefined && { turn }), ...where };
  return `${about}\n\n${head}\n${partOf(shown.text!, { asked, next, room }).shown}`;
}

/** Where to read what is known of it; nothing where no part is. */
function partsBy(sightings: readonly FileSighting[], until = Number.POSITIVE_INFINITY): string {
  const parts = sightings.filter(
    ({ seq, text, isPart }) => seq <= until && text !== null && isPart,
  );
  return parts.length === 0
    ? ""
    : ` Parts of it are in ${listed(parts.map(({ seq }) => `#${seq}`))}.`;
}

function lineOf({ seq, turn, tool, text, isPart, fileId, hasId }: FileSighting): string {
  const part = isPart ? ["a part"] : [];
  const told = text === null ? [] : [sizeOf(text), ...part, ...(hasId ? [fileId!] : [])];
  return [`#${seq}`, `turn ${turn}`, nameShown(tool), ...told].join(" · ");
}

const sizeOf = (text: string) => `${text.length} characters, ${text.split("\n").length} lines`;

const listed = (names: readonly string[]) =>
  names.length <= MOST_LISTED
    ? names.join(", ")
    : `${names.slice(0, MOST_LISTED).join(", ")} and ${names.length - MOST_LISTED} more`;
