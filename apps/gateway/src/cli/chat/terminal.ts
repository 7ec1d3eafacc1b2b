// Reads keys from a terminal and paints what a chat shows on it.
import { spawn } from "node:child_process";
import { emitKeypressEvents } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { ReadStream, WriteStream } from "node:tty";
import type { TerminalVariables } from "../../config/terminal-variables.ts";
import type { Line } from "../../terminal/styled.ts";
import { createKeyReader, type Key, type Keypress } from "./key.ts";
import { afterResize, LEAVE_VIEW, NOTHING_PAINTED, type Painted, planPaint } from "./plan-paint.ts";
import type { Screen, Size } from "./render-screen.ts";

export interface ChatTerminal {
  size(): Size;
  paint(printed: readonly Line[], screen: Screen): void;
  /** Shows all of the screen anew. */
  forget(): void;
  /** Hands the terminal to a program until it ends; its exit code, null = it could not be run. */
  lend(command: string, args: readonly string[]): Promise<number | null>;
  /** Lets a shell have the terminal until it brings this program back. */
  suspend(): Promise<void>;
  /** Gives the terminal back as it was, below what was printed. */
  close(): void;
}

export interface ChatTerminalOptions {
  input: ReadStream;
  output: WriteStream;
  variables: Pick<TerminalVariables, "hasColours" | "breaksRows">;
  onKeys(keys: readonly Key[]): void;
  onResize(): void;
  /** Words that somebody else of this process wants to write. */
  onStray(text: string): void;
}

const BEGIN_PASTES = "\u001b[?2004h";
const END_PASTES = "\u001b[?2004l";
/** How long a lone Escape may be the beginning of another key, ms. */
const ESCAPE_MS = 30;
/** Within what time a program that was told to stop has done so, ms. */
const STOPS_MS = 50;

export function openTerminal(options: ChatTerminalOptions): ChatTerminal {
  const { input, output, variables, onKeys, onResize, onStray } = options;
  const { hasColours, breaksRows } = variables;
  const reader = createKeyReader();
  const write = output.write.bind(output);
  let painted: Painted = NOTHING_PAINTED;
  /** What is below a screen that takes the whole terminal. */
  let behind: Painted | null = null;
  let arrived: Keypress[] = [];
  let isLent = false;

  const take = () => {
    const keys = reader.take(arrived);
    arrived = [];
    if (keys.length > 0 && !isLent) onKeys(keys);
  };
  const onKeypress = (text: string | undefined, key: Omit<Keypress, "text">) => {
    if (arrived.length === 0) queueMicrotask(take);
    arrived.push({ text, ...key });
  };
  const resized = () => {
    if (breaksRows) {
      painted = afterResize(painted, output.columns);
      behind = behind && afterResize(behind, output.columns);
    }
    onResize();
  };
  const hold = () => {
    input.setRawMode(true);
    input.resume();
    write(BEGIN_PASTES);
  };
  const release = () => {
    if (behind !== null) write(LEAVE_VIEW);
    painted = behind ?? painted;
    behind = null;
    const nothing: Screen = { lines: [], cursor: { row: 0, column: 0 }, isWhole: false };
    write(
      `${planPaint({ before: painted, printed: [], screen: nothing, hasColours }).bytes}\r\u001b[J${END_PASTES}`,
    );
    painted = NOTHING_PAINTED;
    input.setRawMode(false);
    input.pause();
  };
  const letGo = takeStray(onStray);
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as never);
  input.on("keypress", onKeypress);
  output.on("resize", resized);
  hold();
  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    release();
    letGo();
    input.off("keypress", onKeypress);
    output.off("resize", resized);
    process.off("exit", close);
  };
  // Whatever ends the process, the terminal is a person's again.
  process.once("exit", close);
  return {
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    paint(printed, screen) {
      if (isLent) return;
      let before = painted;
      if (screen.isWhole && behind === null) behind = painted;
      else if (!screen.isWhole && behind !== null) {
        write(LEAVE_VIEW);
        before = behind;
        behind = null;
      }
      const { bytes, painted: next } = planPaint({ before, printed, screen, hasColours });
      painted = next;
      if (bytes !== "") write(bytes);
    },
    forget() {
      painted = { ...painted, rows: painted.rows.map(() => "\u0000") };
    },
    async lend(command, args) {
      release();
      isLent = true;
      const code = await run(command, args);
      isLent = false;
      hold();
      return code;
    },
    async suspend() {
      release();
      isLent = true;
      // All of the job, as the terminal itself would have told it. Without a shell nothing stops.
      process.kill(0, "SIGTSTP");
      await delay(STOPS_MS);
      isLent = false;
      hold();
    },
    close,
  };
}

const run = (command: string, args: readonly string[]): Promise<number | null> =>
  new Promise((resolve) => {
    const child = spawn(command, [...args], { stdio: "inherit", shell: false });
    child.once("error", () => resolve(null));
    child.once("exit", (code) => resolve(code ?? 1));
  });

/** What others write meanwhile would stand in the middle of what is painted. */
function takeStray(onStray: (text: string) => void): () => void {
  const streams = [process.stdout, process.stderr].filter((stream) => stream.isTTY);
  const before = streams.map((stream) => stream.write);
  for (const stream of streams)
    stream.write = ((chunk: string | Uint8Array, ...more: unknown[]) => {
      onStray(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      const done = more.find((each) => typeof each === "function") as (() => void) | undefined;
      if (done !== undefined) queueMicrotask(done);
      return true;
    }) as typeof stream.write;
  return () => {
    for (const [index, stream] of streams.entries()) stream.write = before[index]!;
  };
}
