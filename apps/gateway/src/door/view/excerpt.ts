// Chooses which lines stay of a long result of a tool.
import { headOf, namesIn, tailOf } from "@clew/plugin-sdk/transcript";

/** How much of a text stays. */
export interface ExcerptSize {
  share: number;
  /** In characters; so are the next. */
  least: number;
  most: number;
  /** Of what stays: for the beginning, and for the end. */
  edges: number;
  /** Lines stay away that say less than this share of what the best one says. */
  worthOfBest: number;
  /** What is further behind is not looked at, but for the end. */
  read: number;
}

const READ_CHARS = 20_000;

/** What a result is set aside to first. */
export const EXCERPT: ExcerptSize = {
  ...{ share: 1 / 8, least: 240, most: 1_200, edges: 1 / 6 },
  ...{ worthOfBest: 0, read: READ_CHARS },
};
/** What it is set aside to next: nothing but what stands out. */
export const FEW_LINES: ExcerptSize = {
  ...{ share: 1 / 14, least: 200, most: 400, edges: 0, worthOfBest: 1 / 5, read: READ_CHARS },
};

/** A longer line is judged and shown in pieces. */
const PIECE_CHARS = 160;
const MARKED_GAP = "\n…\n";
/** As JSON has it in a string. */
const WRITTEN_FEED = "\\n";

interface Piece {
  start: number;
  end: number;
}

/** Pure: the same text always leaves the same excerpt, in which every piece stands as it stood. */
export function excerptOf(text: string, size = EXCERPT): string {
  const room = Math.min(size.most, Math.max(size.least, Math.floor(text.length * size.share)));
  const edge = Math.floor(room * size.edges);
  const pieces = piecesOf(text, size.read);
  const head = edge === 0 ? 0 : headEnd(text, pieces[0], edge);
  const tail = edge === 0 ? text.length : tailStart(text, pieces.at(-1), edge);
  const between = pieces.filter(({ start, end }) => start >= head && end <= tail);
  const edges = [
    { start: 0, end: head },
    { start: tail, end: text.length },
  ].filter(({ start, end }) => end > start);
  const chosen = chosenOf(text, { pieces: between, room: room - 2 * edge, size });
  return shown(
    text,
    [...chosen, ...edges].sort((a, b) => a.start - b.start),
  );
}

function chosenOf(
  text: string,
  { pieces, room, size }: { pieces: readonly Piece[]; room: number; size: ExcerptSize },
): Piece[] {
  let left = room;
  const chosen: Piece[] = [];
  for (const piece of standingOut(text, pieces, size)) {
    const chars = piece.end - piece.start + MARKED_GAP.length;
    if (chars > left) continue;
    left -= chars;
    chosen.push(piece);
  }
  return chosen;
}

const shown = (text: string, pieces: readonly Piece[]): string =>
  pieces.map((piece, at) => gapBefore(text, pieces[at - 1], piece) + wordsOf(text, piece)).join("");

const wordsOf = (text: string, { start, end }: Piece) => text.slice(start, end);

/** A few blanks are shorter than what would say that something is left out. */
function gapBefore(text: string, before: Piece | undefined, { start }: Piece): string {
  if (before === undefined) return "";
  const gap = text.slice(before.end, start);
  const isShort = gap.length <= 2 * MARKED_GAP.length && gap.trim() === "";
  return isShort ? gap : MARKED_GAP;
}

/** Where the beginning ends that is shown: behind a line, if one ends there. */
function headEnd(text: string, first: Piece | undefined, room: number): number {
  const end = text.lastIndexOf("\n", room);
  if (end > 0) return end;
  return first !== undefined && first.end <= room ? first.end : headOf(text, room).length;
}

function tailStart(text: string, last: Piece | undefined, room: number): number {
  const start = text.indexOf("\n", text.length - room - 1);
  if (start >= 0 && start + 1 < text.length) return start + 1;
  return last !== undefined && text.length - last.start <= room
    ? last.start
    : text.length - tailOf(text, room).length;
}

/** Lines, the long ones cut behind a blank or a comma. */
function piecesOf(text: string, read: number): Piece[] {
  const pieces: Piece[] = [];
  let isLong = false;
  for (let start = 0; start < text.length && start < read; ) {
    const feed = text.indexOf("\n", start);
    const line = feed < 0 ? text.length : feed;
    isLong ||= line - start > PIECE_CHARS;
    const end = isLong ? cutIn(text, start, line) : line;
    if (end > start) pieces.push({ start, end });
    if (end === line) {
      start = end + 1;
      isLong = false;
    } else start = text.startsWith(WRITTEN_FEED, end) ? end + WRITTEN_FEED.length : end;
  }
  return pieces;
}

/** At the end of a line of what is JSON in one, else behind a blank or a comma. */
function cutIn(text: string, start: number, line: number): number {
  const most = headOf(text.slice(start, Math.min(line, start + PIECE_CHARS + 1)), PIECE_CHARS);
  const feed = most.indexOf(WRITTEN_FEED);
  if (feed >= 0) return start + feed;
  if (line - start <= PIECE_CHARS) return line;
  const at = most.search(/[\s,;][^\s,;]*$/);
  return start + (at > 0 ? at + 1 : most.length);
}

/** What a number, a name, and any other word count. */
const OF_NUMBER = 1;
/** Nobody guesses it, and hardly anybody repeats it in words. */
const OF_LONG_NUMBER = 2;
const OF_NAME = 1;
/** A name of a program in one word: code is full of them. */
const OF_SYMBOL = 0.5;
const OF_CAPITAL = 0.5;
const OF_WORD = 0.2;
/** A line of hardly any words is no better than a somewhat longer one. */
const USUAL_CHARS = 40;

/** A line, and what each of its words counts in the text that it is of. */
export interface WeighedLine {
  text: string;
  worth: ReadonlyMap<string, number>;
}

/** Pure. The lines of a text that stand out most, in their order, as many as fit into `size`. */
export function linesOf(text: string, size: ExcerptSize): WeighedLine[] {
  const weighed = new Map(weigh(text, piecesOf(text, size.read), size));
  const room = Math.min(size.most, Math.max(size.least, Math.floor(text.length * size.share)));
  return chosenOf(text, { pieces: [...weighed.keys()], room, size })
    .sort((a, b) => a.start - b.start)
    .map((piece) => ({ text: wordsOf(text, piece).trim(), worth: weighed.get(piece)! }));
}

/** Those first that say most, in few characters, of what is said nowhere else in the text. */
function standingOut(text: string, pieces: readonly Piece[], size: ExcerptSize): Piece[] {
  const scored = weigh(text, pieces, size).map(([piece, worth]) => ({
    piece,
    score: scoreOf(sumOf(worth.values()), piece.end - piece.start),
  }));
  scored.sort((a, b) => b.score - a.score || a.piece.start - b.piece.start);
  const leastScore = size.worthOfBest * (scored[0]?.score ?? 0);
  return scored.filter(({ score }) => score >= leastScore).map(({ piece }) => piece);
}

/** What is said in few characters is worth more than the same in many. */
export const scoreOf = (worth: number, chars: number): number => worth / (USUAL_CHARS + chars);

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const each of numbers) sum += each;
  return sum;
}

function weigh(
  text: string,
  pieces: readonly Piece[],
  { read }: ExcerptSize,
): [Piece, Map<string, number>][] {
  const names = new Map(
    namesIn(text.slice(0, read)).flatMap(({ name, kind, weak }) =>
      weak === true
        ? []
        : [[formOf(wordOf(name)), kind === "symbol" ? OF_SYMBOL : OF_NAME] as const],
    ),
  );
  const lines = pieces.map(({ start, end }) => formsIn(text.slice(start, end)));
  const counts = new Map<string, number>();
  for (const forms of lines)
    for (const form of forms.keys()) counts.set(form, (counts.get(form) ?? 0) + 1);
  return pieces.map((piece, at) => [
    piece,
    new Map([...lines[at]!].map(([form, word]) => [word, kindOf(form, names) / counts.get(form)!])),
  ]);
}

function kindOf(form: string, names: ReadonlyMap<string, number>): number {
  if (form.includes("0000")) return OF_LONG_NUMBER;
  const named = names.get(form);
  if (named !== undefined) return named;
  if (form.includes("0")) return OF_NUMBER;
  return /^\p{Lu}/u.test(form) ? OF_CAPITAL : OF_WORD;
}

/** What is said in a line, and a word of each form. */
const formsIn = (text: string): Map<string, string> =>
  new Map(
    (text.match(/[\p{L}\p{N}_][\p{L}\p{N}_./:@#-]*/gu) ?? []).map((found) => {
      const word = wordOf(found);
      return [formOf(word), word];
    }),
  );

/** Without signs before it, as those of a path or a flag, and behind. */
const wordOf = (found: string): string => found.replace(/^[^\p{L}\p{N}_]+|[.:/-]+$/gu, "");

/** Lines of a log differ by their numbers only. */
const formOf = (word: string): string =>
  !/\d/.test(word)
    ? word
    : word.replace(/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,}\b/g, "0").replace(/\d/g, "0");
