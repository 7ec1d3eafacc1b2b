// What the lines of a checkpoint say of the entries of a session file.

import { crc32 } from "node:zlib";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import {
  ORIGIN,
  roleIn,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { z } from "zod";
import { fromJson, toJson } from "../own-json.ts";

/** Where the line of an entry stands in its file. */
export interface LinePlace {
  /** Where it begins, bytes. */
  start: number;
  /** Without the line feed, bytes. */
  length: number;
}

/** An entry, and where its line stands. */
export interface PlacedEntry extends LinePlace {
  entry: TranscriptEntry;
}

/** What a checkpoint knows of an entry without reading it. */
export interface EntryRow extends LinePlace {
  id: string;
  parentId: string | null;
  /** The entry that first said what this one says. */
  origin: string;
  /** Who speaks in it; undefined when it has no message, or one of another kind. */
  role: AgentMessage["role"] | undefined;
  /**
   * The whole entry, where it is small, or its type and the names of what has to be read; undefined
   * for a message as we write it, which nearly all are.
   */
  content: { entry: TranscriptEntry } | UnusualContent | undefined;
}

export interface UnusualContent {
  type: string;
  keys: readonly string[];
}

/** A session file at one moment. */
export interface FileStamp {
  /** Bytes. */
  size: number;
  /** CRC-32 of all of them. */
  crc: number;
  /** The last ones, to know the file again when it has grown: how many, and their CRC-32. */
  end: { length: number; crc: number };
  /** Of the last change, ns since the epoch; no program can set it back. */
  ctime: string;
  /** Device and number. */
  inode: string;
}

/** How a line names those who speak. */
const LETTERS: Partial<Record<AgentMessage["role"], string>> = {
  user: "u",
  assistant: "a",
  toolResult: "t",
};
const NOBODY = "-";
const ROLES: Readonly<Record<string, AgentMessage["role"]>> = Object.fromEntries(
  Object.entries(LETTERS).map(([role, letter]) => [letter, role as AgentMessage["role"]]),
);

/** Known from the row. */
const ROW_KEYS: ReadonlySet<string> = new Set(["type", "id", "parentId"]);
/** What else a message has, as we write it. */
const MESSAGE_KEYS: readonly string[] = ["timestamp", "message"];
/** Entries that are no messages are kept whole up to this many bytes. */
const SMALL_BYTES = 1024;

const StampSchema = z.object({
  size: z.number(),
  crc: z.number(),
  end: z.object({ length: z.number(), crc: z.number() }),
  ctime: z.string(),
  inode: z.string(),
}) satisfies z.ZodType<FileStamp>;

const LineSchema = z.object({
  /** Where the first line of the entries begins; the others follow without a gap. */
  start: z.number(),
  /** Between spaces, or as a list when one of them holds a space: a list takes long to check. */
  ids: z.union([z.string(), z.array(z.string())]),
  lengths: z.custom<number[]>(isNumbers),
  /** A letter for each: who speaks in it. */
  roles: z.string(),
  /** By index: a parent that is not the entry before. */
  parents: z.record(z.string(), z.string().nullable()).optional(),
  /** By index: who first said it, where that is another entry. */
  origins: z.record(z.string(), z.string()).optional(),
  /** By index: entries that are small and no messages, and messages of role "custom". */
  small: z.record(z.string(), z.looseObject({ type: z.string(), id: z.string() })).optional(),
  /** By index: other entries that are no messages as we write them. */
  unusual: z
    .record(z.string(), z.object({ type: z.string(), keys: z.array(z.string()) }))
    .optional(),
  stamp: StampSchema,
});
type Line = z.infer<typeof LineSchema>;

function isNumbers(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}

const HeadSchema = z.object({
  v: z.literal(2),
  header: z.looseObject({ type: z.literal("session"), id: z.string() }),
});

export const formatHead = (header: TranscriptHeader): string => sealed({ v: 2, header });

/** Undefined when the line is none of ours. */
export function parseHead(line: Buffer): TranscriptHeader | undefined {
  return HeadSchema.safeParse(readSealed(line)).data?.header as TranscriptHeader | undefined;
}

/** One line for entries that follow each other without a gap. `before`: the entry before them. */
export function formatLine(
  placed: readonly PlacedEntry[],
  { before, stamp }: { before: string | null; stamp: FileStamp },
): string {
  const line: Line = {
    start: placed[0]?.start ?? stamp.size,
    ids: joined(placed.map(({ entry }) => entry.id)),
    lengths: placed.map(({ length }) => length),
    roles: placed.map(({ entry }) => LETTERS[roleIn(entry) ?? "custom"] ?? NOBODY).join(""),
    stamp,
  };
  let previous = before;
  for (const [index, { entry, length }] of placed.entries()) {
    const { id, parentId, type } = entry;
    if (parentId !== previous) line.parents = { ...line.parents, [index]: parentId };
    const origin = originOf(entry);
    if (origin !== id) line.origins = { ...line.origins, [index]: origin };
    const keys = Object.keys(entry).filter((key) => !ROW_KEYS.has(key));
    if (isPrivate(entry) || (type !== "message" && length <= SMALL_BYTES))
      line.small = { ...line.small, [index]: { ...entry } };
    else if (type !== "message" || !isUsual(keys))
      line.unusual = { ...line.unusual, [index]: { type, keys } };
    previous = id;
  }
  return sealed(line);
}

/** What one line says, before its rows are looked at. */
export type CheckpointLine = Omit<Line, "ids"> & { ids: readonly string[] };

/** Undefined when the line is none of ours. */
export function parseLine(text: Buffer): CheckpointLine | undefined {
  const line = LineSchema.safeParse(readSealed(text)).data;
  if (line === undefined) return undefined;
  const { lengths, roles } = line;
  const ids = typeof line.ids === "string" ? line.ids.split(" ") : line.ids;
  return ids.length === lengths.length && ids.length === roles.length
    ? { ...line, ids }
    : undefined;
}

const joined = (ids: readonly string[]): string | string[] =>
  ids.length === 0 || ids.some((id) => id.includes(" ")) ? [...ids] : ids.join(" ");

/** True when every entry of the line follows the one before. */
export const isLinear = ({ parents }: CheckpointLine): boolean => parents === undefined;

/** Calls `take` for each row of a line. `before`: the entry before the first one. */
export function forEachRow(
  { start: from, ids, lengths, roles, parents, origins, small, unusual }: CheckpointLine,
  before: string | null,
  take: (row: EntryRow) => void,
): void {
  let start = from;
  let previous = before;
  // Plain, because there may be a hundred thousand.
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index]!;
    const length = lengths[index]!;
    const parentId = parents?.[index];
    const entry = small?.[index] as TranscriptEntry | undefined;
    take({
      id,
      start,
      length,
      parentId: parentId === undefined ? previous : parentId,
      origin: origins?.[index] ?? id,
      role: ROLES[roles[index]!],
      content: entry === undefined ? unusual?.[index] : { entry },
    });
    start += length + 1;
    previous = id;
  }
}

/** What engines may not be told of has to be looked at, so it is not read late. */
const isPrivate = (entry: TranscriptEntry) =>
  entry.type === "message" && entry[ORIGIN] === undefined && entry.message.role === "custom";

const isUsual = (keys: readonly string[]) =>
  keys.length === MESSAGE_KEYS.length && MESSAGE_KEYS.every((key) => keys.includes(key));

/** The entry that first said what this one says, as it claims itself. */
export function originOf(entry: TranscriptEntry): string {
  if (entry[ORIGIN] !== undefined) return entry[ORIGIN];
  if (entry.type === "message") return messageId(entry.message) ?? entry.id;
  return entry.__openclaw?.id ?? entry.id;
}

/** As a line that shows whether it is still what was written. */
function sealed(value: object): string {
  const json = toJson(value);
  return `${crc32(json)} ${json}\n`;
}

/** Undefined when the line is not what was written. */
function readSealed(line: Buffer): unknown {
  const space = line.indexOf(" ");
  const json = line.subarray(space + 1);
  const isWhole = String(crc32(json)) === line.toString("utf8", 0, Math.max(0, space));
  return isWhole ? fromJson(json.toString("utf8")) : undefined;
}
