// Whether a wire takes an image block as it is.
import { type StoredBlock, textBlock } from "../stored.ts";
import type { WireRules } from "../wires.ts";
import { inspectImage, isImageBlock } from "./inspect.ts";

/** Images found fine for a wire; the block itself is the proof. */
const accepted = new WeakMap<StoredBlock, WireRules["images"]>();

/** Why this wire rejects the image; undefined when it takes it, or when the block is no image. */
export function explainImage(
  block: StoredBlock,
  { images }: Pick<WireRules, "images">,
): string | undefined {
  if (!isImageBlock(block) || accepted.get(block) === images) return undefined;
  const inspection = inspectImage(block);
  if (!inspection.ok) return inspection.reason;
  const { mimeType } = inspection.block;
  const trueType = inspection.header?.mimeType ?? mimeType;
  if (inspection.block !== block || trueType !== mimeType)
    return `omitted image payload: it is not the ${String(block.mimeType)} it says`;
  if (images.mimeTypes?.includes(String(mimeType)) === false)
    return `omitted image payload: ${String(mimeType)} is not supported`;
  const { width, height } = inspection.header?.size ?? { width: 0, height: 0 };
  if (inspection.bytes > images.maxBytes || Math.max(width, height) > (images.maxSide ?? Infinity))
    return "omitted image payload: it is too large to send";
  accepted.set(block, images);
  return undefined;
}

/**
 * The block to send instead: the image with its true type where that is enough, else a text;
 * undefined when nothing is wrong.
 */
export function renderImageFault(
  block: StoredBlock,
  wire: Pick<WireRules, "images">,
): StoredBlock | undefined {
  const fault = explainImage(block, wire);
  if (fault === undefined) return undefined;
  const inspection = inspectImage(block);
  if (inspection.ok) {
    const mended = {
      ...inspection.block,
      mimeType: inspection.header?.mimeType ?? inspection.block.mimeType,
    };
    if (explainImage(mended, wire) === undefined) return mended;
  }
  return textBlock(`[session:history] ${fault}`);
}
