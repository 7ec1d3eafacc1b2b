// Decides what the first line of a session file is, where it is damaged or missing.
import { isRecord } from "@clew/plugin-sdk/host";
import { parseJson } from "../stored.ts";
import type { Entry } from "./entry.ts";
import { locate, withEdits } from "./locate.ts";

/** What is known of a session whose header is not there. */
export interface HeaderSource {
  /** What stands before the first entry and is none: what is left of the header, perhaps. */
  remains: readonly string[];
  /** Name of the file, without the folder. */
  fileName: string;
  /** The first entry with a place in the tree, or a message. */
  first: Entry;
  /** True: a message has a role of version 2 that version 3 calls something else. */
  isVersion2: boolean;
  /** ms since the epoch, in case nothing says when the session began. */
  now: number;
}

/** The line, rebuilt from what is left of it, the file's name and the first entry. */
export function planHeader({ remains, fileName, first, isVersion2, now }: HeaderSource): string {
  const text = remains.find(isHeaderLike) ?? "";
  const { id, timestamp, cwd, type: _type, version: _version, ...others } = fieldsIn(text);
  const version = versionIn(text) ?? (typeof first.id !== "string" ? 1 : isVersion2 ? 2 : 3);
  return JSON.stringify({
    type: "session",
    version,
    id: idOf(idIn(id), sessionIdIn(fileName)),
    timestamp: dateIn(timestamp) ?? dateIn(first.timestamp) ?? new Date(now).toISOString(),
    cwd: typeof cwd === "string" ? cwd : "",
    ...others,
  });
}

/**
 * The header with the id that its file's name says; undefined where damage does not explain that
 * they differ, and a person may have renamed the file.
 */
export function withIdOfFile(line: Buffer, { id }: Entry, fileName: string): Buffer | undefined {
  const told = sessionIdIn(fileName);
  if (typeof id !== "string" || !UUID.test(told) || !isDamaged(id, told)) return undefined;
  const place = locate(line, ["id"]);
  return place && withEdits(line, [{ ...place, text: JSON.stringify(told) }]);
}

/** What is left of an id ends where a damaged quote does. */
function idOf(left: string | undefined, told: string): string {
  if (left === undefined) return told;
  const isTold = UUID.test(told) && (told.startsWith(left) || isDamaged(left, told));
  return isTold ? told : left;
}

// Ids that people make up may be one character apart, as "s1" and "s3" are.
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** True: one character lost, added or changed, or several that nobody can read, make it `id`. */
function isDamaged(id: string, told: string): boolean {
  if (id === told) return false;
  const others = [...id].filter((sign, at) => sign !== told[at]);
  if (id.length === told.length && others.every((sign) => sign < " " || sign === "\uFFFD"))
    return true;
  const differs = [...told].findIndex((sign, at) => sign !== id[at]);
  const from = differs < 0 ? told.length : differs;
  const rests = [
    [id.slice(from + 1), told.slice(from + 1)],
    [id.slice(from), told.slice(from + 1)],
    [id.slice(from + 1), told.slice(from)],
  ];
  return rests.some(([left, right]) => left === right);
}

/** True for a first line that was a header once, and lacks now what makes it one. */
export const isBrokenHeader = (entry: Entry): boolean =>
  entry.parentId === undefined &&
  entry.message === undefined &&
  (entry.type === "session" || typeof entry.cwd === "string");

const SIGNS = ['"session"', '"version"', '"cwd"', '"timestamp"'];

/** A line that was torn at its beginning may be anything's end, and its fields another thing's. */
export const isHeaderLike = (text: string): boolean =>
  !text.includes('"message"') && SIGNS.filter((sign) => text.includes(sign)).length >= 2;

const FIELD = /"([A-Za-z]\w*)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** The texts that can be read whole. */
function fieldsIn(text: string): Record<string, unknown> {
  const whole = parseJson(text);
  if (isRecord(whole)) return whole;
  const fields = [...text.matchAll(FIELD)].map(([, name, value]) => [name!, parseJson(value!)]);
  // Where the quote behind a text was lost, it ends with what is behind it.
  return Object.fromEntries(fields.filter(([, value]) => !/^$|,$/.test(String(value ?? ""))));
}

function versionIn(text: string): number | undefined {
  const [, version] = /"version"\s*:\s*([123])\b/.exec(text) ?? [];
  return version === undefined ? undefined : Number(version);
}

const idIn = (value: unknown): string | undefined =>
  typeof value === "string" && /^[\w.:-]+$/.test(value) ? value : undefined;

const dateIn = (value: unknown): string | undefined =>
  typeof value === "string" && !Number.isNaN(Date.parse(value)) ? value : undefined;

/** Some hosts put the day before the id. */
const sessionIdIn = (fileName: string): string =>
  fileName.replace(/\.jsonl.*$/, "").replace(/^\d{4}-\d{2}-\d{2}T[\d-]+Z?_/, "") || "session";
