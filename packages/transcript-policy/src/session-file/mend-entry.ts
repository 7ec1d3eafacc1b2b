// Decides what one damaged line of a session file should say instead.
import { decodeBase64, isBase64 } from "../images/base64.ts";
import { readImageHeader } from "../images/header.ts";
import { isImageBlock } from "../images/inspect.ts";
import { mapChanged } from "../pass.ts";
import { isBase64Signature } from "../passes/thought-signatures.ts";
import {
  isBlank,
  isBlankText,
  nonBlank,
  parseJson,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  textBlock,
} from "../stored.ts";
import { TEXTS } from "../texts.ts";

/** One parsed line. */
export type Entry = StoredBlock;

/** How many of each kind of damage were mended. */
export interface MendCounts {
  /** Failed replies without content, which were given a text. */
  rewrittenAssistantMessages: number;
  /** Blank messages of a person, which were given a text, or lost their blank parts. */
  rewrittenUserMessages: number;
  /** Pictures that could not be read. */
  removedCorruptedImageBlocks: number;
}

export interface MendedEntry extends MendCounts {
  /** The very entry that was given when nothing had to change. */
  entry: Entry;
}

/**
 * The entry on a line; undefined when the line is no entry, or a message entry without a message.
 */
export function parseEntry(line: string): Entry | undefined {
  const entry = parseJson(line);
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return undefined;
  const { type, message } = entry as Entry;
  if (type !== "message") return entry as Entry;
  return typeof message === "object" &&
    message !== null &&
    nonBlank((message as StoredMessage).role) !== undefined
    ? (entry as Entry)
    : undefined;
}

/** True for the first entry of a session file. */
export const isHeader = (entry: Entry): boolean =>
  entry.type === "session" && typeof entry.id === "string" && entry.id !== "";

/** The entry's message; undefined for entries of other types. */
export const messageOf = (entry: Entry): StoredMessage | undefined =>
  entry.type === "message" ? (entry.message as StoredMessage) : undefined;

/** Mends failed turns without content, damaged images and blank user messages (spec §6, 3 to 5). */
export function mendEntry(entry: Entry): MendedEntry {
  const message = messageOf(entry);
  if (message === undefined)
    return {
      entry,
      rewrittenAssistantMessages: 0,
      rewrittenUserMessages: 0,
      removedCorruptedImageBlocks: 0,
    };
  const spoken = mendAssistant(message);
  const shown = mendImages(spoken);
  const asked = mendUser(shown.message);
  return {
    entry: asked === message ? entry : { ...entry, message: asked },
    rewrittenAssistantMessages: spoken === message ? 0 : 1,
    rewrittenUserMessages: asked === shown.message ? 0 : 1,
    removedCorruptedImageBlocks: shown.removed,
  };
}

function mendAssistant(message: StoredMessage): StoredMessage {
  const isEmpty = Array.isArray(message.content) && message.content.length === 0;
  if (roleOf(message) !== "assistant" || message.stopReason !== "error" || !isEmpty) return message;
  return { ...message, content: [textBlock(TEXTS.streamErrorFallback)] };
}

function mendImages(message: StoredMessage): { message: StoredMessage; removed: number } {
  if (!Array.isArray(message.content)) return { message, removed: 0 };
  let removed = 0;
  const content = mapChanged(message.content as readonly StoredBlock[], (block) => {
    if (!isCorruptedImage(block)) return block;
    removed += 1;
    return textBlock(TEXTS.corruptedImage);
  });
  return { message: removed === 0 ? message : { ...message, content }, removed };
}

// Enough characters of base64 for every signature at the start of an image.
const MAGIC_CHARACTERS = 64;

function isCorruptedImage(block: StoredBlock): boolean {
  if (!isImageBlock(block)) return false;
  const mimeType = block.mimeType ?? block.mediaType ?? block.media_type;
  if (
    typeof mimeType !== "string" ||
    !mimeType.trim().toLowerCase().startsWith("image/") ||
    typeof block.data !== "string"
  )
    return false;
  const isCanonical = isBase64(block.data) && isBase64Signature(block.data.slice(-4));
  return (
    !isCanonical ||
    readImageHeader(decodeBase64(block.data.slice(0, MAGIC_CHARACTERS))) === undefined
  );
}

function mendUser(message: StoredMessage): StoredMessage {
  if (roleOf(message) !== "user") return message;
  const { content } = message;
  if (typeof content === "string")
    return isBlank(content) ? { ...message, content: TEXTS.blankUserFallback } : message;
  if (!Array.isArray(content)) return message;
  const kept = content.filter((block) => !isBlankText(block));
  if (kept.length === content.length && kept.length > 0) return message;
  return { ...message, content: kept.length === 0 ? [textBlock(TEXTS.blankUserFallback)] : kept };
}
