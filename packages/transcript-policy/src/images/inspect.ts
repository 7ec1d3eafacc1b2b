// What is wrong with a stored image block, told without decoding the picture.
import { fieldOf, type StoredBlock } from "../stored.ts";
import { decodeBase64, decodedLength, isBase64 } from "./base64.ts";
import { type ImageHeader, readImageHeader } from "./header.ts";

export type Inspection =
  | { ok: false; reason: string }
  | { ok: true; block: StoredBlock; data: string; bytes: number; header: ImageHeader | undefined };

/**
 * Enough characters for the header of every kind we read, and a JPEG's segments up to its frame.
 */
const HEADER_CHARACTERS = 4096;

/**
 * The image's data without blanks and its true type, or why it is not an image. `block` is the same
 * object when nothing differs.
 */
export function inspectImage(block: StoredBlock): Inspection {
  const { data: stored, mimeType } = block;
  if (typeof stored !== "string" || typeof mimeType !== "string")
    return { ok: false, reason: "omitted image payload: missing data or mimeType" };
  const data = /\s/.test(stored) ? stored.replace(/\s+/g, "") : stored;
  if (data === "") return { ok: false, reason: "omitted empty image payload" };
  if (!isBase64(data)) return { ok: false, reason: "omitted image payload: invalid base64" };
  const trueType = mimeOf(data) ?? mimeType;
  const same = data === stored && trueType === mimeType;
  return {
    ok: true,
    block: same ? block : { ...block, data, mimeType: trueType },
    data,
    bytes: decodedLength(data),
    header: headerOf(data),
  };
}

/** The three kinds whose first characters in base64 are certain. */
function mimeOf(data: string): string | undefined {
  if (data.startsWith("/9j/")) return "image/jpeg";
  if (data.startsWith("iVBOR")) return "image/png";
  return data.startsWith("R0lGOD") ? "image/gif" : undefined;
}

function headerOf(data: string): ImageHeader | undefined {
  const start = readImageHeader(decodeBase64(data.slice(0, HEADER_CHARACTERS)));
  // Camera JPEGs may hold a long preview before their size.
  return start?.size === undefined && start !== undefined && data.length > HEADER_CHARACTERS
    ? readImageHeader(decodeBase64(data))
    : start;
}

export const isImageBlock = (block: StoredBlock): boolean => fieldOf(block, "type") === "image";
