// Runs the built `clew` in a terminal of its own, whose keys and screen are pipes.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { gatewayCommand } from "../gateway/gateway-process.ts";

export interface InTerminal {
  type(keys: string): void;
  /** Resolves with the time once what was written since `type` or the start holds `text`. */
  shows(text: string): Promise<number>;
  /** Until the program is gone; null = it was killed. */
  ended(): Promise<number | null>;
}

/** util-linux makes the terminal. Throws where it is not there. */
export function inTerminal(home: string, args: readonly string[]): InTerminal {
  if (spawnSync("script", ["--version"]).status !== 0)
    throw new Error('A terminal is made by the "script" of util-linux, which is not here.');
  const words = [process.execPath, ...gatewayCommand(), ...args];
  const command = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = spawn("script", ["-qefc", `stty cols 100 rows 40; exec ${command}`, "/dev/null"], {
    env: { ...process.env, CLEW_HOME: home, TERM: "xterm-256color", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  return conversing(child);
}

/** More of what was shown is not kept. */
const KEPT = 100_000;

function conversing(child: ChildProcess): InTerminal {
  let shown = "";
  let waiting: { text: string; found(at: number): void } | undefined;
  const look = () => {
    if (waiting === undefined || !shown.includes(waiting.text)) return;
    const { found } = waiting;
    waiting = undefined;
    found(performance.now());
  };
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
    shown = (shown + chunk).slice(-KEPT);
    look();
  });
  const exit = once(child, "exit");
  return {
    type(keys) {
      shown = "";
      child.stdin!.write(keys);
    },
    shows: (text) =>
      new Promise((found) => {
        waiting = { text, found };
        look();
      }),
    ended: async () => ((await exit) as [number | null])[0],
  };
}
