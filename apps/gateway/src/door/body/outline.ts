// Where the list of messages and each of them stand in the bytes of a body.
import { elementSpans, memberSpans, type Span } from "./spans.ts";

/** Positions are those of bytes. */
export interface BodyOutline {
  bytes: Uint8Array;
  /** The list of messages, its brackets included. Absent: the body has none. */
  list?: Span;
  /** What stands in it, in order. */
  elements: readonly Span[];
}

/** `bytes` must be JSON with an object; `name` is that of the list. */
export function outlineOf(bytes: Uint8Array, name: string): BodyOutline {
  const text = bytesAsText(bytes);
  const list = memberSpans(text).get(name);
  return list === undefined || text[list.start] !== "["
    ? { bytes, elements: [] }
    : { bytes, list, elements: elementSpans(text, list.start) };
}

/** A character for each byte: every sign of JSON is one byte, and no other character has it. */
export const bytesAsText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
