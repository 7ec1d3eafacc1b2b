// Reads a file of any size line by line, as JSON, up to a limit for one line.
import { isUtf8 } from "node:buffer";
import { stat } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { fileNotFound } from "../file-not-found.ts";
import { describeBytes } from "../limits/size.ts";
import { fromJson } from "../own-json.ts";
import { readFilePieces } from "../sessions/file-lines.ts";
import { storageFailed } from "../storage-error.ts";
import type { ForeignLine } from "./foreign.ts";

export type ReadLine =
  | (ForeignLine & {
      kind: "value";
      /** True: its letters are written in another encoding, so they are not those of the file. */
      isMisread?: true;
    })
  | { number: number; kind: "blank" | "damaged" | "too-long" };

/** What one line may hold: pictures stand in one. */
export const MAX_LINE_BYTES = 64 * 2 ** 20;
/** A file of one JSON value is read at once. */
export const MAX_DOCUMENT_BYTES = 256 * 2 ** 20;

const LINE_FEED = 10;

/** Throws FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE. */
export async function checkForeignFile(
  file: string,
): Promise<{ bytes: number; writtenAt: string }> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT"
      ? fileNotFound(file, error)
      : storageFailed(`${file} cannot be read`, error, "elsewhere");
  });
  if (found.isDirectory()) throw unreadable(file, "it is a folder; name a file in it");
  if (!found.isFile()) throw unreadable(file, "it is no file that stays; name one");
  return { bytes: found.size, writtenAt: found.mtime.toISOString() };
}

/** A file of which nobody knows whose it is. */
export const nobodys = (file: string, { isEmpty }: { isEmpty: boolean }): ContextEngineError =>
  unreadable(file, isEmpty ? "it is empty" : NO_KNOWN_FORM);

const NO_KNOWN_FORM =
  "it is no transcript of Claude Code, Codex, pi or OpenClaw and holds no messages of OpenAI's API; --from says whose it is where Clew does not see it, and a session of Clew's own is taken in as \"clew sessions export NAME --as jsonl\" writes it";

export const unreadable = (file: string, why: string): ContextEngineError =>
  new ContextEngineError("TRANSCRIPT_UNREADABLE", `${file} cannot be read: ${why}.`);

/** Never more than one line is in memory. */
export async function* foreignLines(
  file: string,
  bytes: number,
  { maxLineBytes = MAX_LINE_BYTES }: { maxLineBytes?: number } = {},
): AsyncGenerator<ReadLine> {
  let number = 0;
  let rest: Buffer[] = [];
  let length = 0;
  const take = (tail: Buffer): ReadLine => {
    number++;
    const line = length + tail.length > maxLineBytes ? null : Buffer.concat([...rest, tail]);
    rest = [];
    length = 0;
    if (line === null) return { number, kind: "too-long" };
    const read = parseLine(line.toString(), number);
    return read.kind === "value" && !isUtf8(line) ? { ...read, isMisread: true } : read;
  };
  for await (const piece of readFilePieces(file, 0, bytes)) {
    let start = 0;
    for (
      let feed = piece.bytes.indexOf(LINE_FEED);
      feed >= 0;
      feed = piece.bytes.indexOf(LINE_FEED, start)
    ) {
      yield take(piece.bytes.subarray(start, feed));
      start = feed + 1;
    }
    const tail = piece.bytes.subarray(start);
    length += tail.length;
    if (length <= maxLineBytes) rest.push(Buffer.from(tail));
    else rest = [];
  }
  if (length > 0) yield take(Buffer.alloc(0));
}

/** Pure. A mark of the byte order may stand before the first line. */
export function parseLine(text: string, number: number): ReadLine {
  const line = number === 1 ? text.replace(/^\uFEFF/, "") : text;
  if (line.trim() === "") return { number, kind: "blank" };
  try {
    return { number, kind: "value", value: fromJson(line) as unknown };
  } catch {
    return { number, kind: "damaged" };
  }
}

/** Of a file whose letters nobody can know: what stands for them would be kept for good. */
export const misread = (file: string, number: number): ContextEngineError =>
  unreadable(
    file,
    `line ${number} is not written in UTF-8; convert the file, e.g. from Latin-1 with "iconv -f ISO-8859-1 -t UTF-8"`,
  );

/** The one value of a file that is not of lines. Throws TRANSCRIPT_UNREADABLE. */
export async function foreignDocument(
  file: string,
  bytes: number,
): Promise<(ReadLine & { kind: "value" }) | undefined> {
  if (bytes > MAX_DOCUMENT_BYTES)
    throw unreadable(
      file,
      `it is one JSON value of ${describeBytes(bytes)}, and more than ${describeBytes(MAX_DOCUMENT_BYTES)} are not read at once; write it as JSON Lines`,
    );
  const pieces: Buffer[] = [];
  for await (const piece of readFilePieces(file, 0, bytes)) pieces.push(Buffer.from(piece.bytes));
  const whole = Buffer.concat(pieces);
  const read = parseLine(whole.toString(), 1);
  if (read.kind !== "value") return undefined;
  return isUtf8(whole) ? read : { ...read, number: firstMisread(whole), isMisread: true };
}

/** Counted from 1. */
function firstMisread(text: Buffer): number {
  let number = 1;
  let start = 0;
  for (;;) {
    const feed = text.indexOf(LINE_FEED, start);
    if (feed < 0 || !isUtf8(text.subarray(start, feed))) return number;
    start = feed + 1;
    number++;
  }
}
