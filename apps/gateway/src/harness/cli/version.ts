// Asks a program which version it is, and whether that one is supported.
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { delimiter, isAbsolute, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { visible } from "../../text/visible.ts";
import type { CliBackend } from "./backend.ts";

const ANSWER_MS = 30_000;
const QUOTED = 80;

/** Pure. The first "1.2.3" in it. */
export const versionIn = (text: string): string | undefined => /\d+\.\d+\.\d+/.exec(text)?.[0];

/** Pure. */
export function isAtLeast(version: string, oldest: string): boolean {
  const numbers = version.split(".").map(Number);
  for (const [index, least] of oldest.split(".").map(Number).entries()) {
    const own = numbers[index] ?? 0;
    if (own !== least) return own > least;
  }
  return true;
}

export interface Versions {
  /** Asked once for each file; throws HARNESS_UNAVAILABLE with what a person should do. */
  of(command: string, env: Record<string, string>): Promise<string>;
}

export function createVersions(backend: CliBackend, setting: string): Versions {
  const known = new Map<string, string>();
  return {
    async of(command, env) {
      const file = await signature(command, env.PATH ?? "");
      const before = file === undefined ? undefined : known.get(file);
      if (before !== undefined) return before;
      const version = await ask(backend, { command, env, setting });
      if (file !== undefined) known.set(file, version);
      return version;
    },
  };
}

/** Changes where the program is replaced; undefined: it is not found. */
async function signature(command: string, path: string): Promise<string | undefined> {
  const places =
    isAbsolute(command) || command.includes("/")
      ? [resolve(command)]
      : path.split(delimiter).map((folder) => resolve(folder, command));
  for (const place of places) {
    const found = await stat(place).catch(() => undefined);
    if (found?.isFile()) return `${place} ${found.ino} ${found.size} ${found.mtimeMs}`;
  }
  return undefined;
}

function ask(
  { name, install, oldest }: CliBackend,
  { command, env, setting }: { command: string; env: Record<string, string>; setting: string },
): Promise<string> {
  const whatNext = `Update it (${install}) or name another one in ${setting}.`;
  return new Promise((done, fail) => {
    const refuse = (text: string) => fail(new ContextEngineError("HARNESS_UNAVAILABLE", text));
    const child = execFile(
      command,
      ["--version"],
      { env, timeout: ANSWER_MS, killSignal: "SIGKILL" },
      (error, stdout) => {
        if (error?.code === "ENOENT")
          return refuse(
            `${name} is not there: nothing is called ${visible(command)}. Install it (${install}) or name it in ${setting}.`,
          );
        if (error !== null && typeof error.code === "string")
          return refuse(`${visible(command)} cannot be run: ${visible(error.message)}.`);
        const version = versionIn(stdout);
        if (version === undefined)
          return refuse(
            `${visible(command)} --version says "${visible(stdout.trim().slice(0, QUOTED))}", which names no version of ${name}. ${whatNext}`,
          );
        if (!isAtLeast(version, oldest))
          return refuse(
            `${name} ${version} (${visible(command)}) is not supported: version ${oldest} or newer is needed. ${whatNext}`,
          );
        done(version);
      },
    );
    child.stdin?.end();
  });
}
