// Decides which bytes turn what a terminal shows into what it shall show.
import {
  encodeLine,
  graphemes,
  graphemeWidth,
  type Line,
  textOfLine,
} from "../../terminal/styled.ts";
import type { Screen } from "./render-screen.ts";

/** What is on the terminal below the scrollback. */
export interface Painted {
  /** As they are there. */
  rows: readonly string[];
  cursor: Screen["cursor"];
  isWhole: boolean;
  /** What was written, however the terminal has broken it since. */
  written: { texts: readonly string[]; cursor: Screen["cursor"] };
  /** Its rows go on in the next ones, and so would what is written over them. */
  isBroken: boolean;
}

export const NOTHING_PAINTED: Painted = {
  rows: [],
  cursor: { row: 0, column: 0 },
  isWhole: false,
  written: { texts: [], cursor: { row: 0, column: 0 } },
  isBroken: false,
};

export interface PaintRequest {
  before: Painted;
  /** Goes above the screen, for good. */
  printed: readonly Line[];
  screen: Screen;
  hasColours: boolean;
}

const HIDE = "\u001b[?25l";
const SHOW = "\u001b[?25h";
/** Terminals that know it show nothing half done. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
const ENTER_WHOLE = "\u001b[?1049h";
const LEAVE_WHOLE = "\u001b[?1049l";
const SAVE = "\u001b7";
const RESTORE = "\u001b8";
const LINE = "\u001b[2K";
const TO_LINE_END = "\u001b[K";
const TO_SCREEN_END = "\u001b[J";

/** Pure. Rows that stay the same are not written again. */
export function planPaint({ before, printed, screen, hasColours }: PaintRequest): {
  bytes: string;
  painted: Painted;
} {
  const rows = screen.lines.map((line) => encodeLine(line, { hasColours }));
  const painted: Painted = {
    ...{ rows, cursor: screen.cursor, isWhole: screen.isWhole, isBroken: false },
    written: { texts: screen.lines.map(textOfLine), cursor: screen.cursor },
  };
  if (screen.isWhole) return { bytes: paintWhole(before, rows), painted };
  const above = printed.map((line) => encodeLine(line, { hasColours }));
  const same = above.length > 0 ? 0 : countSame(before.rows, rows);
  const isSame = same === rows.length && same === before.rows.length;
  const isStill =
    isSame &&
    before.cursor?.row === screen.cursor?.row &&
    before.cursor?.column === screen.cursor?.column;
  if (isStill) return { bytes: "", painted };
  const from = before.cursor?.row ?? Math.max(0, before.rows.length - 1);
  if (isSame) return { bytes: toCursor(from, screen.cursor), painted };
  // Where nothing is changed but what comes after, the last row that is the same is begun behind.
  const first = Math.min(same, Math.max(0, before.rows.length - 1), Math.max(0, rows.length - 1));
  const written = [...above, ...rows.slice(first)];
  const bytes = [
    ...[BEGIN, HIDE, moveRows(from, first), "\r"],
    before.isBroken ? clearRows(before.rows.length - first) : "",
    written.map((row) => `${row}${TO_LINE_END}`).join("\r\n"),
    before.rows.length > rows.length + above.length
      ? TO_SCREEN_END
      : clearBelow(before, rows, above),
    toCursor(Math.max(0, rows.length - 1), screen.cursor),
    ...[screen.cursor === null ? "" : SHOW, END],
  ].join("");
  return { bytes, painted };
}

/** What was below is gone, also where a terminal broke its rows anew. */
const clearBelow = (before: Painted, rows: readonly string[], above: readonly string[]): string =>
  before.rows.length === 0 && above.length === 0 && rows.length === 0 ? "" : TO_SCREEN_END;

/** A row that went on in the next one ends that only when all of it is cleared. */
function clearRows(count: number): string {
  if (count < 1) return "";
  // A terminal that got lower has dropped rows at its end: how far down it goes is not known.
  return `${SAVE}${Array.from({ length: count }, () => LINE).join(moveRows(0, 1))}${RESTORE}`;
}

function paintWhole(before: Painted, rows: readonly string[]): string {
  const isSame = before.isWhole && countSame(before.rows, rows) === rows.length;
  if (isSame) return "";
  const enter = before.isWhole ? "" : ENTER_WHOLE;
  const body = rows.map((row) => `${row}${TO_LINE_END}`).join("\r\n");
  return `${BEGIN}${enter}${HIDE}\u001b[H${body}${TO_SCREEN_END}${END}`;
}

/** Pure. What brings the terminal back from a view of the whole. */
export const LEAVE_VIEW = `${LEAVE_WHOLE}${SHOW}`;

/** Pure. Where the screen stands once the terminal has broken its rows for another width. */
export function afterResize(painted: Painted, columns: number): Painted {
  const { texts, cursor } = painted.written;
  if (painted.isWhole || cursor === null || columns < 1) return painted;
  const heights = texts.map((text) => rowAt(text, Number.POSITIVE_INFINITY, columns) + 1);
  const above = heights.slice(0, cursor.row).reduce((sum, height) => sum + height, 0);
  const row = above + rowAt(texts[cursor.row] ?? "", cursor.column, columns);
  const height = heights.reduce((sum, each) => sum + each, 0);
  // Nothing of it is known to be as it was.
  const rows = Array.from({ length: height }, () => "\u0000");
  return { ...painted, rows, cursor: { ...cursor, row }, isBroken: true };
}

/** In which of the rows that a terminal breaks the text into a column is; beyond it: the last. */
function rowAt(text: string, column: number, columns: number): number {
  let row = 0;
  let taken = 0;
  let before = 0;
  for (const grapheme of graphemes(text)) {
    const width = graphemeWidth(grapheme);
    // What is wide goes on as a whole.
    if (taken + width > columns) {
      row++;
      taken = 0;
    }
    if (before >= column) return row;
    taken += width;
    before += width;
  }
  return row;
}

function countSame(before: readonly string[], after: readonly string[]): number {
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same++;
  return same;
}

function moveRows(from: number, to: number): string {
  if (from === to) return "";
  return from > to ? `\u001b[${from - to}A` : `\u001b[${to - from}B`;
}

function toCursor(from: number, cursor: Screen["cursor"]): string {
  if (cursor === null) return "";
  const column = cursor.column === 0 ? "" : `\u001b[${cursor.column}C`;
  return `${moveRows(from, cursor.row)}\r${column}`;
}
