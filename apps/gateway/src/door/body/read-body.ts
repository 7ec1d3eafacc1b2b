// Reads a client's body, and of one that goes on from an earlier one only what is new.
import { isRecord } from "@clew/plugin-sdk/host";
import { fromJson } from "../../own-json.ts";
import type { DoorWire, JsonObject } from "../wires/door-wire.ts";
import { messagesOf } from "../wires/json.ts";
import { type BodyOutline, bytesAsText, outlineOf } from "./outline.ts";
import { elementSpans, memberSpans, type Span } from "./spans.ts";

export interface ReadBody {
  /** What was there before is the same object as before, so that what is known of it is found. */
  body: JsonObject;
  outline: BodyOutline;
}

/** A body that a later one may go on from. */
interface KeptBody {
  /** A message is read otherwise on another one. */
  wire: BodyWire;
  list: Span;
  elements: readonly Span[];
  messages: readonly JsonObject[];
  /** What it began with, up to the end of the last message; behind that is room. */
  start: Uint8Array;
}

type BodyWire = Pick<DoorWire, "api" | "list">;

/** Of all bodies that are kept; what is read of them takes a few times as much. */
const MOST_BYTES = 16 * 2 ** 20;
const MOST_KEPT = 256;
const BOM = [0xef, 0xbb, 0xbf];

export interface BodyReader {
  /** Undefined: it is no JSON object. */
  read(bytes: Uint8Array, wire: BodyWire): ReadBody | undefined;
}

export function createBodyReader(mostBytes = MOST_BYTES): BodyReader {
  /** Newest use last. */
  const kept = new Set<KeptBody>();
  let size = 0;
  const drop = (one: KeptBody) => {
    if (kept.delete(one)) size -= one.start.length;
  };
  const keep = (one: KeptBody) => {
    kept.add(one);
    size += one.start.length;
    for (const oldest of kept) {
      if (size <= mostBytes && kept.size <= MOST_KEPT) break;
      drop(oldest);
    }
  };
  return {
    read(given, wire) {
      const bytes = BOM.every((byte, index) => given[index] === byte) ? given.subarray(3) : given;
      const start = longestStart(kept, bytes, wire);
      const read = (start && readOnFrom(start, bytes)) ?? readWhole(bytes, wire);
      if (read === undefined) return undefined;
      const { list, elements } = read.outline;
      const messages = messagesOf(read.body[wire.list]);
      if (list === undefined || messages === undefined || elements.length === 0) return read;
      // What all of it was gone on from is not gone on from again, or then is read whole once.
      const goesOn = start !== undefined && start.same === start.kept.messages.length;
      if (goesOn) drop(start.kept);
      if (bytes.length <= mostBytes / 2)
        keep({
          ...{ wire, list, elements, messages },
          start: startOf(bytes, elements.at(-1)!.end, goesOn ? start.kept : undefined),
        });
      return read;
    },
  };
}

/** How much more than is needed is taken for what goes on. */
const ROOM = 1.25;

/**
 * A copy, and where a body goes on from one that is not kept any more only of what is new: bodies
 * that lived until the next one would be collected with all that is old, a megabyte each time.
 */
function startOf(bytes: Uint8Array, end: number, before: KeptBody | undefined): Uint8Array {
  if (before === undefined) return Uint8Array.from(bytes.subarray(0, end));
  const known = before.elements.at(-1)!.end;
  const start = before.start.length >= end ? before.start : new Uint8Array(Math.ceil(end * ROOM));
  if (start !== before.start) start.set(before.start.subarray(0, known));
  start.set(bytes.subarray(known, end), known);
  return start;
}

/** The first `same` messages of a body are those of one that is kept. */
interface Start {
  kept: KeptBody;
  same: number;
}

function longestStart(
  kept: ReadonlySet<KeptBody>,
  bytes: Uint8Array,
  wire: BodyWire,
): Start | undefined {
  let longest: Start | undefined;
  for (const one of [...kept].reverse()) {
    if (one.wire.api !== wire.api || !isSame(one, bytes, 0, one.list.start + 1)) continue;
    const same = sameMessages(one, bytes);
    if (same > (longest?.same ?? 0)) longest = { kept: one, same };
    if (same === one.messages.length) break;
  }
  return longest;
}

const isSame = ({ start }: KeptBody, bytes: Uint8Array, from: number, to: number): boolean =>
  bytes.length >= to && Buffer.compare(start.subarray(from, to), bytes.subarray(from, to)) === 0;

/** By halves: each byte is looked at about once. */
function sameMessages(one: KeptBody, bytes: Uint8Array): number {
  const { elements } = one;
  const endOf = (count: number) => (count === 0 ? one.list.start + 1 : elements[count - 1]!.end);
  let [same, most] = [0, elements.length];
  if (isSame(one, bytes, endOf(0), endOf(most))) return most;
  while (same < most - 1) {
    const middle = (same + most) >> 1;
    if (isSame(one, bytes, endOf(same), endOf(middle))) same = middle;
    else most = middle;
  }
  return same;
}

/** Undefined: it is not what it seems to be, and must be read whole. */
function readOnFrom({ kept, same }: Start, bytes: Uint8Array): ReadBody | undefined {
  const { elements, list, messages } = kept;
  const name = kept.wire.list;
  const next = behindSpace(bytes, elements[same - 1]!.end);
  const isLast = bytes[next] === CLOSE;
  if (!isLast && bytes[next] !== COMMA) return undefined;
  const from = isLast ? next : next + 1;
  // A comma before the end is no JSON.
  if (!isLast && bytes[behindSpace(bytes, from)] === CLOSE) return undefined;
  const rest = Buffer.concat([bytes.subarray(0, list.start + 1), bytes.subarray(from)]);
  const body = parsed(rest);
  const own = body && messagesOf(body[name]);
  if (own === undefined) return undefined;
  const text = bytesAsText(rest);
  const span = memberSpans(text).get(name);
  // Another member of that name counts, if it stands behind.
  if (span?.start !== list.start) return undefined;
  const moved = from - list.start - 1;
  const added = elementSpans(text, span.start).map(({ start, end }) => ({
    ...{ start: start + moved, end: end + moved },
  }));
  return {
    body: { ...body, [name]: [...messages.slice(0, same), ...own] },
    outline: {
      bytes,
      list: { start: list.start, end: span.end + moved },
      elements: [...elements.slice(0, same), ...added],
    },
  };
}

const [COMMA, CLOSE] = [0x2c, 0x5d];

function behindSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at]! <= 32) at++;
  return at;
}

function readWhole(bytes: Uint8Array, { list }: BodyWire): ReadBody | undefined {
  const body = parsed(bytes);
  return body && { body, outline: outlineOf(bytes, list) };
}

function parsed(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = fromJson(new TextDecoder().decode(bytes));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
