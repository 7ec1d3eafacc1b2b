// The whole session on the screen, where thoughts and tools can be opened.
import type { ChatItem, ReplyPart } from "../../conversation/chat-view.ts";
import { clip, type Line, oneLine, wrapLine } from "../../terminal/styled.ts";
import type { Key } from "./key.ts";
import { countWords, endOf, piecesOf } from "./piece.ts";
import { number, renderPiece, renderTool } from "./render-pieces.ts";
import { linesOf } from "./reply-lines.ts";

export interface View {
  rows: readonly ViewRow[];
  /** Of the row that keys are about. */
  at: number;
  /** Rows that are open. */
  open: ReadonlySet<number>;
  /** Set once; what was laid out for a width. */
  readonly laidOut: Map<string, readonly Line[]>;
}

/** What is opened as one. */
export type ViewRow =
  | { kind: "item"; item: ChatItem }
  | { kind: "text"; text: string; isFirst: boolean }
  | { kind: "fold"; part: Extract<ReplyPart, { kind: "tool" | "thinking" }> }
  | { kind: "detail"; text: string; detail: string };

/** Pure. At its end, where the newest is. */
export function createView(items: readonly ChatItem[]): View {
  const rows = items.flatMap(rowsOf);
  return { rows, at: Math.max(0, rows.length - 1), open: new Set(), laidOut: new Map() };
}

function rowsOf(item: ChatItem): ViewRow[] {
  if (item.kind === "mark" && item.detail !== null)
    return [{ kind: "detail", text: item.text, detail: item.detail }];
  if (item.kind !== "reply") return [{ kind: "item", item }];
  const parts = item.parts.map(
    (part, index): ViewRow =>
      part.kind === "text"
        ? { kind: "text", text: part.text, isFirst: index === 0 }
        : { kind: "fold", part },
  );
  return item.ending === null ? parts : [...parts, { kind: "item", item: { ...item, parts: [] } }];
}

const PAGE = 10;

/** Pure. Null: it is closed. */
export function planViewKey(view: View, key: Key): View | null {
  const { rows, at } = view;
  const to = (row: number): View => ({ ...view, at: Math.max(0, Math.min(rows.length - 1, row)) });
  const name = key.kind === "press" ? key.name : key.text;
  switch (name) {
    case "escape":
    case "interrupt":
    case "open":
    case "q":
      return null;
    case "up":
    case "k":
      return to(at - 1);
    case "down":
    case "j":
      return to(at + 1);
    case "page-up":
      return to(at - PAGE);
    case "page-down":
    case " ":
      return to(at + PAGE);
    case "home":
    case "start":
    case "g":
      return to(0);
    case "end":
    case "finish":
    case "G":
      return to(rows.length - 1);
    case "enter":
    case "right":
    case "left":
      return { ...view, open: toggled(view.open, [at]) };
    case "a":
      return { ...view, open: view.open.size > 0 ? new Set() : new Set(rows.keys()) };
    default:
      return view;
  }
}

function toggled(open: ReadonlySet<number>, rows: readonly number[]): ReadonlySet<number> {
  const next = new Set(open);
  for (const row of rows) if (!next.delete(row)) next.add(row);
  return next;
}

/** As many lines as there are rows; the one that keys are about is among them. */
export function renderView(
  view: View,
  { columns, rows }: { columns: number; rows: number },
): Line[] {
  const width = columns - 1;
  const room = rows - 1;
  const shown: Line[] = [];
  // From the chosen row upwards, so that a long session costs what is seen of it.
  for (let index = view.at; index >= 0 && shown.length < room; index--)
    shown.unshift(...marked(view, index, width));
  const above =
    shown.length > room
      ? fitsWhole(view, width, room)
        ? shown.slice(-room)
        : shown.slice(shown.length - marked(view, view.at, width).length).slice(0, room)
      : shown;
  const lines = [...above];
  for (let index = view.at + 1; index < view.rows.length && lines.length < room; index++)
    lines.push(...marked(view, index, width));
  const body = lines.slice(0, room);
  while (body.length < room) body.push([]);
  const place =
    view.rows.length === 0 ? "nothing was said yet" : `${view.at + 1} of ${view.rows.length}`;
  return [
    ...body,
    [
      {
        text: clip(`↑↓ move · Enter opens · a opens all · q back · ${place}`, width),
        style: "chosen",
      },
    ],
  ];
}

const fitsWhole = (view: View, width: number, room: number) =>
  marked(view, view.at, width).length <= room;

/** With a sign in front of the chosen row. */
function marked(view: View, index: number, width: number): Line[] {
  const sign = index === view.at ? "▌" : " ";
  return linesAt(view, index, width - 1).map(
    (line): Line => [{ text: sign, style: "accent" }, ...line],
  );
}

function linesAt(view: View, index: number, width: number): readonly Line[] {
  const isOpen = view.open.has(index);
  const name = `${index} ${width} ${isOpen}`;
  const known = view.laidOut.get(name);
  if (known !== undefined) return known;
  const lines = linesOfRow(view.rows[index]!, isOpen, width);
  view.laidOut.set(name, lines);
  return lines;
}

function linesOfRow(row: ViewRow, isOpen: boolean, columns: number): Line[] {
  switch (row.kind) {
    case "item":
      return piecesOf(row.item).flatMap((piece) => renderPiece(piece, columns));
    case "text":
      return renderPiece(
        { kind: "reply", lines: linesOf(row.text), isFirst: row.isFirst },
        columns,
      );
    case "detail": {
      const head = renderPiece({ kind: "mark", text: row.text, detail: null }, columns);
      return isOpen ? [...head, ...whole(row.detail, columns)] : head;
    }
    case "fold":
      return [foldLine(row.part, columns), ...(isOpen ? openPart(row.part, columns) : [])];
  }
}

function foldLine(part: Extract<ViewRow, { kind: "fold" }>["part"], columns: number): Line {
  if (part.kind === "thinking")
    return [
      { text: clip(`∴ thought, ${number(countWords(part.text), "word")}`, columns), style: "dim" },
    ];
  return renderTool({ name: part.name, input: part.input, end: endOf(part), ms: null }, columns);
}

const openPart = (part: Extract<ViewRow, { kind: "fold" }>["part"], columns: number): Line[] =>
  part.kind === "thinking"
    ? whole(part.text, columns)
    : [...whole(part.input, columns), ...whole(part.output ?? "(no result yet)", columns)];

const whole = (text: string, columns: number): Line[] =>
  text.split("\n").flatMap((line) =>
    wrapLine([{ text: `  ${oneLine(line)}`, style: "dim" }], {
      columns,
      indent: "  ",
      anywhere: true,
    }),
  );
