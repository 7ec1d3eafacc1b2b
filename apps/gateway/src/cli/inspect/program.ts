// The command `clew inspect` and its options.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

export function addInspectCommand(
  program: Command,
  shell: Shell,
  done: (exitCode: number) => void,
): void {
  program
    .command("inspect")
    .description(
      "show a session's model calls and what became of each entry in them, also while a gateway runs; exit code 1 when what is looked for is nowhere, 2 when what is named is not there",
    )
    .argument("<session>", "a session's name, or a session file in a home")
    .option("--call <id>", 'one call in full; "58.3" is the third call of turn 58')
    .option("--dearest", "in the place of --call: the call that cost most")
    .option("--fullest", "in the place of --call: the call that came closest to its budget")
    .addOption(new Option("--turn <number>", "a row for each call of one turn").argParser(asWhole))
    .option(
      "--diff <id>",
      "what became different from this call, whichever it is, to that of --call, or to the newest",
    )
    .option("--entry <number>", "what became of one entry from call to call; a number, or its id")
    .option("--find <text>", "where a text stands, and in which calls the model could read it")
    .addOption(
      new Option("--after <number>", "with --find: entries behind this number").argParser(asWhole),
    )
    .addOption(
      new Option("--limit <count>", "with --find: entries at most, default 200").argParser(asWhole),
    )
    .option(
      "--bisect <text>",
      "the very call in which a text left the model's sight, and what took it",
    )
    .option("--request", "with --call: the request alone, to the byte; with --json its hashes, too")
    .addOption(new Option("--json", "print JSON"))
    .action(async (name: string, options) =>
      done(await (await import("./inspect.ts")).inspectCommand(name, options, shell)),
    );
}

function asWhole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("must be a whole number.");
}
