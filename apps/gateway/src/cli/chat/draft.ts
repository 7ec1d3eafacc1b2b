// What a person is writing, and how keys change it.

import { printable } from "../../terminal/output.ts";
import { graphemes, widthOf } from "../../terminal/styled.ts";

export interface Draft {
  text: string;
  /** In UTF-16 units from the beginning; never inside of what people see as one character. */
  cursor: number;
}

export const NO_DRAFT: Draft = { text: "", cursor: 0 };

export type Motion =
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "line-start"
  | "line-end"
  | "start"
  | "end";

/** Pure. Without what could steer a terminal; line feeds and tabs stay. */
export const writtenText = (text: string): string =>
  printable(
    text
      .replace(/\r\n?/g, "\n")
      .replace(/[\u2028\u2029]/g, "\n")
      .toWellFormed(),
  );

/** Pure. */
export function insert({ text, cursor }: Draft, inserted: string): Draft {
  const added = writtenText(inserted);
  return settled(text.slice(0, cursor) + added + text.slice(cursor), cursor + added.length);
}

/** Pure. Without what lies between the cursor and where the motion leads, and that by itself. */
export function cut(draft: Draft, motion: Motion): { draft: Draft; taken: string } {
  const to = move(draft, motion).cursor;
  const [from, end] = to < draft.cursor ? [to, draft.cursor] : [draft.cursor, to];
  const text = draft.text.slice(0, from) + draft.text.slice(end);
  return { draft: settled(text, from), taken: draft.text.slice(from, end) };
}

/** Pure. */
export function move(draft: Draft, motion: Motion): Draft {
  return { ...draft, cursor: placeOf(draft, motion) };
}

function placeOf({ text, cursor }: Draft, motion: Motion): number {
  const before = text.slice(0, cursor);
  const after = text.slice(cursor);
  switch (motion) {
    case "left":
      return cursor - (graphemes(lastLineAndBreak(before)).at(-1)?.length ?? 0);
    case "right":
      return cursor + (graphemes(firstPiece(after))[0]?.length ?? 0);
    case "word-left":
      return edgesAt(text, before.replace(/[^\p{L}\p{N}_]*[\p{L}\p{N}_\p{M}]*$/u, "").length)
        .before;
    case "word-right":
      return edgesAt(
        text,
        cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_\p{M}]*/u.exec(after)?.[0].length ?? 0),
      ).behind;
    case "line-start":
      return before.lastIndexOf("\n") + 1;
    case "line-end":
      return cursor + (after.includes("\n") ? after.indexOf("\n") : after.length);
    case "start":
      return 0;
    case "end":
      return text.length;
  }
}

/** No more than is needed of a long text. */
const lastLineAndBreak = (before: string) =>
  before.endsWith("\n")
    ? "\n"
    : before.slice(Math.max(before.lastIndexOf("\n") + 1, before.length - 256));
const firstPiece = (after: string) => after.slice(0, 256);

/**
 * Pure. A line up (-1) or down (1), in about the same column; undefined: there is none.
 */
export function moveLine(draft: Draft, by: -1 | 1): Draft | undefined {
  const lines = draft.text.split("\n");
  const { line, column } = placeIn(draft);
  const target = lines[line + by];
  if (target === undefined) return undefined;
  const before = lines.slice(0, line + by).reduce((sum, each) => sum + each.length + 1, 0);
  let width = 0;
  let offset = 0;
  for (const grapheme of graphemes(target)) {
    width += widthOf(grapheme);
    if (width > column) break;
    offset += grapheme.length;
  }
  return { ...draft, cursor: before + offset };
}

/** Pure. Line and column of the cursor, from 0. */
export function placeIn({ text, cursor }: Draft): { line: number; column: number } {
  const before = text.slice(0, cursor);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length - 1, column: widthOf(before.slice(lineStart)) };
}

/** A cursor that came to stand inside of a character goes behind it. */
const settled = (text: string, cursor: number): Draft => ({
  text,
  cursor: edgesAt(text, cursor).behind,
});

/** Where the character begins and ends that a place is in; between two, both are the place. */
function edgesAt(text: string, place: number): { before: number; behind: number } {
  const lineStart = text.lastIndexOf("\n", place - 1) + 1;
  let before = Math.max(lineStart, place - 256);
  let behind = before;
  for (const grapheme of graphemes(text.slice(before, place + 64))) {
    if (behind >= place) break;
    before = behind;
    behind += grapheme.length;
  }
  // A place on a line feed, or at the end, is between two.
  return behind > place ? { before, behind } : { before: place, behind: place };
}
