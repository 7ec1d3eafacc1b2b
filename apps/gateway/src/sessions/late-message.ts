// Makes messages that read their long texts only when somebody asks.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { MAX_LEVELS, markAsFixed } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { LinePlace } from "./checkpoint-lines.ts";

/** Where long texts are read. */
export interface MessageReader {
  /** The message as its file says it. Throws what reading throws. */
  readMessage(): AgentMessage;
}

/** A line of a session file that holds a message. */
export interface MessageLine extends LinePlace, MessageReader {
  /** The id that the message is known by. */
  origin: string;
}

/** What would stand in the place of a shorter line takes as much, bytes. */
const LONG_LINE = 1024;
/** Characters of a text from which on it is left in the file. */
const LONG_TEXT = 512;

/** Bytes of a line that `shortEntry` keeps, about. */
export const shortBytes = ({ length }: LinePlace): number => Math.min(length, LONG_LINE);

/**
 * `entry`, as its line says it, as it is kept where long texts are not: its message and all parts
 * of that are the same objects for good, and a long text is read anew whenever it is asked for.
 * Undefined where the line is short, holds no message, or one that nobody can stand in for.
 */
export function shortEntry(entry: TranscriptEntry, line: MessageLine): TranscriptEntry | undefined {
  if (line.length < LONG_LINE || entry.type !== "message" || isOdd(entry.message, MAX_LEVELS - 1))
    return undefined;
  const { message: whole } = entry;
  const message = lateObject(whole, { message: line, role: whole.role, path: [] });
  message.__openclaw = Object.freeze({ ...whole.__openclaw, id: line.origin });
  markAsFixed(message);
  return Object.freeze({ ...entry, message: Object.freeze(message) as object as AgentMessage });
}

/** True where a key would change what a copy inherits from, or parts are nested too deeply. */
function isOdd(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0 || Object.hasOwn(value, "__proto__")) return true;
  return Object.values(value).some((part) => isOdd(part, levels - 1));
}

/** Where a part of a message is read: the keys that lead to it. */
interface LatePlace {
  message: MessageReader;
  role: AgentMessage["role"];
  path: readonly (string | number)[];
}

const PLACE = Symbol("place");

interface LatePart {
  [PLACE]: LatePlace;
}

/**
 * How a text with this key is read. The same function for all of them, so that objects with the
 * same keys have one hidden class, as late entries do.
 */
const readers = new Map<string, PropertyDescriptor>();
/** Calls may have arguments of any name; those of more names are kept. */
const MAX_READERS = 256;

function readerOf(key: string): PropertyDescriptor | undefined {
  const known = readers.get(key);
  if (known !== undefined || readers.size >= MAX_READERS) return known;
  const reader = {
    enumerable: true,
    get(this: LatePart) {
      const { message, path } = this[PLACE];
      return [...path, key].reduce<unknown>(partOf, message.readMessage());
    },
  };
  readers.set(key, reader);
  return reader;
}

const partOf = (whole: unknown, key: string | number) =>
  (whole as Record<string | number, unknown>)[key];

/** Not frozen yet; its parts are. */
function lateObject(whole: object, place: LatePlace): Record<PropertyKey, unknown> {
  const late: Record<PropertyKey, unknown> = {};
  let isLate = false;
  for (const key of Object.keys(whole)) {
    const value = partOf(whole, key);
    const reader = isBulk(key, value, place) ? readerOf(key) : undefined;
    if (reader === undefined) late[key] = latePart(value, place, key);
    else Object.defineProperty(late, key, reader);
    isLate ||= reader !== undefined;
  }
  if (isLate) Object.defineProperty(late, PLACE, { value: place });
  return late;
}

function latePart(value: unknown, whole: LatePlace, key: string | number): unknown {
  if (typeof value !== "object" || value === null) return value;
  const place = { ...whole, path: [...whole.path, key] };
  return Object.freeze(
    Array.isArray(value)
      ? value.map((part, index) => latePart(part, place, index))
      : lateObject(value, place),
  );
}

/**
 * What tools were given and gave back, and pictures, are the bulk of a session. What was said
 * stays, because every policy looks whether it is blank.
 */
const isBulk = (key: string, value: unknown, { role, path }: LatePlace): boolean =>
  typeof value === "string" &&
  value.length >= LONG_TEXT &&
  (BULKY_ROLES.has(role) || key === "data" || path.includes("arguments"));

const BULKY_ROLES: ReadonlySet<AgentMessage["role"]> = new Set(["toolResult", "bashExecution"]);
