// Opens a transcript of another program and gives its entries one after the other.
import { basename } from "node:path";
import type { ForeignEntry, Format, FormatReader, FoundSession, ReaderOptions } from "./foreign.ts";
import {
  checkForeignFile,
  foreignDocument,
  foreignLines,
  MAX_DOCUMENT_BYTES,
  misread,
  type ReadLine,
} from "./foreign-lines.ts";
import { createClaudeReader } from "./readers/claude-code.ts";
import { createCodexReader } from "./readers/codex.ts";
import { createOpenaiReader } from "./readers/openai.ts";
import { createPiReader } from "./readers/pi.ts";
import { formatOf } from "./recognise.ts";
import { newTally, type Tally } from "./tally.ts";

export interface ForeignFile {
  format: Format;
  /** Complete once all entries were given. */
  tally: Tally;
  entries(): AsyncGenerator<ForeignEntry>;
  /** Of a session that has entries. */
  session(name: string): FoundSession;
}

const READERS: Readonly<Record<Format, (options: ReaderOptions) => FormatReader>> = {
  "claude-code": createClaudeReader,
  codex: createCodexReader,
  openai: createOpenaiReader,
  pi: createPiReader,
  openclaw: createPiReader,
};

/** Lines that may pass before one tells whose file it is. */
const LOOKED_AT = 100;

/**
 * `from`: whose it is, whatever it looks like. Null: nobody knows. Throws FILE_NOT_FOUND,
 * TRANSCRIPT_UNREADABLE.
 */
export async function openForeign(
  file: string,
  { from, maxLineBytes }: { from?: Format | undefined; maxLineBytes?: number } = {},
): Promise<ForeignFile | null> {
  const { bytes, writtenAt } = await checkForeignFile(file);
  const lines = () => foreignLines(file, bytes, maxLineBytes === undefined ? {} : { maxLineBytes });
  const head = await lookAt(lines());
  if (head.format !== undefined || (from !== undefined && head.hasValue))
    return reading(file, { format: from ?? head.format!, writtenAt, lines });
  if (!head.mayBeDocument || (bytes > MAX_DOCUMENT_BYTES && from === undefined)) return null;
  const document = await foreignDocument(file, bytes);
  const format = document && (from ?? formatOf(document.value));
  if (document === undefined || format === undefined) return null;
  return reading(file, {
    ...{ format, writtenAt },
    lines: async function* () {
      yield document;
    },
  });
}

async function lookAt(lines: AsyncIterable<ReadLine>) {
  let hasValue = false;
  let mayBeDocument = false;
  for await (const line of lines) {
    if (isValue(line)) {
      hasValue = true;
      const format = formatOf(line.value);
      if (format !== undefined) return { format, hasValue, mayBeDocument };
    } else if (line.number === 1) mayBeDocument = line.kind !== "blank";
    if (line.number >= LOOKED_AT) break;
  }
  // Of a document on many lines the first is no value, though some of the others are.
  return { format: undefined, hasValue: hasValue && !mayBeDocument, mayBeDocument };
}

function reading(
  file: string,
  {
    format,
    writtenAt,
    lines,
  }: { format: Format; writtenAt: string; lines: () => AsyncIterable<ReadLine> },
): ForeignFile {
  const tally = newTally();
  const fileName = basename(file).replace(/\.jsonl?$/i, "");
  const reader = READERS[format]({ fileName, writtenAt, tally });
  const readable = async function* () {
    for await (const line of lines()) {
      if (isValue(line) && line.isMisread) throw misread(file, line.number);
      yield line;
    }
  };
  return {
    ...{ format, tally },
    session: (name) => reader.session(name),
    async *entries() {
      if (reader.survey !== undefined)
        for await (const line of readable()) if (isValue(line)) reader.survey(line);
      for await (const line of readable()) {
        tally.lines++;
        yield* readOne(reader, line, tally);
      }
      yield* reader.end();
    },
  };
}

const isValue = (line: ReadLine): line is ReadLine & { kind: "value" } => line.kind === "value";

function readOne(reader: FormatReader, line: ReadLine, tally: Tally): ForeignEntry[] {
  if (isValue(line)) return reader.read(line);
  if (line.kind === "blank") tally.blank++;
  else {
    reader.skipped?.();
    (line.kind === "damaged" ? tally.damaged : tally.tooLong).push(line.number);
  }
  return [];
}

/** Pure. What lines come to, for those that are in memory. */
export function readLines(
  format: Format,
  lines: readonly ReadLine[],
  options: Omit<ReaderOptions, "tally">,
): { entries: ForeignEntry[]; tally: Tally; session: (name: string) => FoundSession } {
  const tally = { ...newTally(), lines: lines.length };
  const reader = READERS[format]({ ...options, tally });
  for (const line of lines) if (isValue(line)) reader.survey?.(line);
  const entries = lines.flatMap((line) => readOne(reader, line, tally));
  return { entries: [...entries, ...reader.end()], tally, session: (name) => reader.session(name) };
}
