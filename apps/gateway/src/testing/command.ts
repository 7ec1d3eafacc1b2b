// Runs `clew` for tests, in this process or as the built command.
import { fileURLToPath } from "node:url";
import { runCli } from "../cli/run.ts";
import { readEnvironment } from "../config/environment.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { Output } from "../terminal/output.ts";
import { type Child, startChild } from "./child.ts";

const SOURCE = new URL("../main.ts", import.meta.url);
/** The tests' global setup sees to it that it is current. */
const BUILT = new URL("../../dist/main.js", import.meta.url);
export const BUILT_CLEW = fileURLToPath(BUILT);

export interface StartOptions {
  env?: NodeJS.ProcessEnv;
  ipc?: boolean;
  /** Run the TypeScript sources instead of what was built from them. */
  fromSource?: boolean;
}

export interface CommandResult {
  code: number | null;
  output: string;
  errors: string;
}

/** Its standard input is open, its standard error collected. */
export function startClew(
  home: string,
  args: readonly string[],
  { env, ipc, fromSource = false }: StartOptions = {},
): Child {
  return startChild(fromSource ? SOURCE : BUILT, [...args], {
    env: { CLEW_HOME: home, OPENCLAW_STATE_DIR: "", CLEW_DEMO: "off", ...env },
    stderr: true,
    ...(ipc !== undefined && { ipc }),
  });
}

/** Runs a command in a process of its own, with nothing on its standard input, to its end. */
export async function runClew(
  home: string,
  args: readonly string[],
  options?: StartOptions,
): Promise<CommandResult> {
  const child = startClew(home, args, options);
  child.process.stdin!.end();
  const code = await exitCodeOf(child);
  return { code, output: child.lines.join("\n"), errors: child.errors().trim() };
}

/**
 * Of one that may be ended because a plugin blocks it: Node aborts about once in sixty times when
 * it ends while it is halted, and has said why by then.
 */
export async function exitCodeOf(child: Child): Promise<number | null> {
  const code = await child.exit;
  const isAborted = child.process.signalCode === "SIGABRT";
  return isAborted && child.errors().includes("clew: stopping: ") ? EXIT.blocked : code;
}

/**
 * Runs a command in this process: for what it prints and does to its home. `variables`: what else
 * its environment has.
 */
export async function clew(
  home: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const output = collectOutput();
  const environment = readEnvironment({ CLEW_HOME: home, ...variables });
  const code = await runCli(args, { environment, output });
  return { code, output: output.out().replace(/\n$/, ""), errors: output.errors().trim() };
}

/** An output that keeps what it is told. */
export function collectOutput(): Output & { out(): string; errors(): string } {
  const out: string[] = [];
  const errors: string[] = [];
  return {
    line: (text = "") => void out.push(text, "\n"),
    write: (text) => void out.push(text),
    note: (text) => void errors.push(text, "\n"),
    json: (value) => void out.push(JSON.stringify(value, null, 2), "\n"),
    out: () => out.join(""),
    errors: () => errors.join(""),
  };
}
