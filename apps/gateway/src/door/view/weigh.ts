// How many tokens a part of a body has, told fast and by its bytes.
import { isRecord } from "@clew/plugin-sdk/host";
import type { JsonObject } from "../wires/door-wire.ts";

export const BYTES_PER_TOKEN = 4;
/** Of an image, whatever its size: most models scale it to about this. */
const IMAGE_BYTES = 4_800;
/** Names, quotes and commas of one member. */
const MEMBER_BYTES = 6;

/** Nearly the bytes of its JSON, by four; an image counts as one. */
export const tokensOf = (value: unknown): number => Math.ceil(bytesOf(value) / BYTES_PER_TOKEN);

const WEIGHED = new WeakMap<JsonObject, number>();

/** The same, of a message that comes with each request again. */
export function tokensOfMessage(message: JsonObject): number {
  const known = WEIGHED.get(message) ?? tokensOf(message);
  WEIGHED.set(message, known);
  return known;
}

function bytesOf(value: unknown, name = ""): number {
  if (typeof value === "string")
    return isImage(value, name) ? IMAGE_BYTES : Buffer.byteLength(value);
  if (Array.isArray(value)) {
    let bytes = 2;
    for (const item of value) bytes += bytesOf(item, name) + 1;
    return bytes;
  }
  if (!isRecord(value)) return 5;
  let bytes = 2;
  for (const key in value) bytes += key.length + MEMBER_BYTES + bytesOf(value[key], key);
  return bytes;
}

const IMAGE_MEMBERS = new Set(["data", "url", "image_url", "file_data"]);
const LEAST_IMAGE = 512;

/** Long, in a member that holds files, and without a space: base64. */
const isImage = (text: string, name: string): boolean =>
  text.length >= LEAST_IMAGE &&
  IMAGE_MEMBERS.has(name) &&
  (text.startsWith("data:") || !/\s/.test(text.slice(0, LEAST_IMAGE)));
