// How a text is kept, compressed where that is asked for and makes it smaller.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { DICTIONARY } from "./dictionary.ts";

/** Shorter texts gain nothing. */
const LEAST_CHARS = 64;

const AGAINST = { dictionary: DICTIONARY };

/** What a column of either kind is given. */
export function keptText(text: string, compresses: boolean): string | Uint8Array {
  // Half of a surrogate pair would not survive it.
  if (!compresses || text.length < LEAST_CHARS || !text.isWellFormed()) return text;
  const compressed = zstdCompressSync(text, AGAINST);
  return compressed.length < Buffer.byteLength(text) ? compressed : text;
}

/** The text that was kept, whichever way. */
export const textKept = (value: unknown): string =>
  value instanceof Uint8Array ? zstdDecompressSync(value, AGAINST).toString("utf8") : String(value);
