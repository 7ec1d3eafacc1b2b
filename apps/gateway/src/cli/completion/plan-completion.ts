// Decides what may stand where the cursor is in a line that calls `clew`.
import type { Argument, Command, Option } from "commander";

/** What only the home knows. */
export type Named = "session" | "model" | "engine" | "plugin" | "setting" | "agent" | "job";

export interface Candidates {
  /** Known from the definition of the commands: their names, flags and choices. */
  words: readonly string[];
  named: readonly Named[];
  /** Whether a path may stand there. */
  files: boolean;
}

const NOTHING: Candidates = { words: [], named: [], files: false };

/** Pure. `typed`: the words behind `clew` up to the cursor, the last of them begun or empty. */
export function planCompletion(program: Command, typed: readonly string[]): Candidates {
  const begun = typed.at(-1) ?? "";
  const { command, rest } = walk(program, typed.slice(0, -1));
  const given = optionAwaiting(command, rest.at(-1));
  if (given !== undefined) return valuesOf(given.argChoices, ofOption(given));
  if (begun.startsWith("-")) return { ...NOTHING, words: flagsOf(command) };
  if (command.commands.length > 0) return { ...NOTHING, words: namesBelow(command) };
  const argument = argumentAt(command, rest);
  return argument === undefined
    ? { ...NOTHING, words: flagsOf(command) }
    : valuesOf(argument.argChoices, ofArgument(command, argument));
}

export const isVisible = (parent: Command, command: Command): boolean =>
  parent.createHelp().visibleCommands(parent).includes(command);

const namesBelow = (command: Command): string[] =>
  command.commands.filter((each) => isVisible(command, each)).map((each) => each.name());

/** The command that is meant, and what stands behind its name. */
function walk(program: Command, words: readonly string[]): { command: Command; rest: string[] } {
  let command = program;
  for (const [index, word] of words.entries()) {
    const next = command.commands.find(
      (each) => each.name() === word || each.aliases().includes(word),
    );
    if (next === undefined) return { command, rest: words.slice(index) };
    command = next;
  }
  return { command, rest: [] };
}

const takesValue = (option: Option): boolean => option.required || option.optional;

/** The option whose value follows `word`. */
const optionAwaiting = (command: Command, word = ""): Option | undefined =>
  command.options.find(
    (option) => takesValue(option) && word !== "" && [option.long, option.short].includes(word),
  );

const flagsOf = (command: Command): string[] => [
  ...command.options.flatMap(({ long, hidden }) => (hidden || !long ? [] : [long])),
  "--help",
];

/** Undefined: all that it takes is there. */
function argumentAt(command: Command, rest: readonly string[]): Argument | undefined {
  let count = 0;
  for (const [index, word] of rest.entries())
    if (!word.startsWith("-") && optionAwaiting(command, rest[index - 1]) === undefined) count++;
  const all = command.registeredArguments;
  const last = all.at(-1);
  return all[count] ?? (last?.variadic === true ? last : undefined);
}

function valuesOf(choices: readonly string[] | undefined, kinds: readonly Kind[]): Candidates {
  return {
    words: choices ?? [],
    named: kinds.filter((kind) => kind !== "file"),
    files: kinds.includes("file"),
  };
}

type Kind = Named | "file";

const OPTIONS: Readonly<Record<string, readonly Kind[]>> = {
  ...{ "--session": ["session"], "--model": ["model"], "--engine": ["engine"] },
  ...{ "--agent": ["agent"], "--to": ["file"], "--into": ["file"], "--out": ["file"] },
  ...{ "--file": ["file"], "--files": ["file"], "--html": ["file"], "--script": ["file"] },
  ...{ "--config": ["file"], "--sessions": ["file"], "--replay": ["file"] },
};

const ofOption = ({ long }: Option): readonly Kind[] => OPTIONS[long ?? ""] ?? [];

/** By what an argument is called; in some groups a name is always one of the same kind. */
const ARGUMENTS: Readonly<Record<string, readonly Kind[]>> = {
  ...{
    session: ["session"],
    "provider/model": ["model"],
    job: ["job"],
    target: ["engine", "file"],
  },
  ...{ recording: ["session", "file"], recordings: ["session", "file"], spec: ["file"] },
  ...{ file: ["file"], files: ["file"], folder: ["file"], places: ["file"] },
};
const GROUPS: Readonly<Record<string, Readonly<Record<string, readonly Kind[]>>>> = {
  sessions: { name: ["session"], names: ["session"] },
  config: { name: ["setting"] },
  plugins: { id: ["plugin"], ids: ["plugin"] },
};

/** Pure. */
export const takesSession = (command: Command, argument: Argument): boolean =>
  ofArgument(command, argument).includes("session");

function ofArgument(command: Command, argument: Argument): readonly Kind[] {
  const name = argument.name();
  return GROUPS[command.parent?.name() ?? ""]?.[name] ?? ARGUMENTS[name] ?? [];
}
