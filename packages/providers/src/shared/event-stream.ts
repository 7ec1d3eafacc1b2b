// Takes the messages of an AWS event stream out of its bytes.

/** One message: the headers that are text, and what it says. */
export interface StreamMessage {
  headers: Readonly<Record<string, string>>;
  payload: Uint8Array;
}

/** Takes bytes as they come. */
export interface MessageFeed {
  /** The messages that are complete by these bytes; undefined when they are no such stream. */
  feed(bytes: Uint8Array): StreamMessage[] | undefined;
}

/** Total length, length of the headers, and the checksum of both. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** What the format allows in one message, and room for its frame. */
const MOST_BYTES = 24 * 1024 * 1024 + 256 * 1024;

export function createMessageFeed(): MessageFeed {
  let pieces: Uint8Array[] = [];
  let size = 0;
  /** Nothing can be read before so many bytes are there. */
  let needed = PRELUDE_BYTES;
  return {
    feed(bytes) {
      pieces.push(bytes);
      size += bytes.length;
      if (size < needed) return [];
      const all = joined(pieces, size);
      const messages: StreamMessage[] = [];
      let at = 0;
      for (;;) {
        const cut = cutMessage(all.subarray(at));
        if (cut.kind === "broken") return undefined;
        if (cut.kind === "short") {
          pieces = [all.subarray(at)];
          size = all.length - at;
          needed = cut.needed;
          return messages;
        }
        messages.push(cut.message);
        at += cut.length;
      }
    },
  };
}

type Cut =
  | { kind: "message"; message: StreamMessage; length: number }
  | { kind: "short"; needed: number }
  | { kind: "broken" };

const BROKEN: Cut = { kind: "broken" };

function cutMessage(bytes: Uint8Array): Cut {
  if (bytes.length < PRELUDE_BYTES) return { kind: "short", needed: PRELUDE_BYTES };
  const view = viewOf(bytes);
  const length = view.getUint32(0);
  const headersLength = view.getUint32(4);
  const end = length - CHECKSUM_BYTES;
  // Checked before the rest is waited for: a broken length could be any.
  if (crc32(bytes.subarray(0, 8)) !== view.getUint32(8)) return BROKEN;
  if (length > MOST_BYTES || PRELUDE_BYTES + headersLength > end) return BROKEN;
  if (bytes.length < length) return { kind: "short", needed: length };
  if (crc32(bytes.subarray(0, end)) !== view.getUint32(end)) return BROKEN;
  const body = PRELUDE_BYTES + headersLength;
  const headers = readHeaders(bytes.subarray(PRELUDE_BYTES, body));
  if (headers === undefined) return BROKEN;
  return { kind: "message", message: { headers, payload: bytes.subarray(body, end) }, length };
}

/** Bytes of a value, by the type of its header; the two that tell their length are -1. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16] as const;
const TEXT = 7;

function readHeaders(bytes: Uint8Array): Record<string, string> | undefined {
  const view = viewOf(bytes);
  const utf8 = new TextDecoder();
  const headers: Record<string, string> = {};
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + view.getUint8(at);
    if (nameEnd + 1 > bytes.length) return undefined;
    const type = view.getUint8(nameEnd);
    const fixed = VALUE_BYTES[type];
    const tells = fixed === -1;
    const begin = nameEnd + (tells ? 3 : 1);
    if (fixed === undefined || begin > bytes.length) return undefined;
    const end = begin + (tells ? view.getUint16(nameEnd + 1) : fixed);
    if (end > bytes.length) return undefined;
    if (type === TEXT)
      headers[utf8.decode(bytes.subarray(at + 1, nameEnd))] = utf8.decode(
        bytes.subarray(begin, end),
      );
    at = end;
  }
  return headers;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = CRC_TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
