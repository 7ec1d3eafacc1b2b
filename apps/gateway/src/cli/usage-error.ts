// Says in one sentence what is wrong with how a command was typed.
import { type Command, CommanderError } from "commander";
import { printable } from "../terminal/output.ts";
import { didYouMean } from "../text/nearest.ts";
import { exampleOf } from "./examples.ts";

/** What commander found, as a sentence. */
export class UsageError extends CommanderError {
  constructor(command: Command, error: CommanderError) {
    super(error.exitCode, error.code, describeUsageError(command, error));
  }
}

/** The process is the caller's to end, and what is wrong is said once, in our words. */
export function throwInsteadOfExit(command: Command): void {
  command.exitOverride((error) => {
    const isWrong = error.exitCode !== 0 && error.code !== "commander.help";
    throw isWrong ? new UsageError(command, error) : error;
  });
  for (const below of command.commands) throwInsteadOfExit(below);
}

/** Pure. With what was meant, or else an example; ends with its code. */
export function describeUsageError(command: Command, { code, message }: CommanderError): string {
  const name = nameOf(command);
  const told = tell(command, code, message.replace(/^error: /, ""));
  const example = code === "commander.unknownOption" ? undefined : exampleOf(command);
  const next =
    example !== undefined && /missing|needs/.test(told)
      ? `; for example: ${example}`
      : `${/[.?]$/.test(told) ? "" : "."} "${name} --help" lists what there is.`;
  return printable(`${name}: ${told}${next} [REQUEST_INVALID]`.replaceAll(/\s*\n\s*/g, " "));
}

/** The words by which people call it: "clew sessions show". */
export const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

function tell(command: Command, code: string, message: string): string {
  const [quoted = ""] = [...message.matchAll(/'(.+?)'/g)].map(([, inner]) => inner!);
  switch (code) {
    case "commander.unknownOption":
      return unknownFlag(command, quoted);
    case "commander.missingMandatoryOptionValue": {
      // A mistyped flag is often the very one that is missing.
      const typed = command.args.find((word) => word.startsWith("-"));
      return typed === undefined ? `${quoted} is missing` : unknownFlag(command, typed);
    }
    case "commander.missingArgument":
      return `<${quoted}> is missing`;
    case "commander.optionMissingArgument":
      return `${quoted} needs a value`;
    case "commander.excessArguments": {
      const [word] = command.args.slice(command.registeredArguments.length);
      const hint = command.registeredArguments.length > 0 ? "; quotes keep words together" : "";
      return `"${word}" is one word too many${hint}`;
    }
    case "commander.unknownCommand":
      return `unknown command "${quoted}".${didYouMean(quoted, namesBelow(command))}`;
    case "commander.invalidArgument":
      return invalidValue(message);
    default:
      return message;
  }
}

function unknownFlag(command: Command, typed: string): string {
  const flag = typed.replace(/=.*$/s, "");
  return `unknown flag "${flag}".${didYouMean(flag, flagsOf(command))}`;
}

const namesBelow = (command: Command): string[] => command.commands.map((each) => each.name());

const flagsOf = (command: Command): string[] => [
  "--help",
  ...command.options.flatMap(({ hidden, long }) => (hidden || !long ? [] : [long])),
];

function invalidValue(message: string): string {
  const [, flags = "", value = "", why = ""] =
    /^option '(.+?)' argument '(.*)' is invalid\. (.*)$/s.exec(message) ??
    swapped(
      /^command-argument value '(.*)' is invalid for argument '(.+?)'\. (.*)$/s.exec(message),
    );
  const named = /--[\w-]+/.exec(flags)?.[0] ?? (flags === "" ? undefined : `<${flags}>`);
  if (named === undefined) return message;
  const [, choices] = /^Allowed choices are (.*)\.$/.exec(why) ?? [];
  if (choices === undefined) return `${named} ${JSON.stringify(value)} ${why}`;
  return `${named} ${JSON.stringify(value)} must be one of ${choices}.${didYouMean(value, choices.split(", "))}`;
}

/** Of an argument, its value is named before it. */
const swapped = (found: RegExpExecArray | null): readonly string[] =>
  found === null ? [] : [found[0], found[2]!, found[1]!, found[3]!];
