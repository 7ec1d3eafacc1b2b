// Keeps a terminal showing what a chat knows, from the first moment on.
import type { Line } from "../../terminal/styled.ts";
import { isWorking } from "./conversation.ts";
import type { Key } from "./key.ts";
import type { Piece } from "./piece.ts";
import { planKey } from "./plan-key.ts";
import { renderPiece } from "./render-pieces.ts";
import { FRAME_MS, renderScreen } from "./render-screen.ts";
import { type ChatState, createChatState, type Effect } from "./state.ts";
import type { ChatTerminal, ChatTerminalOptions } from "./terminal.ts";

export interface LiveScreen {
  state(): ChatState;
  set(change: Partial<ChatState>): void;
  /** Puts it into the scrollback. */
  print(...pieces: readonly Piece[]): void;
  /** Who does what keys ask for, also what they asked for before. */
  perform(by: (effect: Effect) => void): void;
  readonly terminal: Pick<ChatTerminal, "forget" | "lend" | "suspend">;
  /** For what is printed. */
  columns(): number;
  /** Gives the terminal back; once more does nothing. */
  close(): void;
}

/** What comes together is shown together, ms. */
const PAINT_MS = 25;
/** tmux tells a program of a new size up to 250 ms after it broke the rows for it. */
const SETTLES_MS = 400;

export function showScreen(
  open: (given: Pick<ChatTerminalOptions, "onKeys" | "onResize" | "onStray">) => ChatTerminal,
): LiveScreen {
  let state = createChatState();
  let printed: Line[] = [];
  let performer: ((effect: Effect) => void) | undefined;
  let unperformed: Effect[] = [];
  let painting: NodeJS.Timeout | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let settling: NodeJS.Timeout | undefined;
  let isDue = false;
  let isClosed = false;

  const columns = () => Math.max(3, terminal.size().columns - 1);
  const paintNow = () => {
    clearTimeout(painting);
    painting = undefined;
    clearTimeout(settling);
    settling = undefined;
    if (isClosed) return;
    const screen = renderScreen(state, terminal.size(), Date.now());
    // What happens behind a view is printed once it is closed.
    const lines = screen.isWhole ? [] : printed;
    if (!screen.isWhole) printed = [];
    terminal.paint(lines, screen);
    tick();
  };
  const paint = () => {
    // A new size of which word has come already is heard first.
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      if (settling === undefined) paintNow();
    });
  };
  const resized = () => {
    clearTimeout(settling);
    // What is painted for a size that is no longer so cannot be found again.
    settling = setTimeout(paintNow, SETTLES_MS);
  };
  const tick = () => {
    const isMoving = isWorking(state.conversation) && !isClosed;
    if (isMoving) ticking ??= setInterval(paint, FRAME_MS);
    else {
      clearInterval(ticking);
      ticking = undefined;
    }
  };
  const paintSoon = () => {
    if (!isClosed) painting ??= setTimeout(paint, PAINT_MS);
  };
  const press = (keys: readonly Key[]) => {
    for (const key of keys) {
      const { state: next, effects } = planKey(state, key);
      state = next;
      for (const effect of effects)
        if (performer === undefined) unperformed.push(effect);
        else performer(effect);
    }
    // A key is answered at once.
    paint();
  };
  const print = (...pieces: readonly Piece[]) => {
    for (const piece of pieces) printed.push(...renderPiece(piece, columns()));
    paintSoon();
  };
  const terminal = open({
    onKeys: press,
    onResize: resized,
    onStray: (text) => print({ kind: "note", text: text.replace(/\n$/, "") }),
  });
  paintNow();
  return {
    state: () => state,
    set(change) {
      state = { ...state, ...change };
      paintSoon();
    },
    print,
    perform(by) {
      performer = by;
      for (const effect of unperformed) by(effect);
      unperformed = [];
    },
    terminal,
    columns,
    close() {
      if (isClosed) return;
      paintNow();
      isClosed = true;
      tick();
      terminal.close();
    },
  };
}
