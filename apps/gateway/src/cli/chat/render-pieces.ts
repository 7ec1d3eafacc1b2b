// Lays out what goes into the scrollback, as wide as the terminal is.

import { formatDuration } from "../../conversation/format.ts";
import { type Block, type Inline, parseMarkdown } from "../../conversation/markdown.ts";
import {
  clip,
  type Line,
  lineWidth,
  oneLine,
  type Span,
  type Style,
  widthOf,
  wrapLine,
} from "../../terminal/styled.ts";
import type { Piece } from "./piece.ts";
import type { ReplyLine } from "./reply-lines.ts";

const BLANK: Line = [];

/** Pure. No line is wider than `columns`. */
export function renderPiece(piece: Piece, columns: number): Line[] {
  switch (piece.kind) {
    case "person":
      return [BLANK, ...renderPerson(piece, columns)];
    case "reply":
      return [
        ...(piece.isFirst ? [BLANK] : []),
        ...piece.lines.flatMap((line) => renderReplyLine(line, columns)),
      ];
    case "thought":
      return [fold(`∴ thought${time(piece.ms, " for")}, ${number(piece.words, "word")}`, columns)];
    case "tool":
      return [renderTool(piece, columns)];
    case "answer":
      return [
        BLANK,
        ...wrapAll([{ text: `> ${piece.command}`, style: "dim" }], { columns, indent: "  " }),
        ...piece.text
          .split("\n")
          .flatMap((text) => plain(text, columns, piece.isRefusal ? "bad" : undefined)),
      ];
    case "mark":
      return [BLANK, ...renderMark(piece, columns)];
    case "problem":
      return plain(`clew: ${piece.text}`, columns, "bad");
    case "note":
      return plain(piece.text, columns, "dim");
  }
}

export const time = (ms: number | null, before: string): string =>
  ms === null ? "" : `${before} ${formatDuration(ms)}`;

export const number = (count: number, noun: string): string =>
  `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

const fold = (text: string, columns: number): Line => [
  { text: clip(oneLine(text), columns), style: "dim" },
];

const wrapAll = (line: Line, options: Parameters<typeof wrapLine>[1]): Line[] =>
  wrapLine(
    line.map((span) => ({ ...span, text: oneLine(span.text) })),
    options,
  );

function plain(text: string, columns: number, style?: Style): Line[] {
  return text
    .split("\n")
    .flatMap((each) => wrapAll([{ text: each, style }], { columns, indent: indentOf(each) }));
}

/** Rows of columns stay under each other, as far as there is room. */
const indentOf = (text: string): string => /^ */.exec(text)?.[0] ?? "";

/** Of a longer text, the first lines are shown again, as it stood in the draft before. */
const MOST_SAID = 24;

function renderPerson(
  { text, images }: Extract<Piece, { kind: "person" }>,
  columns: number,
): Line[] {
  const shown =
    images === 0 ? text : `${text}${text === "" ? "" : "\n"}[${number(images, "image")}]`;
  const lines = shown.split("\n").flatMap((line, index) =>
    wrapAll(
      [
        { text: index === 0 ? "> " : "  ", style: "accent" },
        { text: line, style: "strong" },
      ],
      { columns, indent: "  " },
    ),
  );
  if (lines.length <= MOST_SAID + 1) return lines;
  const more = fold(`  and ${number(lines.length - MOST_SAID, "line")} more (Ctrl-O)`, columns);
  return [...lines.slice(0, MOST_SAID), more];
}

export function renderTool(
  { name, input, end, ms }: Pick<Extract<Piece, { kind: "tool" }>, "name" | "input" | "end" | "ms">,
  columns: number,
): Line {
  const isBad = end === "failed" || end === "refused";
  const told = `${isBad ? ` ${end}` : ""}${time(ms, isBad ? " after" : " ")}`;
  const room = Math.max(0, columns - 3 - widthOf(oneLine(name)) - widthOf(told));
  const about = clip(oneLine(input).replace(/\s+/g, " "), room);
  const line: Line = [
    { text: isBad ? "✗ " : "● ", style: isBad ? "bad" : "good" },
    { text: `${oneLine(name)} `, style: "strong" },
    { text: about, style: "dim" },
    { text: told, style: isBad ? "bad" : "dim" },
  ];
  return lineWidth(line) <= columns
    ? line
    : [{ text: clip(line.map(({ text }) => text).join(""), columns) }];
}

function renderMark({ text, detail }: Extract<Piece, { kind: "mark" }>, columns: number): Line[] {
  const head = wrapAll([{ text: `— ${text}`, style: "dim" }], { columns, indent: "  " });
  if (detail === undefined || detail === null) return head;
  const [first = ""] = detail.split("\n").filter((line) => line.trim() !== "");
  return [...head, [{ text: clip(`  ${oneLine(first)}`, columns), style: "dim" }]];
}

export function renderReplyLine(line: ReplyLine, columns: number): Line[] {
  switch (line.kind) {
    case "code":
      return wrapAll([{ text: line.text, style: "code" }], { columns, anywhere: true });
    case "code-start":
      return line.text === "" ? [] : [fold(line.text, columns)];
    case "table":
      return renderTable(line.rows, columns);
    case "text":
      return renderText(line.text, columns);
  }
}

function renderText(source: string, columns: number): Line[] {
  const [block] = parseMarkdown(source);
  if (block === undefined) return [BLANK];
  const indent = indentOf(source);
  switch (block.kind) {
    case "heading":
      return wrapAll(spansOf(block.children, "heading"), { columns });
    case "rule":
      return [[{ text: "─".repeat(Math.min(columns, 40)), style: "dim" }]];
    case "quote":
      return wrapAll([{ text: "│ ", style: "dim" }, ...spansOf(block.children, "emphasis")], {
        columns,
        indent: "│ ",
      });
    case "list": {
      const bullet = `${indent}${block.start === null ? "•" : `${block.start}.`} `;
      const item = block.items[0] ?? [];
      return wrapAll([{ text: bullet, style: "accent" }, ...spansOf(item)], {
        columns,
        indent: " ".repeat(widthOf(bullet)),
      });
    }
    case "paragraph":
      return wrapAll([...(indent === "" ? [] : [{ text: indent }]), ...spansOf(trimmed(block))], {
        columns,
        indent,
      });
    case "preformatted":
      return wrapAll([{ text: source }], { columns, anywhere: true });
  }
}

/** The indent is written by itself. */
function trimmed({ children }: Extract<Block, { kind: "paragraph" }>): readonly Inline[] {
  const [first, ...others] = children;
  return first?.kind === "text"
    ? [{ ...first, text: first.text.replace(/^ +/, "") }, ...others]
    : children;
}

const spansOf = (parts: readonly Inline[], style?: Style): Span[] =>
  parts.flatMap((part) => spansOfPart(part, style));

function spansOfPart(part: Inline, style: Style | undefined): Span[] {
  switch (part.kind) {
    case "text":
      return [{ text: part.text, style }];
    case "code":
      return [{ text: part.text, style: "code" }];
    case "strong":
    case "emphasis":
      return spansOf(part.children, style === "heading" ? style : part.kind);
    case "link":
      return part.text === part.href
        ? [{ text: part.href, style: "accent" }]
        : [
            { text: part.text, style },
            { text: ` (${part.href})`, style: "dim" },
          ];
  }
}

function renderTable(rows: readonly string[], columns: number): Line[] {
  const cells = rows.map((row) =>
    row
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => oneLine(cell.trim())),
  );
  const isRule = (row: readonly string[]) => row.every((cell) => /^:?-+:?$/.test(cell));
  const shown = cells.filter((row) => !isRule(row));
  const count = Math.max(0, ...shown.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(0, ...shown.map((row) => widthOf(row[index] ?? ""))),
  );
  const total = widths.reduce((sum, width) => sum + width + 3, 0) - 3;
  // One that has no room is shown as it was written.
  if (total > columns)
    return rows.flatMap((row) => wrapAll([{ text: row }], { columns, indent: "  " }));
  const hasHead = cells[1] !== undefined && isRule(cells[1]);
  return shown.flatMap((row, index): Line[] => {
    const line: Line = [
      {
        text: widths
          .map((width, column) => {
            const cell = row[column] ?? "";
            return cell + " ".repeat(width - widthOf(cell));
          })
          .join(" │ ")
          .trimEnd(),
        style: index === 0 && hasHead ? "strong" : undefined,
      },
    ];
    const rule: Line = [
      { text: widths.map((width) => "─".repeat(width)).join("─┼─"), style: "dim" },
    ];
    return index === 0 && hasHead ? [line, rule] : [line];
  });
}
