// Decides whether a piece of a session file is an entry.
import {
  decodeSteps,
  isRecord,
  parseJsonSteps,
  type Steps,
  stepsAtOnce,
} from "@clew/plugin-sdk/host";
import { nonBlank, parseJson, type StoredBlock, type StoredMessage } from "../stored.ts";
import { isSpace, ObjectScan } from "./scan.ts";

/** One parsed line. */
export type Entry = StoredBlock;

/**
 * The entry on a line; undefined when the line is no entry, or a message entry without a message.
 */
export function parseEntry(bytes: Buffer): Entry | undefined {
  const known = ahead.get(bytes);
  if (known !== undefined) return entryIn(known.value);
  if (mayNestDeeply(bytes) && !isWhole(bytes)) return undefined;
  return entryIn(parseJson(bytes.toString("utf8")));
}

/** Lines that were parsed before they are looked at. */
const ahead = new WeakMap<Buffer, { value: unknown }>();

/** Parses a line of many megabytes in steps, for `parseEntry`. */
export function* parseAheadSteps(bytes: Buffer): Steps<void> {
  if ((yield* nestingSteps(bytes)) && !isWhole(bytes)) return;
  const text = yield* decodeSteps(bytes);
  try {
    ahead.set(bytes, { value: yield* parseJsonSteps(text) });
  } catch {
    ahead.set(bytes, { value: undefined });
  }
}

/** The same of a line that was parsed already. */
export function entryIn(entry: unknown): Entry | undefined {
  if (!isRecord(entry)) return undefined;
  return entry.type !== "message" || hasMessage(entry) ? entry : undefined;
}

/** From here on, a line that is no JSON is found out by us: it ends the process of Node 26.10. */
const SAFE_DEPTH = 1000;

/** May be wrong about braces in texts, and costs next to nothing. */
const mayNestDeeply = (bytes: Buffer): boolean =>
  bytes.length >= 5 * SAFE_DEPTH && stepsAtOnce(nestingSteps(bytes));

const PIECE_BYTES = 2 ** 20;

function* nestingSteps(bytes: Buffer): Steps<boolean> {
  let depth = 0;
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const end = Math.min(bytes.length, from + PIECE_BYTES);
    for (let at = from; at < end; at++) {
      const byte = bytes[at];
      if (byte === 0x7b || byte === 0x5b) {
        if (++depth > SAFE_DEPTH) return true;
      } else if (byte === 0x7d || byte === 0x5d) depth--;
    }
    yield;
  }
  return false;
}

function isWhole(bytes: Buffer): boolean {
  const step = new ObjectScan().feed(bytes);
  return step.kind === "complete" && bytes.subarray(step.end).every((byte) => isSpace(byte));
}

/** True for the first entry of a session file. */
export const isHeader = (entry: Entry): boolean =>
  entry.type === "session" && typeof entry.id === "string" && entry.id !== "";

/** The entry's message; undefined for entries of other types. */
export const messageOf = (entry: Entry): StoredMessage | undefined =>
  entry.type === "message" ? (entry.message as StoredMessage) : undefined;

/** The entry's own id; undefined when it has none, as in files of version 1. */
export const entryId = ({ id }: Entry): string | undefined =>
  typeof id === "string" && id !== "" ? id : undefined;

/**
 * True for what can only be an entry: objects inside of messages (blocks, arguments of calls) are
 * found in damaged lines too, and are none.
 */
export function isSurelyEntry(entry: Entry): boolean {
  if (BLOCKS.has(entry.type)) return false;
  if (isHeader(entry) || (entry.type === "message" && hasMessage(entry))) return true;
  const isPlaced = entryId(entry) !== undefined && entry.parentId !== undefined;
  return typeof entry.type === "string" && isPlaced && typeof entry.timestamp === "string";
}

/** Types of what messages consist of. */
const BLOCKS: ReadonlySet<unknown> = new Set([
  ...["text", "thinking", "redacted_thinking", "toolCall", "toolResult", "image", "provider"],
]);

const hasMessage = ({ message }: Entry): boolean =>
  isRecord(message) && nonBlank((message as StoredMessage).role) !== undefined;
