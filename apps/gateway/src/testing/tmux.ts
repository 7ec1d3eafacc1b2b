// Drives a program in a terminal of tmux for tests, where there is one.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { BUILT_CLEW } from "./command.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
if (!hasTmux)
  process.stderr.write("tmux is missing: the tests that drive a terminal are skipped\n");

const SOON = { timeout: 120_000, interval: 50 };

export interface TmuxTerminal {
  /** As a keyboard would. */
  type(text: string): void;
  /** Names of tmux: "Enter", "C-c", "Escape", "Tab", "Up". */
  press(...keys: readonly string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** The rows that are seen, without spaces at their ends. */
  screen(): string;
  /** Also what was scrolled away. */
  all(): string;
  shows(text: string | RegExp): Promise<void>;
  showsNot(text: string | RegExp): Promise<void>;
  /** Until the program is gone; its exit code. */
  ended(): Promise<number>;
}

export interface TmuxOptions {
  env?: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
}

/** The built `clew chat`. */
export function chatInTmux(
  home: string,
  { args = [], env, ...options }: TmuxOptions & { args?: readonly string[] } = {},
): TmuxTerminal {
  const own = { CLEW_HOME: home, OPENCLAW_STATE_DIR: "", CLEW_DEMO: "off", NO_COLOR: "" };
  const command = [process.execPath, BUILT_CLEW, "chat", ...args];
  return inTmux(command, { ...options, env: { ...own, ...env } });
}

export function inTmux(words: readonly string[], options: TmuxOptions = {}): TmuxTerminal {
  const { env = {}, columns = 80, rows = 24 } = options;
  const folder = mkdtempSync(join(tmpdir(), "clew-tmux-"));
  const socket = join(folder, "socket");
  const tmux = (...words: readonly string[]): string => {
    const { stdout, stderr, status } = spawnSync(
      "tmux",
      ["-u", "-S", socket, "-f", "/dev/null", ...words],
      {
        encoding: "utf8",
        env: { ...process.env, LC_ALL: "C.UTF-8" },
      },
    );
    if (status !== 0 && !words.includes("kill-server"))
      throw new Error(`tmux ${words[0]}: ${stderr}`);
    return stdout;
  };
  const given = { LC_ALL: "C.UTF-8", ...env };
  const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  const variables = Object.entries(given).map(([name, value]) => quoted(`${name}=${value}`));
  const command = words.map(quoted).join(" ");
  tmux(
    ...["new-session", "-d", "-x", String(columns), "-y", String(rows)],
    // What it says at its end stays readable.
    `env ${variables.join(" ")} ${command}; echo "ended with $?"; exec sleep 600`,
  );
  onTestFinished(() => {
    tmux("kill-server");
    rmSync(folder, { recursive: true, force: true });
  });
  const capture = (...more: readonly string[]) =>
    tmux("capture-pane", "-p", ...more)
      .split("\n")
      .map((row) => row.trimEnd())
      .join("\n")
      .trimEnd();
  const screen = () => capture();
  const all = () => capture("-S", "-");
  const matches = (text: string | RegExp) =>
    typeof text === "string" ? all().includes(text) : text.test(all());
  return {
    type: (text) => void tmux("send-keys", "-l", "--", text),
    press: (...keys) => void tmux("send-keys", ...keys),
    paste(text) {
      const file = join(folder, "paste.txt");
      writeFileSync(file, text);
      tmux("load-buffer", file);
      tmux("paste-buffer", "-p");
    },
    resize: (width, height) =>
      void tmux("resize-window", "-x", String(width), "-y", String(height)),
    screen,
    all,
    shows: (text) => expect.poll(() => (matches(text) ? text : all()), SOON).toBe(text),
    showsNot: (text) => expect.poll(() => matches(text), SOON).toBe(false),
    async ended() {
      await expect.poll(all, SOON).toMatch(/^ended with \d+$/m);
      return Number(/^ended with (\d+)$/m.exec(all())![1]);
    },
  };
}

/** Pure. The same screen whenever it was seen. */
export const steady = (screen: string): string =>
  `${screen
    .replace(/\d+(?:\.\d+)? (?:ms|s)\b/g, "0 ms")
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋")
    .replace(/\b\d+\/(\d+k)/g, "0/$1")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:0")}\n`;
