// Which parts of a text are data that names nothing.
import { lockRuns, type Run } from "./lock-text.ts";

/** Fewer characters of data are a key or a hash that somebody may come back to. */
const LEAST = 160;
const SHARE = 0.5;
/** Shorter lines are judged by what stands around them. */
const LONG = 40;
const ENCODED = /^[A-Za-z0-9+/=_-]{40,}$/;
/** From one character to the next, without those where a word goes on: "tT", "t1", "1t". */
const TURN = /[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])/g;
const TURN_SHARE = 0.28;
const NO_WORD = /[A-Z0-9+]{24}|[a-z0-9]{48}|([A-Za-z0-9+])\1{7}/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-/i;
const HEX = /^[0-9a-f]+$/i;
/** Of the usual digests, in hex. */
const HASH_LENGTHS = new Set([32, 40, 56, 64, 96, 128]);
const DUMP = /^[0-9a-f]{6,16}:?\s+(?:[0-9a-f]{2,4}\s+){6}/i;
/** A line of code this long was written by a tool. JSON in one line is a result like any other. */
const MINIFIED_LINE = 500;
const CODE_MARKS = /[;(){}=]/g;
const CODE_SHARE = 0.08;
const ENDS_AND_BLOCKS = /[;{}]/g;
const BLOCK_SHARE = 0.02;
const JSON_START = /^[[{]\s*["{[\]}]/;

/**
 * At least half of the text is data: base64, a hex dump, a lock file or minified code (spec
 * "compaction", "Decided since" 5). Linear.
 */
export function isData(text: string): boolean {
  const length = dataRuns(text).reduce((sum, { from, to }) => sum + to - from, 0);
  return length > 0 && length >= SHARE * text.length;
}

/** `text` with blanks where data stands, so that every other place stays what it is. */
export function withoutData(text: string): string {
  let rest = "";
  let end = 0;
  for (const { from, to } of dataRuns(text)) {
    if (to <= end) continue;
    const start = Math.max(from, end);
    rest += text.slice(end, start) + " ".repeat(to - start);
    end = to;
  }
  return end === 0 ? text : rest + text.slice(end);
}

const dataRuns = (text: string): Run[] =>
  [...encodedRuns(text), ...lockRuns(text)].sort((a, b) => a.from - b.from);

type Kind = "data" | "like data" | "text" | "blank";

/** Lines of data that follow each other, with what looks like it among them. */
function encodedRuns(text: string): Run[] {
  const runs: Run[] = [];
  let run: (Run & { data: number }) | undefined;
  const close = () => {
    if (run !== undefined && run.data >= LEAST && run.data >= SHARE * (run.to - run.from))
      runs.push({ from: run.from, to: run.to });
    run = undefined;
  };
  for (let from = 0; from < text.length; ) {
    const line = text.indexOf("\n", from);
    const to = line < 0 ? text.length : line;
    const kind = to - from < LONG && run === undefined ? "text" : kindOf(text.slice(from, to));
    if (kind === "text") close();
    else if (kind !== "blank") {
      run ??= { from, to, data: 0 };
      run.to = to;
      if (kind === "data") run.data += to - from;
    }
    from = to + 1;
  }
  close();
  return runs;
}

function kindOf(line: string): Kind {
  const words = line.trim();
  if (words === "") return "blank";
  if (words.length < LONG) return /^[A-Za-z0-9+/_-]+={0,2}$/.test(words) ? "like data" : "text";
  if (ENCODED.test(words)) return isEncoded(words) ? "data" : "like data";
  return DUMP.test(words) || isMinified(words) ? "data" : "text";
}

function isEncoded(word: string): boolean {
  if (HEX.test(word)) return !HASH_LENGTHS.has(word.length);
  if (UUID.test(word)) return false;
  return NO_WORD.test(word) || (word.match(TURN)?.length ?? 0) >= TURN_SHARE * word.length;
}

function isMinified(line: string): boolean {
  if (line.length < MINIFIED_LINE || JSON_START.test(line)) return false;
  const share = (marks: RegExp) => (line.match(marks)?.length ?? 0) / line.length;
  return share(CODE_MARKS) >= CODE_SHARE && share(ENDS_AND_BLOCKS) >= BLOCK_SHARE;
}
