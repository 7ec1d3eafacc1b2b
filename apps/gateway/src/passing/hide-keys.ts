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
  const forms = keys.flatMap(knownFormsOf);
  const headers = answer.headers.map(([name, value]) => [name, maskText(value, forms)] as const);
  const isError = answer.status >= 400;
  const packing = headerOf(answer.headers, "content-encoding")?.trim().toLowerCase() ?? "identity";
  if (!isError && packing !== "identity") return { ...answer, headers };
  if (!isError) {
    const mask = new KeyMask(keys.flatMap(usualFormsOf).map(Buffer.from), false);
    return { ...answer, headers, bytes: hidden(answer.bytes, mask) };
  }
  const mask = new KeyMask(forms.map(Buffer.from), true);
  const unpack = UNPACK[packing];
  if (unpack === undefined) return { ...answer, headers, bytes: hidden(answer.bytes, mask) };
  return {
    ...answer,
    headers: headers.filter(([name]) => !PACKED.has(name.toLowerCase())),
    bytes: hidden(unpacked(answer.bytes, unpack()), mask),
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

const asJson = (secret: string) => toJson(secret).slice(1, -1);

/** As it is, as JSON in two ways, and as an address writes it. */
const usualFormsOf = (secret: string): string[] => [
  ...new Set([
    ...[secret, asJson(secret), asJson(secret).replaceAll("/", "\\/")],
    encodeURIComponent(secret),
  ]),
];

/** Also with letters in JSON by their numbers, and in the ways that bytes are told in letters. */
const allFormsOf = (secret: string): string[] => {
  const byNumber = (which: RegExp, cased: (hex: string) => string) =>
    secret.replaceAll(which, (letter) => {
      const hex = letter.charCodeAt(0).toString(16).padStart(4, "0");
      return `\\u${cased(hex)}`;
    });
  const lower = (hex: string) => hex;
  const upper = (hex: string) => hex.toUpperCase();
  const hex = Buffer.from(secret).toString("hex");
  const base64 = [0, 1, 2].map((before) => base64Behind(secret, before));
  const forms = [
    ...usualFormsOf(secret),
    ...[/[&<>]/g, /[^\w-]/g, /./g].flatMap((which) => [
      byNumber(which, lower),
      byNumber(which, upper),
    ]),
    ...[...base64, ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))],
    ...[hex, hex.toUpperCase()],
  ];
  // The longest first: a shorter one may be its beginning.
  return [...new Set(forms)].sort((one, other) => other.length - one.length);
};

/** A gateway has few keys, and asks with each for long. */
const KNOWN = new Map<string, readonly string[]>();
const MOST_KNOWN = 64;

function knownFormsOf(secret: string): readonly string[] {
  const known = KNOWN.get(secret) ?? allFormsOf(secret);
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear();
  KNOWN.set(secret, known);
  return known;
}

/** What is of the secret alone where so many bytes stand before it. */
function base64Behind(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  const from = Math.ceil((before * 8) / 6);
  return bytes.toString("base64").slice(from, Math.floor((bytes.length * 8) / 6));
}

const maskText = (text: string, forms: readonly string[]): string =>
  forms.reduce((left, form) => left.replaceAll(form, "*".repeat(form.length)), text);

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
