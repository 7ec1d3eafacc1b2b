// The `clew storage` commands and their options.
import { type Command, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

const PLACES = `
A place is one of:
  files           this home
  a folder        another home (/path, ./name); one that is not there is made
  postgres        the database of storage.url, or of CLEW_STORAGE_URL
  postgres://...  another one; others see what is typed, and the password in it

Copies what both sides do not have yet, and writes over nothing that only one side has. One that was
ended goes on when it is begun again. Exit code 1: something could not be copied, and is named; with
--check also when something is to be copied.
`;

/** `done` receives a command's exit code. */
export function addStorageCommands(
  program: Command,
  shell: Shell,
  done: (exitCode: number) => void,
): void {
  const storage = program
    .command("storage")
    .description("copy sessions between files and PostgreSQL");
  storage
    .command("copy")
    .description(
      "copy all sessions, with what belongs to them, from files into PostgreSQL or back; the source stays",
    )
    .requiredOption("--to <place>", "where they are copied to")
    .option("--from <place>", "where they are now; default: files, or postgres where --to is files")
    .option("--check", "change nothing; say what both sides do not have alike")
    .addOption(new Option("--json", "print JSON"))
    .addHelpText("after", PLACES)
    .action(async (options) => done(await (await import("./copy.ts")).storageCopy(options, shell)));
}
