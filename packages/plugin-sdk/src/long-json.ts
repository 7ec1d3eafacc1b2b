// Decodes and parses JSON of many megabytes while others have their turn.
import type { Steps } from "./slices.ts";

/** Bytes that are decoded at a time. */
const PIECE_BYTES = 2 ** 20;

/** UTF-8 as a text, in steps; what is no UTF-8 becomes U+FFFD. */
export function* decodeSteps(bytes: Uint8Array): Steps<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    yield;
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    pieces.push(decoder.decode(piece, { stream: from + PIECE_BYTES < bytes.length }));
  }
  yield;
  return pieces.join("");
}

/** Shorter texts are parsed with all the rest, characters. */
const LONG_CHARS = 256 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** A text between its quotes, cut where no escape stands. */
interface LongText {
  start: number;
  end: number;
  cuts: number[];
}

/**
 * What `JSON.parse` gives, in steps: long texts are taken out, parsed in pieces and put back. One
 * of 50 MB takes `JSON.parse` about 70 ms. Throws as it does, though not with the same words.
 */
export function* parseJsonSteps(json: string): Steps<unknown> {
  if (json.length < LONG_CHARS) return JSON.parse(json);
  const found = yield* longTextSteps(json);
  if (found.length === 0) return JSON.parse(json);
  const mark = markOutside(json);
  yield;
  let rest = "";
  let end = 0;
  for (const [index, text] of found.entries()) {
    rest += `${json.slice(end, text.start)}${mark}${index}`;
    end = text.end;
  }
  const value = { whole: JSON.parse(rest + json.slice(end)) as unknown };
  const places = placesOf(value, mark);
  // Written with an escape a text may be like ours, and of two equal keys the last one counts.
  if (places.length !== found.length) return JSON.parse(json);
  for (const { holder, key, index } of places) {
    const text = yield* textSteps(json, found[index]!);
    Object.defineProperty(holder, key, { ...OWN, value: text });
  }
  return value.whole;
}

function* textSteps(json: string, { start, end, cuts }: LongText): Steps<string> {
  const pieces: string[] = [];
  let from = start;
  for (const to of [...cuts, end]) {
    yield;
    pieces.push(JSON.parse(`"${json.slice(from, to)}"`) as string);
    from = to;
  }
  yield;
  return pieces.join("");
}

/** Those that are values: a key stays where it is. */
function* longTextSteps(json: string): Steps<LongText[]> {
  const found: LongText[] = [];
  for (let at = json.indexOf('"'); at >= 0; ) {
    const start = at + 1;
    const cuts: number[] = [];
    let next = start + LONG_CHARS;
    for (at = start; at < json.length; ) {
      const code = json.charCodeAt(at);
      if (code === QUOTE) break;
      if (at >= next) {
        yield;
        cuts.push(at);
        next = at + LONG_CHARS;
      }
      if (code !== BACKSLASH) at++;
      else at += json.charCodeAt(at + 1) === LETTER_U ? 6 : 2;
    }
    if (cuts.length > 0 && at < json.length && !isKey(json, at))
      found.push({ start, end: at, cuts });
    at = json.indexOf('"', at + 1);
  }
  return found;
}

const isKey = (json: string, quote: number) => /^\s*:/.test(json.slice(quote + 1, quote + 100));

/** A beginning that no text in there has, as it is written. */
function markOutside(json: string): string {
  let mark = "@long-";
  while (json.includes(mark)) mark += "-";
  return mark;
}

/** Where in `value` the texts stand that begin with `mark`. */
function placesOf(value: object, mark: string) {
  const places: { holder: object; key: string; index: number }[] = [];
  const open: object[] = [value];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop())
    for (const [key, child] of Object.entries(holder)) {
      if (typeof child === "string" && child.startsWith(mark))
        places.push({ holder, key, index: Number(child.slice(mark.length)) });
      else if (typeof child === "object" && child !== null) open.push(child);
    }
  return places;
}

/** Also where the key is "__proto__". */
const OWN = { configurable: true, enumerable: true, writable: true };
