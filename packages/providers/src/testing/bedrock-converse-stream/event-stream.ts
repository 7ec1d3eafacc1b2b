// Writes messages in the framing of AWS event streams.
import { crc32 } from "node:zlib";

/** A header whose value is text. */
const TEXT = 7;
/** Total length, length of headers, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

export function encodeMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(encodeHeader));
  const body = Buffer.from(payload);
  const message = Buffer.alloc(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, PRELUDE_BYTES);
  body.copy(message, PRELUDE_BYTES + head.length);
  const end = message.length - CHECKSUM_BYTES;
  message.writeUInt32BE(crc32(message.subarray(0, end)), end);
  return message;
}

function encodeHeader([name, value]: readonly [string, string]): Buffer {
  const key = Buffer.from(name);
  const text = Buffer.from(value);
  const header = Buffer.alloc(key.length + text.length + 4);
  header.writeUInt8(key.length, 0);
  key.copy(header, 1);
  header.writeUInt8(TEXT, key.length + 1);
  header.writeUInt16BE(text.length, key.length + 2);
  text.copy(header, key.length + 4);
  return header;
}

export const event = (type: string, payload: object): Buffer =>
  encodeMessage(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    JSON.stringify(payload),
  );

export const exception = (type: string, message: string): Buffer =>
  encodeMessage(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    JSON.stringify({ message }),
  );
