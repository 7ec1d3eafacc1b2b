// Hides the gateway's own keys in what a model server says of an error.
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { SECRET_NAME } from "@clew/plugin-sdk/host";
import type { UpstreamAnswer } from "./ask-upstream.ts";
import { headerOf } from "./raw-headers.ts";
import { SecretFinder } from "./secret-finder.ts";
import type { SecretReader } from "./secret-reader.ts";
import { readerOf } from "./secret-writings.ts";

/** Shorter ones are hardly secret, and found in any text. */
const LEAST_CHARS = 8;

/**
 * The answer, in which each letter of a key is a "*": in its headers, in all that comes with the
 * status of an error, and in what a stream says of one. A reply stays as it is: it may speak of a
 * file that its client has. `sent`: the headers with which the gateway signed in, by name.
 */
export function hideKeys(
  answer: UpstreamAnswer,
  sent: Readonly<Record<string, string>>,
): UpstreamAnswer {
  const keys = Object.entries(sent).flatMap(([name, value]) => {
    const key = value.replace(/^[\w-]+ /, "");
    return SECRET_NAME.test(name) && key.length >= LEAST_CHARS ? [key] : [];
  });
  if (keys.length === 0) return answer;
  const all = keys.map(readerOf);
  const headers = answer.headers.map(([name, value]) => [name, maskText(value, all)] as const);
  const isError = answer.status >= 400;
  const packing = headerOf(answer.headers, "content-encoding")?.trim().toLowerCase() ?? "identity";
  if (!isError && packing !== "identity") return { ...answer, headers };
  if (!isError) {
    const masks = all.map((reader) => new KeyMask(reader, false));
    return { ...answer, headers, bytes: masks.reduce(hidden, answer.bytes) };
  }
  const masks = all.map((reader) => new KeyMask(reader, true));
  const unpack = UNPACK[packing];
  if (unpack === undefined)
    return { ...answer, headers, bytes: masks.reduce(hidden, answer.bytes) };
  return {
    ...answer,
    headers: headers.filter(([name]) => !PACKED.has(name.toLowerCase())),
    bytes: masks.reduce(hidden, unpacked(answer.bytes, unpack())),
  };
}

const PACKED = new Set(["content-encoding", "content-length"]);

const UNPACK: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Headers have the letters of Latin-1. */
const maskText = (text: string, readers: readonly SecretReader[]): string =>
  readers.reduce((left, reader) => {
    const bytes = Buffer.from(left, "latin1");
    const found = new SecretFinder(reader).push(bytes);
    for (const { start, end } of found) bytes.fill("*", start, end);
    return found.length === 0 ? left : bytes.toString("latin1");
  }, text);

async function* unpacked(bytes: AsyncIterable<Uint8Array>, stream: NodeJS.ReadWriteStream) {
  const failed = (async () => {
    for await (const piece of bytes) stream.write(piece);
    stream.end();
  })().catch((error: unknown) => stream.emit("error", error));
  for await (const piece of stream) yield piece as Uint8Array;
  await failed;
}

async function* hidden(bytes: AsyncIterable<Uint8Array>, mask: KeyMask) {
  for await (const piece of bytes) {
    const shown = mask.push(piece);
    if (shown.length > 0) yield shown;
  }
  const rest = mask.end();
  if (rest.length > 0) yield rest;
}

/** How the wires tell an error within a stream; a reply would have its quotes escaped. */
const OF_ERROR = /"error"\s*:\s*["{]|"type"\s*:\s*"error"/;
const LONGEST_MARK = 64;

/** Where a line stands: whether it told of an error, and its last letters. */
interface Line {
  isError: boolean;
  tail: string;
}

/** Keeps nothing back but what may be the beginning of a key. */
class KeyMask {
  readonly #finder: SecretFinder;
  readonly #masksAll: boolean;
  #held: Uint8Array = new Uint8Array();
  /** Of all bytes, so many were shown. */
  #shown = 0;
  #line: Line = { isError: false, tail: "" };

  constructor(reader: SecretReader, masksAll: boolean) {
    this.#finder = new SecretFinder(reader);
    this.#masksAll = masksAll;
  }

  push(piece: Uint8Array): Uint8Array {
    if (this.#held.length === 0 && !this.#masksAll && !tellsOfError(this.#line, piece)) {
      this.#finder.skip(piece.length);
      this.#shown += piece.length;
      this.#line = behind(this.#line, asBuffer(piece));
      return piece;
    }
    const all = this.#held.length === 0 ? asBuffer(piece) : Buffer.concat([this.#held, piece]);
    let masked = all;
    for (const { start, end } of this.#finder.push(piece)) {
      const at = start - this.#shown;
      if (!this.#masksAll && !behind(this.#line, all.subarray(0, at)).isError) continue;
      if (masked === all) masked = Buffer.from(all);
      masked.fill("*", at, end - this.#shown);
    }
    const shown = masked.subarray(0, this.#finder.openFrom - this.#shown);
    this.#held = masked.subarray(shown.length);
    this.#shown += shown.length;
    this.#line = this.#masksAll ? this.#line : behind(this.#line, shown);
    return shown;
  }

  end(): Uint8Array {
    return this.#held;
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const tellsOfError = ({ isError, tail }: Line, piece: Uint8Array): boolean =>
  isError || OF_ERROR.test(tail + asBuffer(piece).toString("latin1"));

function behind({ isError, tail }: Line, bytes: Buffer): Line {
  const text = bytes.toString("latin1");
  const start = text.lastIndexOf("\n") + 1;
  const line = start > 0 ? text.slice(start) : tail + text;
  return {
    isError: (start === 0 && isError) || OF_ERROR.test(line),
    tail: line.slice(-LONGEST_MARK),
  };
}
