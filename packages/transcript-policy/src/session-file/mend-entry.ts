// Decides what the content of a damaged entry should say instead.
import { decodeBase64, isBase64 } from "../images/base64.ts";
import { readImageHeader } from "../images/header.ts";
import { isImageBlock } from "../images/inspect.ts";
import { isBase64Signature } from "../passes/thought-signatures.ts";
import {
  isBlank,
  isBlankText,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  textBlock,
} from "../stored.ts";
import { TEXTS } from "../texts.ts";
import { type Entry, messageOf } from "./entry.ts";
import { type Edit, itemsOf, locate } from "./locate.ts";

/** How many of each kind of damage were mended. */
export interface MendCounts {
  /** Failed replies without content or reason, which were given a text. */
  rewrittenAssistantMessages: number;
  /** Blank messages of a person, which were given a text, or lost their blank parts. */
  rewrittenUserMessages: number;
  /** Pictures that could not be read. */
  removedCorruptedImageBlocks: number;
}

/** What an entry's content should be instead. */
export interface Mend extends MendCounts {
  /**
   * All of it, or for each of its blocks: the block to write instead, null to leave it out,
   * undefined to keep it.
   */
  content:
    | string
    | readonly [StoredBlock]
    | { blocks: readonly (StoredBlock | null | undefined)[] };
}

/**
 * Failed turns without content, damaged images and blank user messages (spec §6, 3 to 5); undefined
 * when nothing has to change.
 */
export function planMend(entry: Entry): Mend | undefined {
  const message = messageOf(entry);
  if (message === undefined) return undefined;
  const { content } = message;
  const isUser = roleOf(message) === "user";
  if (typeof content === "string")
    return isUser && isBlank(content) ? mendUser(TEXTS.blankUserFallback) : undefined;
  if (!Array.isArray(content)) return undefined;
  if (content.length === 0) return isUser ? mendUser(BLANK) : mendEmpty(message);
  const blocks = content.map((block: StoredBlock) => mendBlock(block, isUser));
  const changed = blocks.filter((block) => block !== undefined);
  if (changed.length === 0) return undefined;
  const removedCorruptedImageBlocks = changed.filter((block) => block !== null).length;
  const rewrittenUserMessages = changed.length > removedCorruptedImageBlocks ? 1 : 0;
  const isGone = blocks.every((block) => block === null);
  return {
    ...{ rewrittenAssistantMessages: 0, rewrittenUserMessages, removedCorruptedImageBlocks },
    content: isGone ? BLANK : { blocks },
  };
}

/** The same as edits of its line: what is kept stays as it was written. */
export function mendEdits(line: Buffer, { content }: Mend): Edit[] {
  const place = locate(line, ["message", "content"]);
  if (place === undefined) return [];
  if (typeof content === "string" || !("blocks" in content))
    return [{ ...place, text: JSON.stringify(content) }];
  const items = itemsOf(line, place.start);
  // A block goes with the comma before it; what stands before the first that is kept, with it too.
  const firstKept = content.blocks.findIndex((block) => block !== null);
  return content.blocks.flatMap((block, index) => {
    const { start, end } = items[index]!;
    if (block === undefined) return [];
    if (block !== null) return [{ start, end, text: JSON.stringify(block) }];
    return index < firstKept
      ? [{ start, end: items[index + 1]!.start, text: "" }]
      : [{ start: items[index - 1]!.end, end, text: "" }];
  });
}

const BLANK = [textBlock(TEXTS.blankUserFallback)] as const;

const mendUser = (content: Mend["content"]): Mend => ({
  ...{ rewrittenAssistantMessages: 0, rewrittenUserMessages: 1, removedCorruptedImageBlocks: 0 },
  content,
});

/** One that says why it failed is a whole record; what is sent of it is the replay's matter. */
function mendEmpty(message: StoredMessage): Mend | undefined {
  if (roleOf(message) !== "assistant" || message.stopReason !== "error") return undefined;
  if (typeof message.errorMessage === "string" && !isBlank(message.errorMessage)) return undefined;
  return {
    ...{ rewrittenAssistantMessages: 1, rewrittenUserMessages: 0, removedCorruptedImageBlocks: 0 },
    content: [textBlock(TEXTS.streamErrorFallback)],
  };
}

function mendBlock(block: StoredBlock, isUser: boolean): StoredBlock | null | undefined {
  if (isCorruptedImage(block)) return textBlock(TEXTS.corruptedImage);
  return isUser && isBlankText(block) ? null : undefined;
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
