// Lays out styled text in lines that no terminal has to break.
import { createRequire } from "node:module";
import type stringWidth from "string-width";
import { printable } from "./output.ts";

export type Style =
  | "strong"
  | "emphasis"
  | "code"
  | "dim"
  | "heading"
  | "accent"
  | "good"
  | "bad"
  | "chosen";

export interface Span {
  text: string;
  /** Absent: as the terminal shows text. */
  style?: Style | undefined;
}

/** One row of a terminal, or what is to be wrapped into rows. */
export type Line = readonly Span[];

const TAB = "    ";
const IS_ASCII = /^[\u0020-\u007e]*$/;
/** One column each. The first character beyond these costs 50 ms, for the emoji there are. */
export const IS_NARROW =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03c9\u0410-\u044f\u2010-\u2027\u2190-\u21ff\u2200-\u22ff\u2500-\u25fc\u2800-\u28ff]$/;
/** Its patterns take a twentieth of a gateway's start, which shows nobody such a character. */
let loaded: typeof stringWidth | undefined;
function columnsOf(text: string): number {
  loaded ??= (createRequire(import.meta.url)("string-width") as { default: typeof stringWidth })
    .default;
  return loaded(text);
}
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Pure. Text of anybody as one line: nothing in it moves the cursor or turns the order around. */
export const oneLine = (text: string): string =>
  IS_ASCII.test(text)
    ? text
    : printable(text.replaceAll("\t", TAB).toWellFormed()).replace(/[\n\u2028\u2029]/g, " ");

/** Pure. What people see as single characters. */
export const graphemes = (text: string): string[] =>
  IS_ASCII.test(text)
    ? text.split("")
    : Array.from(segmenter.segment(text), ({ segment }) => segment);

/** Pure. In columns. */
export const widthOf = (text: string): number =>
  IS_ASCII.test(text)
    ? text.length
    : graphemes(text).reduce((sum, each) => sum + graphemeWidth(each), 0);

const known = new Map<string, number>();
const MOST_KNOWN = 4096;

/** That of a text is the sum of these, so that what is measured is what is wrapped. */
export function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && IS_NARROW.test(grapheme)) return 1;
  const found = known.get(grapheme);
  if (found !== undefined) return found;
  // What is drawn in two columns, whatever it is made of, never takes more.
  const width = Math.min(2, columnsOf(grapheme));
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(grapheme, width);
  return width;
}

export const lineWidth = (line: Line): number =>
  line.reduce((sum, { text }) => sum + widthOf(text), 0);

export const textOfLine = (line: Line): string => line.map(({ text }) => text).join("");

/** Pure. As much of the text as fits, with "…" where something is missing. */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const grapheme of graphemes(text)) {
    width += graphemeWidth(grapheme);
    if (width > columns - 1) break;
    kept += grapheme;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** Pure. */
export function clipLine(line: Line, columns: number): Line {
  if (lineWidth(line) <= columns) return line;
  const kept: Span[] = [];
  let left = columns;
  for (const span of line) {
    const text = clip(span.text, left);
    if (text !== "") kept.push({ ...span, text });
    left -= widthOf(text);
    if (text !== span.text) break;
  }
  return kept;
}

export interface WrapOptions {
  columns: number;
  /** Stands before all rows but the first. Absent: nothing does. */
  indent?: string;
  /** Breaks anywhere, as for code. Absent: between words, where there are any. */
  anywhere?: boolean;
}

interface Cell {
  text: string;
  width: number;
  style: Style | undefined;
}

/** Pure. At least one row; none is wider than `columns`. */
export function wrapLine(
  line: Line,
  { columns, indent: wanted = "", anywhere = false }: WrapOptions,
): Line[] {
  const indent = widthOf(wanted) * 2 > columns || widthOf(wanted) + 2 > columns ? "" : wanted;
  const indentWidth = widthOf(indent);
  const rows: Line[] = [];
  let row: Cell[] = [];
  let width = 0;
  /** Where the row may end: behind its last space. */
  let breakAt = 0;
  const begin = (cells: Cell[]) => {
    const lead = indent === "" ? [] : [{ text: indent, width: indentWidth, style: undefined }];
    row = [...lead, ...cells];
    width = sumOf(row);
    breakAt = 0;
  };
  for (const { text, style } of line)
    for (const grapheme of graphemes(text)) {
      const own = graphemeWidth(grapheme);
      const cell =
        own > columns ? { text: "?", width: 1, style } : { text: grapheme, width: own, style };
      if (width + cell.width > columns) {
        const word = row.slice(breakAt);
        const isMoved =
          !anywhere && breakAt > 0 && indentWidth + sumOf(word) + cell.width <= columns;
        rows.push(joined(isMoved ? row.slice(0, breakAt) : row));
        begin(isMoved ? word : []);
        // The space between two rows is seen by nobody.
        if (grapheme === " " && !anywhere && !isMoved) continue;
      }
      row.push(cell);
      width += cell.width;
      if (grapheme === " ") breakAt = row.length;
    }
  rows.push(joined(row));
  return rows;
}

const sumOf = (cells: readonly Cell[]) => cells.reduce((sum, { width }) => sum + width, 0);

function joined(cells: readonly Cell[]): Line {
  const spans: { text: string; style?: Style | undefined }[] = [];
  for (const { text, style } of cells) {
    const last = spans.at(-1);
    if (last !== undefined && last.style === style) last.text += text;
    else spans.push(style === undefined ? { text } : { text, style });
  }
  return spans;
}

const ATTRIBUTES: Record<Style, string> = {
  ...{ strong: "1", emphasis: "3", code: "36", dim: "2", heading: "1;4", accent: "34" },
  ...{ good: "32", bad: "31", chosen: "7" },
};
const WITHOUT_COLOURS: Record<Style, string> = {
  ...ATTRIBUTES,
  ...{ code: "", accent: "1", good: "", bad: "1" },
};

/** Pure. The bytes of a row; texts were made safe before, and are once more. */
export function encodeLine(line: Line, { hasColours }: { hasColours: boolean }): string {
  const codes = hasColours ? ATTRIBUTES : WITHOUT_COLOURS;
  return line
    .map(({ text, style }) => {
      const code = style === undefined ? "" : codes[style];
      const safe = oneLine(text);
      return code === "" || safe === "" ? safe : `\u001b[${code}m${safe}\u001b[0m`;
    })
    .join("");
}
