// What a tool call names, and what its result says of that.
import type { BashExecutionMessage, ToolResultMessage } from "../contract/message.ts";
import { type AnyBlock, stringOf } from "../messages/blocks.ts";
import { oneLine, textOf } from "../transcript/text.ts";

/** A command or error is shown on one line of this many characters. */
const MAX_LINE = 100;
const MAX_FAILURE = 80;
/** Arguments that hold whole texts; what is named there is written, not asked for. */
const BULK = new Set([
  "content",
  "old_string",
  "new_string",
  "oldText",
  "newText",
  "oldString",
  "newString",
  "patch",
  "prompt",
]);
const PATH_KEY = /^(?:path|file_path|filePath|notebook_path|file|cwd|dir|directory)$/;
/** Not a list of them, and no text. */
const ONE_PATH = /^\s*\S[^\n\r]{0,158}\s*$/;
const COMMAND_KEY = /^(?:command|cmd)$/;

/** One argument of a call. */
export type Argument =
  | { kind: "path"; name: string; done: string | undefined; failed: string | undefined }
  | { kind: "command"; name: string; text: string; done: string }
  | { kind: "asked"; text: string }
  /** A whole text, such as a file's new content. */
  | { kind: "written"; text: string };

/**
 * The arguments of a call, with what may be said of each when it succeeds and when it fails;
 * undefined: nothing.
 */
export function argumentsIn({ name, arguments: args }: AnyBlock): Argument[] {
  if (typeof args !== "object" || args === null) return [];
  const verb = verbOf(stringOf(name));
  return Object.entries(args).map(([key, value]): Argument => {
    if (typeof value === "string" && PATH_KEY.test(key) && ONE_PATH.test(value))
      return { kind: "path", name: value.trim(), ...verb };
    if (typeof value === "string" && COMMAND_KEY.test(key) && value.trim() !== "")
      return {
        kind: "command",
        name: oneLine(value, MAX_LINE),
        text: value,
        done: tellsAll(value) ? "ok" : "ran",
      };
    return { kind: BULK.has(key) ? "written" : "asked", text: textsOf(value) };
  });
}

/** Why a tool failed, on one line; undefined when it says that it did not. */
export function failureIn(result: ToolResultMessage): string | undefined {
  const { exitCode } = (result.details ?? {}) as { exitCode?: unknown };
  const failed = result.isError || (typeof exitCode === "number" && exitCode !== 0);
  return failed ? oneLine(textOf(result), MAX_LINE) || "no output" : undefined;
}

/** What is said of a command that failed so. */
export const failedAs = (failure: string): string => `failed: ${oneLine(failure, MAX_FAILURE)}`;

/** A command that a person ran, and how it ended; undefined: nobody said. */
export function shellCommand({ command, exitCode, cancelled }: BashExecutionMessage): {
  name: string;
  state: string | undefined;
} {
  const ended =
    exitCode === 0 ? (tellsAll(command) ? "ok" : "ran") : `failed: exit code ${exitCode}`;
  const state = cancelled ? "cancelled" : typeof exitCode === "number" ? ended : undefined;
  return { name: oneLine(command, MAX_LINE), state };
}

/** An exit code tells of the last command only: of a list or a pipe, it does not tell all. */
function tellsAll(command: string): boolean {
  const bare = command.replace(/'[^']*'|"[^"]*"/g, "").trim();
  const piped = /(?<!\|)\|(?!\|)/.test(bare) && !bare.includes("pipefail");
  const listed = /[;\n]|\|\||(?<![&>])&(?![&>])/.test(bare) && !/\bset -\w*e/.test(bare);
  return !piped && !listed;
}

/** Of tools that do something with one file. */
function verbOf(toolName: string): { done: string | undefined; failed: string | undefined } {
  const name = toolName.toLowerCase().replace(/^mcp__.*?__/, "");
  if (name === "write") return { done: "written", failed: "write failed" };
  if (name.includes("edit")) return { done: "edited", failed: "edit failed" };
  if (name === "read") return { done: "read", failed: "read failed" };
  return { done: undefined, failed: undefined };
}

/** Every text in an argument, each on lines of its own. */
export function textsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(textsOf).join("\n");
}
