// Lays out what changes at the bottom of a chat, from the running reply to the status line.

import { describeAsker, describeSession } from "../../approvals/approval.ts";
import { formatDuration } from "../../conversation/format.ts";
import {
  clip,
  clipLine,
  graphemes,
  type Line,
  oneLine,
  widthOf,
  wrapLine,
} from "../../terminal/styled.ts";
import { counted } from "../../text/number.ts";
import { visible, visibleJson } from "../../text/visible.ts";
import type { LiveTurn } from "./conversation.ts";
import type { Draft } from "./draft.ts";
import type { Menu } from "./menu.ts";
import { renderReplyLine } from "./render-pieces.ts";
import type { AskedApproval, ChatState, StatusLine } from "./state.ts";
import { renderView } from "./view.ts";

export interface Size {
  columns: number;
  rows: number;
}

export interface Screen {
  lines: readonly Line[];
  /** Null: it is hidden. */
  cursor: { row: number; column: number } | null;
  /** True: it takes the whole terminal, and what was there comes back. */
  isWhole: boolean;
}

/** No terminal that is smaller can show a chat; it is laid out for this. */
const LEAST: Size = { columns: 4, rows: 3 };

/** Pure. `now`: ms. No line is wider than the terminal, and no screen taller. */
export function renderScreen(state: ChatState, size: Size, now: number): Screen {
  const columns = Math.max(LEAST.columns, size.columns);
  const rows = Math.max(LEAST.rows, size.rows);
  if (state.view !== null)
    return { lines: renderView(state.view, { columns, rows }), cursor: null, isWhole: true };
  // The last column stays free: a row that is full makes terminals wait before they break it.
  const width = columns - 1;
  const input = renderInput(state, width, Math.max(1, Math.floor(rows / 3)));
  const below = [
    ...renderMenu(state.menu, width, Math.max(1, Math.floor(rows / 4))),
    ...(state.hint === null ? [] : [dim(state.hint, width)]),
    renderStatus(state.status, state.isReady, width),
  ];
  const above = [
    ...renderTurn(state.conversation.turn, { width, now, most: Math.max(1, Math.floor(rows / 3)) }),
    ...state.sent.slice(0, 3).map(({ text }) => dim(`waits: ${text.replace(/\s+/g, " ")}`, width)),
    ...(state.sent.length > 3 ? [dim(`and ${state.sent.length - 3} more`, width)] : []),
    ...renderApproval(state.approvals, width, Math.max(2, Math.floor(rows / 3))),
  ];
  // What runs on gives way to what is written.
  const roomBelow = Math.max(0, rows - 1 - input.lines.length);
  const shownBelow = below.slice(Math.max(0, below.length - roomBelow));
  const room = Math.max(0, rows - 1 - input.lines.length - shownBelow.length);
  const shownAbove = above.slice(Math.max(0, above.length - room));
  return {
    lines: [...shownAbove, ...input.lines, ...shownBelow],
    cursor: { row: shownAbove.length + input.cursor.row, column: input.cursor.column },
    isWhole: false,
  };
}

const dim = (text: string, columns: number): Line => [
  { text: clip(oneLine(text), columns), style: "dim" },
];

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** How long a frame of the spinner stands, ms. */
export const FRAME_MS = 100;

function renderTurn(
  turn: LiveTurn | null,
  { width, now, most }: { width: number; now: number; most: number },
): Line[] {
  if (turn === null) return [];
  const { rest, fence, rows } = turn.reply;
  const arriving = [
    ...(rows.length === 0 ? [] : renderReplyLine({ kind: "table", rows }, width)),
    ...(rest === ""
      ? []
      : renderReplyLine({ kind: fence === null ? "text" : "code", text: rest }, width)),
  ];
  const frame = FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length]!;
  const elapsed = formatDuration(Math.max(0, Math.floor((now - turn.since) / 100) * 100));
  const spinner: Line = clipLine(
    [
      { text: `${frame} `, style: "accent" },
      { text: doing(turn), style: "dim" },
      { text: ` ${elapsed} · Esc stops`, style: "dim" },
    ],
    width,
  );
  return [...arriving.slice(-most), spinner];
}

function doing({ tools, thought, isQuiet }: LiveTurn): string {
  const [tool, ...others] = Object.values(tools);
  if (tool !== undefined) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    return oneLine(`${clip(visible(tool.name), 40)}${more}`);
  }
  if (thought !== null) return `thinking, ${thought.words.toLocaleString("en-US")} words`;
  return isQuiet ? "waiting for the model" : "writing";
}

function renderApproval(approvals: readonly AskedApproval[], width: number, most: number): Line[] {
  const [asked] = approvals;
  if (asked === undefined) return [];
  const { approval } = asked;
  const given = visibleJson(approval.arguments, 2).split("\n");
  const about = `${describeAsker(approval.asker)} asks to run ${approval.name} in session ${describeSession(approval)}`;
  const lines = [
    ...wrapLine([{ text: visible(about), style: "strong" }], { columns: width }),
    ...given.flatMap((text) =>
      wrapLine([{ text: oneLine(text), style: "code" }], { columns: width, indent: "  " }),
    ),
  ];
  const shown = lines.length > most ? [...lines.slice(0, most - 1), dim("…", width)] : lines;
  const later = approvals.length === 1 ? "" : ` (${approvals.length - 1} more after it)`;
  const question = asked.mayBeAnswered
    ? `Allow it? y: once, s: in this session (${approval.grants}), n: no, then Enter${later}`
    : `It waits for y, s or n on an empty line${later}`;
  return [
    ...shown,
    ...wrapLine([{ text: visible(question), style: "accent" }], { columns: width }),
  ];
}

interface Input {
  lines: Line[];
  cursor: { row: number; column: number };
}

function renderInput(state: ChatState, width: number, most: number): Input {
  const { search, entries } = state.history;
  if (search !== null) {
    const none = search.words === "" ? "" : "(no earlier message has this)";
    const found = search.at === null ? none : (entries[search.at] ?? "");
    const before = `search: ${oneLine(search.words)}`;
    const shown = clip(before, width);
    const after = clip(
      oneLine(`  ${found.replace(/\s+/g, " ")}`),
      Math.max(0, width - widthOf(shown)),
    );
    return {
      lines: [[{ text: shown, style: "accent" }, { text: after }]],
      cursor: { row: 0, column: widthOf(shown) },
    };
  }
  return renderDraft(state.draft, width, most);
}

const PROMPT = "> ";
const GO_ON = "  ";
const TAB = "    ";

/** Of a long draft, the rows around the cursor, and how many are above and below them. */
function renderDraft(draft: Draft, width: number, most: number): Input {
  const columns = Math.max(2, width - PROMPT.length);
  const { rows, cursor } = placeDraft(draft, columns);
  const tellsRest = rows.length > most && most > 2;
  const room = tellsRest ? most - 1 : most;
  const start = Math.max(0, Math.min(cursor.row - room + 1, rows.length - room));
  const rest = tellsRest ? [restLine(start, rows.length - start - room, width)] : [];
  const lines = rows
    .slice(start, start + room)
    .map(
      (text, index): Line =>
        clipLine(
          [{ text: start + index === 0 ? PROMPT : GO_ON, style: "accent" }, { text }],
          width,
        ),
    );
  const column = Math.min(width, cursor.column + PROMPT.length);
  return { lines: [...rest, ...lines], cursor: { row: rest.length + cursor.row - start, column } };
}

function restLine(above: number, below: number, width: number): Line {
  const rest = [
    ...(above > 0 ? [`${counted(above, "row")} above`] : []),
    ...(below > 0 ? [`${counted(below, "row")} below`] : []),
  ];
  return dim(`… ${rest.join(", ")}`, width);
}

/** The rows of a draft, and where the cursor is in them. */
function placeDraft(
  { text, cursor }: Draft,
  columns: number,
): { rows: string[]; cursor: { row: number; column: number } } {
  const rows: string[] = [];
  let row = "";
  let width = 0;
  let at = 0;
  let place: { row: number; column: number } | undefined;
  const end = () => {
    rows.push(row);
    row = "";
    width = 0;
  };
  for (const line of text.split("\n")) {
    for (const grapheme of graphemes(line)) {
      const shown = grapheme === "\t" ? TAB.slice(0, columns) : oneLine(grapheme);
      const own = widthOf(shown);
      if (width + own > columns) end();
      if (at >= cursor) place ??= { row: rows.length, column: width };
      row += own > columns ? "?" : shown;
      width += Math.min(own, columns);
      at += grapheme.length;
    }
    if (at >= cursor && place === undefined) {
      if (width >= columns) end();
      place = { row: rows.length, column: width };
    }
    end();
    at++;
  }
  return { rows, cursor: place ?? { row: rows.length - 1, column: 0 } };
}

function renderMenu(menu: Menu | null, width: number, most: number): Line[] {
  if (menu === null) return [];
  const { options, chosen } = menu;
  const first = Math.min(Math.max(0, (chosen ?? 0) - most + 1), Math.max(0, options.length - most));
  const shown = options.slice(first, first + most);
  const longest = Math.max(...shown.map(({ text }) => widthOf(oneLine(text))));
  const lines = shown.map(({ text, about }, index): Line => {
    const name = oneLine(text);
    const padded = about === undefined ? name : name + " ".repeat(longest - widthOf(name));
    return clipLine(
      [
        { text: "  " },
        { text: padded, style: first + index === chosen ? "chosen" : undefined },
        ...(about === undefined ? [] : [{ text: `  ${oneLine(about)}`, style: "dim" as const }]),
      ],
      width,
    );
  });
  const hidden = options.length - shown.length;
  return hidden === 0 ? lines : [...lines, dim(`  and ${hidden} more`, width)];
}

const BAR = 8;
const BETWEEN = " · ";

/** What has no room is left out, the least important first. */
function renderStatus(status: StatusLine | null, isReady: boolean, width: number): Line {
  if (status === null) return dim(isReady ? "" : "starting…", width);
  const { model, engine, context, fromCache, cost, turnMs } = status;
  const away = isReady ? [] : ["away"];
  const cache = fromCache === null ? [] : [`cache ${Math.round(100 * fromCache)} %`];
  const spent = cost === null ? [] : [cost];
  const time = turnMs === null ? [] : [formatDuration(turnMs)];
  const { bar, share } = context === null ? { bar: [], share: [] } : contextTexts(context);
  const name = model.slice(model.indexOf("/") + 1);
  const lines = [
    [...away, model, engine, ...bar, ...cache, ...spent, ...time],
    [...away, model, engine, ...share, ...cache, ...spent, ...time],
    [...away, name, engine, ...share, ...cache, ...spent],
    [...away, name, engine, ...share, ...spent],
    [...away, name, ...share, ...spent],
    [...away, ...share, name],
  ].map((parts) => parts.map(oneLine).join(BETWEEN));
  return dim(lines.find((line) => widthOf(line) <= width) ?? lines.at(-1)!, width);
}

/** How near the next compaction is, with a bar and without. */
function contextTexts({ tokens, highWater }: NonNullable<StatusLine["context"]>) {
  if (highWater <= 0) return { bar: [`${short(tokens)} tokens`], share: [short(tokens)] };
  const share = tokens / highWater;
  const full = Math.max(0, Math.min(BAR, Math.round(share * BAR)));
  const bar = "▰".repeat(full) + "▱".repeat(BAR - full);
  const percent = `${Math.round(100 * share)} %`;
  return { bar: [`${bar} ${short(tokens)}/${short(highWater)} (${percent})`], share: [percent] };
}

const short = (tokens: number): string =>
  tokens < 10_000 ? String(Math.round(tokens)) : `${Math.round(tokens / 1000)}k`;
