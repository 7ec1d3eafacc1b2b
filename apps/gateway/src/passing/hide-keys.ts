// Hides the gateway's own keys in what a model server says of an error.
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { SECRET_NAME } from "@clew/plugin-sdk/host";
import { toJson } from "../own-json.ts";
import type { UpstreamAnswer } from "./ask-upstream.ts";
import { headerOf } from "./raw-headers.ts";

/** Shorter ones are hardly secret, and found in any text. */
const LEAST_CHARS = 8;

/**
 * The answer, in which each letter of a key is a "*": all that comes with the status of an error,
 * and what a stream says of one. A reply stays as it is: it may speak of a file that its client
 * has. `sent`: the headers with which the gateway signed in, by name.
 */
export function hideKeys(
  answer: UpstreamAnswer,
  sent: Readonly<Record<string, string>>,
): UpstreamAnswer {
  const forms = Object.entries(sent).flatMap(([name, value]) =>
    SECRET_NAME.test(name) ? formsOf(value.replace(/^[\w-]+ /, "")) : [],
  );
  const isError = answer.status >= 400;
  const packing = headerOf(answer.headers, "content-encoding")?.trim().toLowerCase() ?? "identity";
  if (forms.length === 0 || (packing !== "identity" && !isError)) return answer;
  if (!isError) return { ...answer, bytes: hidden(answer.bytes, new KeyMask(forms, false)) };
  const headers = answer.headers.map(([name, value]) => [name, maskText(value, forms)] as const);
  const unpack = UNPACK[packing];
  if (unpack === undefined)
    return { ...answer, headers, bytes: hidden(answer.bytes, new KeyMask(forms, true)) };
  return {
    ...answer,
    headers: headers.filter(([name]) => !PACKED.has(name.toLowerCase())),
    bytes: hidden(unpacked(answer.bytes, unpack()), new KeyMask(forms, true)),
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

/** As it is, as JSON and as an address writes it. */
const formsOf = (secret: string): Buffer[] =>
  secret.length < LEAST_CHARS
    ? []
    : [...new Set([secret, toJson(secret).slice(1, -1), encodeURIComponent(secret)])].map((form) =>
        Buffer.from(form),
      );

const maskText = (text: string, forms: readonly Buffer[]): string =>
  forms.reduce((left, form) => left.replaceAll(String(form), "*".repeat(form.length)), text);

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
export class KeyMask {
  readonly #forms: readonly Buffer[];
  readonly #masksAll: boolean;
  readonly #longest: number;
  #held: Uint8Array = new Uint8Array();
  #line: Line = { isError: false, tail: "" };

  constructor(forms: readonly Buffer[], masksAll: boolean) {
    this.#forms = forms;
    this.#masksAll = masksAll;
    this.#longest = Math.max(...forms.map(({ length }) => length));
  }

  push(piece: Uint8Array): Uint8Array {
    const all = this.#held.length === 0 ? asBuffer(piece) : Buffer.concat([this.#held, piece]);
    const masked = this.#masked(all);
    const shown = masked.subarray(0, masked.length - this.#startedAt(masked));
    this.#held = masked.subarray(shown.length);
    this.#line = this.#masksAll ? this.#line : behind(this.#line, shown);
    return shown;
  }

  end(): Uint8Array {
    return this.#held;
  }

  #masked(all: Buffer): Buffer {
    let masked = all;
    for (const form of this.#forms)
      for (let at = all.indexOf(form); at >= 0; at = all.indexOf(form, at + form.length)) {
        if (!this.#masksAll && !behind(this.#line, all.subarray(0, at)).isError) continue;
        if (masked === all) masked = Buffer.from(all);
        masked.fill("*", at, at + form.length);
      }
    return masked;
  }

  /** So many bytes at the end may be the beginning of a key. */
  #startedAt(all: Buffer): number {
    for (let length = Math.min(this.#longest - 1, all.length); length > 0; length--) {
      const end = all.subarray(all.length - length);
      if (this.#forms.some((form) => form.length > length && form.subarray(0, length).equals(end)))
        return length;
    }
    return 0;
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function behind({ isError, tail }: Line, bytes: Buffer): Line {
  const text = bytes.toString("latin1");
  const start = text.lastIndexOf("\n") + 1;
  const line = start > 0 ? text.slice(start) : tail + text;
  return {
    isError: (start === 0 && isError) || OF_ERROR.test(line),
    tail: line.slice(-LONGEST_MARK),
  };
}
