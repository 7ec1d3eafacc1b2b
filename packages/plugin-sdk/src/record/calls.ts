// What a tool call names, and what its result says of that.
import type { BashExecutionMessage, ToolResultMessage } from "../contract/message.ts";
import { type AnyBlock, stringOf } from "../messages/blocks.ts";
import { oneLine, textOf } from "../transcript/text.ts";
import { type ArgumentName, argumentName } from "./argument-names.ts";
import { FOREIGN_DENIAL } from "./denial-words.ts";
import { tellsAll } from "./shell.ts";

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
/** Longer ones, lists of them and texts name no one path. */
const MAX_PATH = 160;
const NO_PATH = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const COMMAND_KEY = /^(?:command|cmd)$/;

/** What a tool does with the file that it is called with, by the tool's name. */
const VERBS: readonly (readonly [done: string, failed: string, tools: readonly string[]])[] = [
  ["read", "read failed", ["read", "read_file", "readfile", "view", "view_file", "open_file"]],
  [
    "written",
    "write failed",
    ["write", "write_file", "writefile", "create_file", "write_to_file", "createfile"],
  ],
  [
    "edited",
    "edit failed",
    [
      ...["edit", "edit_file", "editfile", "multiedit", "multi_edit", "edit_block"],
      ...["str_replace", "replace_in_file", "search_replace", "notebookedit", "notebook_edit"],
    ],
  ],
];

/** One argument of a call. */
export type Argument =
  | { kind: "path"; name: string; done: string | undefined; failed: string | undefined }
  | { kind: "command"; name: string; text: string; done: string }
  | { kind: "asked"; text: string }
  /** The whole of a text is a name. */
  | { kind: "named"; name: ArgumentName }
  /** A whole text, such as a file's new content. */
  | { kind: "written"; text: string };

/**
 * The arguments of a call, with what may be said of each when it succeeds and when it fails;
 * undefined: nothing. One after another: some calls have many thousand.
 */
export function* argumentsIn({ name, arguments: args }: AnyBlock): Generator<Argument> {
  if (typeof args !== "object" || args === null) return;
  const verb = verbOf(stringOf(name));
  for (const key of Object.keys(args)) {
    const value: unknown = args[key as keyof typeof args];
    const isList = Array.isArray(value) && value.every((one) => typeof one === "string");
    if (!isList) yield argumentOf(key, value, verb);
    // A path in a list of several is nothing that the call as a whole did.
    else for (const one of value) yield argumentOf("", one, verb);
  }
}

function argumentOf(key: string, value: unknown, verb: Verb): Argument {
  const one = typeof value === "string" ? value.trim() : "";
  if (PATH_KEY.test(key) && isOnePath(one)) return { kind: "path", name: one, ...verb };
  if (COMMAND_KEY.test(key) && one !== "")
    return {
      kind: "command",
      name: oneLine(one, MAX_LINE),
      text: one,
      done: tellsAll(one) ? "ok" : "ran",
    };
  if (BULK.has(key)) return { kind: "written", text: textsOf(value) };
  const name = argumentName(one);
  return name === undefined ? { kind: "asked", text: textsOf(value) } : { kind: "named", name };
}

const isOnePath = (text: string) => text !== "" && text.length <= MAX_PATH && !NO_PATH.test(text);

interface Verb {
  done: string | undefined;
  failed: string | undefined;
}

function verbOf(toolName: string): Verb {
  const name = toolName.toLowerCase().replace(/^mcp__.*?__/, "");
  const [done, failed] = VERBS.find(([, , tools]) => tools.includes(name)) ?? [];
  return { done, failed };
}

/** What a result says of its call. */
export type Outcome =
  | { kind: "done" }
  /** On one line. */
  | { kind: "failed"; why: string }
  /** It does not say that it failed, and reads as if it had. */
  | { kind: "unclear" };

/** How a text begins that tells of a failure. */
const FAILURE =
  /^\W*(?:error|fail(?:ed|ure)|fatal|exception|traceback|could ?n[o']t|can(?:not|'t)|unable|invalid|permission denied|access denied|no such|E[A-Z]{4,}\b)/i;
const DENIAL =
  /\bno (?:changes?|match|occurrences?|replacements?)\b|\bnot (?:been|found|changed|modified|written|edited|unique|exist|allowed|permitted)\b|\b(?:is|was|were|did|does|do)(?: not|n't)\b|\bdenied\b|\bfailed\b/i;
const EXIT_CODE = /\bexit(?:ed)?(?: with)?(?: code| status)?[: ]+[1-9]\d*\W*$/i;
const MAX_READ = 300;

/** By its flag and exit code; where both say nothing of a failure, by how its text reads. */
export function outcomeOf(result: ToolResultMessage): Outcome {
  const { exitCode } = (result.details ?? {}) as { exitCode?: unknown };
  const text = textOf(result);
  if (result.isError || (typeof exitCode === "number" && exitCode !== 0))
    return { kind: "failed", why: oneLine(text, MAX_LINE) || "no output" };
  if (exitCode === 0) return { kind: "done" };
  const start = text.slice(0, MAX_READ).trimStart().split("\n", 1)[0]!;
  const words = withoutPaths(start);
  return FAILURE.test(start) ||
    DENIAL.test(words) ||
    FOREIGN_DENIAL.test(words) ||
    EXIT_CODE.test(text.slice(-MAX_READ))
    ? { kind: "unclear" }
    : { kind: "done" };
}

const withoutPaths = (line: string) => line.replace(/\S*[/\\.]\S+/g, " ");

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

/**
 * Every text in an argument, each on lines of its own, however deep it is nested; those after
 * `leastChars` characters are left out.
 */
export function textsOf(value: unknown, leastChars: number = Number.POSITIVE_INFINITY): string {
  const texts: string[] = [];
  const open: Iterator<unknown>[] = [[value].values()];
  for (let chars = 0; open.length > 0 && chars < leastChars; ) {
    const { value: one, done } = open.at(-1)!.next();
    if (done) open.pop();
    else if (typeof one === "string") {
      texts.push(one);
      chars += one.length + 1;
    } else if (typeof one === "object" && one !== null) open.push(valuesOf(one));
  }
  return texts.join("\n");
}

/** One after another: some have many thousand, of which few are read. */
function* valuesOf(of: object): Generator<unknown> {
  if (Array.isArray(of)) yield* of;
  else for (const key of Object.keys(of)) yield of[key as keyof typeof of];
}
