// Refuses a flag that stands where the value of another flag is missing.
import { type Command, CommanderError, type Option } from "commander";
import { UsageError } from "./usage-error.ts";

/** Pure. Throws where the flag would be taken for a value: a file called "--json", for example. */
export function refuseFlagAsValue(program: Command, argv: readonly string[]): void {
  let command = program;
  for (const [index, word] of argv.entries()) {
    if (word === "--") return;
    command = command.commands.find((each) => each.name() === word) ?? command;
    const awaiting = command.options.find((option) => option.required && isCalled(option, word));
    const next = argv[index + 1] ?? "";
    if (awaiting === undefined || !isFlagOf(command, next)) continue;
    const message = `error: option '${word}' argument missing`;
    throw new UsageError(
      command,
      new CommanderError(1, "commander.optionMissingArgument", message),
    );
  }
}

const isCalled = ({ long, short }: Option, word: string): boolean =>
  word !== "" && (word === long || word === short);

const isFlagOf = ({ options }: Command, word: string): boolean =>
  word === "--help" || word === "-h" || options.some((option) => isCalled(option, word));
