// Runs the built `clew` at a terminal of its own for tests, where `script` can make one.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { BUILT_CLEW } from "./command.ts";

/** That of util-linux; others take other options. */
export const hasTerminals =
  process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

export interface AtTerminal {
  type(keys: string): void;
  /** All that the screen was sent. */
  shown(): string;
  kill(signal: NodeJS.Signals): void;
  /** As somebody who closes the window. */
  closeWindow(): void;
  /** Whether the program is still there. */
  runs(): boolean;
  exit: Promise<number | null>;
}

export function clewAtTerminal(home: string, args: readonly string[]): AtTerminal {
  const pidFile = join(home, "pid");
  const quoted = [process.execPath, BUILT_CLEW, ...args].map((word) => `'${word}'`).join(" ");
  const command = `echo $$ > '${pidFile}'; exec ${quoted}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    env: { ...process.env, CLEW_HOME: home, SHELL: "/bin/sh", TERM: "xterm" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.on("data", (piece) => {
    shown += piece;
  });
  return {
    type: (keys) => void child.stdin.write(keys),
    shown: () => shown,
    closeWindow: () => void child.kill("SIGKILL"),
    runs: () => existsSync(`/proc/${readFileSync(pidFile, "utf8").trim()}/exe`),
    kill: (signal) => void process.kill(Number(readFileSync(pidFile, "utf8")), signal),
    exit: new Promise((resolve) => child.once("exit", resolve)),
  };
}
