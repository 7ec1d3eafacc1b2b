// Decides which images are sent as they are, made smaller or replaced by a text.
import { inSlices } from "@clew/plugin-sdk/host";
import { decodeBase64 } from "../images/base64.ts";
import { ContentCache } from "../images/cache.ts";
import {
  completeLimits,
  type ImageCodec,
  type ImageLimits,
  type ImageSize,
} from "../images/codec.ts";
import { inspectImage, isImageBlock } from "../images/inspect.ts";
import { type Reduction, reduceImage } from "../images/reduce.ts";
import {
  defineAsyncPass,
  definePass,
  mapChanged,
  mapChangedInSlices,
  type Report,
} from "../pass.ts";
import { isBlankText, roleOf, type StoredBlock, type StoredMessage, textBlock } from "../stored.ts";
import { TEXTS } from "../texts.ts";

/** How images are measured and made smaller. */
export interface ImageOptions {
  /** Default: 1200 px a side, 5 MiB and 25 megapixels. */
  imageLimits?: Partial<ImageLimits>;
  /** Default: none, and then an image that is too large becomes a text. */
  imageCodec?: ImageCodec;
}

const LABEL = "session:history";
const CACHE_BYTES = 64 * 1024 * 1024;

/**
 * What became of large images; shared by all sessions of a process, because the same image gives
 * the same result.
 */
const reduced = new ContentCache<Reduction>(CACHE_BYTES);

/** Images already found to be fine: the block itself is the proof, and is free to look up. */
const accepted = new WeakMap<StoredBlock, string>();

/** Makes every image of a list of blocks sendable (rule R4); the same array when all are. */
export async function sanitizeContentBlocksImages<T extends object>(
  blocks: readonly T[],
  { label = LABEL, ...options }: ImageOptions & { label?: string } = {},
): Promise<readonly (T | { readonly [field: string]: unknown })[]> {
  const stored = blocks as readonly unknown[] as readonly StoredBlock[];
  const results = await Promise.all(
    stored.map((block) => (isImageBlock(block) ? sanitizeImage(block, label, options) : block)),
  );
  return results.every((block, index) => block === stored[index]) ? blocks : results;
}

/**
 * Makes the images of all messages sendable and removes blank text (rule R4). An emptied user
 * message or tool result gets a text, an emptied assistant message goes. Asynchronous because
 * images may have to be encoded again.
 */
export const sanitizeSessionMessagesImages = defineAsyncPass<ImageOptions & EmptyReplies>(
  "images",
  async (messages, options, report) => {
    const withImages: { message: StoredMessage; blocks: readonly StoredBlock[] }[] = [];
    await inSlices(messages, (message) => {
      const blocks = hasContent(message) ? contentOf(message) : undefined;
      if (blocks?.some(isImageBlock)) withImages.push({ message, blocks });
    });
    const replaced = new Map<StoredMessage, readonly StoredBlock[]>();
    for (const { message, blocks } of withImages)
      replaced.set(
        message,
        (await sanitizeContentBlocksImages(blocks, options)) as readonly StoredBlock[],
      );
    return mapChangedInSlices(messages, (message, index) =>
      settleContent(message, replaced.get(message), report, index, options),
    );
  },
);

/** What becomes of an assistant message that holds nothing. */
export interface EmptyReplies {
  /**
   * It goes (default), or a text says that it was empty: what was sent before it then stays as it
   * was, where two messages of the person would become one.
   */
  emptyReplies?: "drop" | "say";
}

const hasContent = (message: StoredMessage): boolean => {
  const role = roleOf(message);
  return (
    role === "toolResult" ||
    ((role === "user" || role === "custom" || role === "assistant") &&
      Array.isArray(message.content))
  );
};

/**
 * A tool result's content may have been stored as a text or a single block: that is worth keeping.
 */
function contentOf({ content }: StoredMessage): readonly StoredBlock[] {
  if (Array.isArray(content)) return content;
  if (typeof content === "string") return [textBlock(content)];
  return typeof content === "object" && content !== null ? [content as StoredBlock] : [];
}

/** Removes blank text, without a look at images (the synchronous half of rule R4). */
export const removeBlankContent = definePass<EmptyReplies>(
  "blank-content",
  (messages, options, report) =>
    mapChanged(messages, (message, index) =>
      settleContent(message, undefined, report, index, options),
    ),
);

/**
 * Blank text out, and what stands for nothing: the synchronous half of rule R4.
 * @internal
 */
export function settleContent(
  message: StoredMessage,
  withImages: readonly StoredBlock[] | undefined,
  report: Report,
  index: number,
  { emptyReplies = "drop" }: EmptyReplies = {},
): StoredMessage | undefined {
  if (!hasContent(message)) return message;
  const original = contentOf(message);
  const blocks = withImages ?? original;
  const kept = mapChanged(blocks, (block) => (isBlankText(block) ? undefined : block));
  if (kept.length === 0) {
    if (isCutOffEmpty(message)) return message;
    const goes = roleOf(message) === "assistant" && emptyReplies === "drop";
    report(
      goes ? "dropped" : "changed",
      index,
      goes ? "an assistant message without content" : "content that was empty",
    );
    return goes ? undefined : { ...message, content: [textBlock(TEXTS.emptyContent)] };
  }
  if (kept === message.content) return message;
  if (blocks !== original)
    report(
      "changed",
      index,
      "an image that was too large, damaged or of another type than it said",
    );
  if (kept !== blocks) report("changed", index, "blank text");
  if (!Array.isArray(message.content))
    report("changed", index, "tool result content that was no list of blocks");
  return { ...message, content: kept };
}

/**
 * True for a reply that reached its limit before it said anything: a fact of the session, which
 * stays in its history.
 * @internal
 */
export const isCutOffEmpty = ({ role, stopReason, content }: StoredMessage): boolean =>
  role === "assistant" && stopReason === "length" && Array.isArray(content) && content.length === 0;

async function sanitizeImage(
  block: StoredBlock,
  label: string,
  { imageLimits, imageCodec }: ImageOptions,
): Promise<StoredBlock> {
  const limits = completeLimits(imageLimits);
  const settings = Object.values(limits).join("/");
  if (accepted.get(block) === settings) return block;
  const inspection = inspectImage(block);
  if (!inspection.ok) return textBlock(`[${label}] ${inspection.reason}`);
  const size = inspection.header?.size ?? (await measure(inspection.data, imageCodec));
  if (size !== undefined && isWithin(size, inspection.bytes, limits)) {
    accepted.set(inspection.block, settings);
    return inspection.block;
  }
  const outcome = await reduced.get(
    inspection.data,
    `${settings}:${imageCodec === undefined}`,
    () => reduceImage(inspection.data, size, limits, imageCodec),
    (reduction) => (reduction.ok ? reduction.data.length : 0),
  );
  if (!outcome.ok) return textBlock(`[${label}] omitted image payload: ${outcome.reason}`);
  return { ...inspection.block, data: outcome.data, mimeType: "image/jpeg" };
}

function isWithin({ width, height }: ImageSize, bytes: number, limits: ImageLimits): boolean {
  return (
    Math.max(width, height) <= limits.maxDimensionPx &&
    width * height <= limits.maxPixels &&
    bytes <= limits.maxBytes
  );
}

/** The size as the library sees it; undefined when nobody can tell. */
async function measure(
  data: string,
  codec: ImageCodec | undefined,
): Promise<ImageSize | undefined> {
  try {
    return await codec?.sizeOf(decodeBase64(data));
  } catch {
    return undefined;
  }
}
