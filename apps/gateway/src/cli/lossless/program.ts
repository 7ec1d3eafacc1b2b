// The `clew lossless` commands and their options.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const json = () => new Option("--json", "print JSON");
const agent = () =>
  new Option("--agent <id>", "only this agent's database; default: every agent's");
const load = () => import("./operate.ts");

/** `done` receives a command's exit code. */
export const addLosslessCommands: Add = (program, shell, done) => {
  const lossless = program
    .command("lossless")
    .description("look after what the lossless engine keeps");
  addLooking(lossless, shell, done);
  addCopying(lossless, shell, done);
  addMoving(lossless, shell, done);
  addMigrating(lossless, shell, done);
  addRetaining(lossless, shell, done);
  addForgetting(lossless, shell, done);
};

const addLooking: Add = (lossless, shell, done) => {
  lossless
    .command("status")
    .description("how much is kept, where, and how far the search index is")
    .addOption(agent())
    .addOption(json())
    .action(async (options) => done(await (await load()).losslessStatus(options, shell)));
  lossless
    .command("verify")
    .description(
      "compare everything with its hashes, and name what is not as it was stored; exit code 1 then",
    )
    .addOption(agent())
    .addOption(json())
    .action(async (options) =>
      done(await (await import("./verify.ts")).losslessVerify(options, shell)),
    );
  lossless
    .command("doctor")
    .description(
      "read everything, name what cannot be read, and mend what can be; exit code 1 then",
    )
    .addOption(agent())
    .addOption(json())
    .action(async (options) => done(await (await load()).losslessDoctor(options, shell)));
};

const addRetaining: Add = (lossless, shell, done) => {
  const number = (flags: string, description: string) =>
    new Option(flags, description).argParser(toAmount);
  lossless
    .command("retain")
    .description(
      "say what is too old or too much, and with --yes let it go at once, as is done in slices after turns; also while a gateway runs",
    )
    .addOption(number("--days <count>", "days that messages are kept; default: keepDays"))
    .addOption(
      number("--megabytes <count>", "size above which the oldest go; default: keepMegabytes"),
    )
    .addOption(
      number("--newest <count>", "newest messages that stay for the size; default: keepNewest"),
    )
    .option("--yes", "do it; without it nothing is changed")
    .addOption(agent())
    .addOption(json())
    .action(async (options) => done(await (await load()).losslessRetain(options, shell)));
};

function toAmount(text: string): number {
  const amount = Number(text);
  if (amount > 0 && amount < Infinity) return amount;
  throw new InvalidArgumentError("must be a number above 0.");
}

const addCopying: Add = (lossless, shell, done) => {
  lossless
    .command("backup")
    .description("copy the database, also while a gateway runs, and check the copy")
    .option("--to <folder>", "where to; default: beside the database")
    .addOption(agent())
    .addOption(json())
    .action(async (options) => done(await (await load()).losslessBackup(options, shell)));
  lossless
    .command("backups")
    .description("list the copies beside the database, newest first")
    .addOption(agent())
    .addOption(json())
    .action(async (options) => done(await (await load()).losslessBackups(options, shell)));
  lossless
    .command("restore")
    .description("put a backup in the database's place, which is kept; not while a gateway runs")
    .argument("<file>", "backup, of this or another machine")
    .option("--agent <id>", "whose database it is to be; needed where there are several")
    .option("--force", "also a backup that is not as it was stored")
    .addOption(json())
    .action(async (file: string, options) =>
      done(await (await load()).losslessRestore(file, options, shell)),
    );
};

const addMoving: Add = (lossless, shell, done) => {
  lossless
    .command("export")
    .description(
      "write what is kept as session files of OpenClaw and pi; also while a gateway runs",
    )
    .requiredOption(
      "--to <folder>",
      "folder of the files, which is made; none of them may be there",
    )
    .option("--session <name>", "only this session: short name, agent:<agent>:<name>, or its id")
    .addOption(agent())
    .addOption(json())
    .action(async (options) =>
      done(await (await import("./sessions.ts")).losslessExport(options, shell)),
    );
  lossless
    .command("import")
    .description(
      "store what session files of OpenClaw or pi, or exports, tell and the database lacks; exit code 1 when a line cannot be read",
    )
    .argument("<files...>", "session files (.jsonl), or folders of them")
    .option("--agent <id>", "whose sessions they are; needed where there are several agents")
    .option("--session <name>", "store them as this session; default: as each file says")
    .addOption(json())
    .action(async (files: string[], options) =>
      done(await (await import("./sessions.ts")).losslessImport(files, options, shell)),
    );
};

const addMigrating: Add = (lossless, shell, done) => {
  lossless
    .command("migrate")
    .description(
      "carry what lossless-claw keeps, which stays as it is; once more carries nothing twice",
    )
    .argument("<file>", "its database, usually lcm.db")
    .option("--agent <id>", "make all sessions this agent's; default: as their keys say")
    .option(
      "--config <file>",
      "its host's openclaw.json, to tell of its settings; default: clew.json",
    )
    .option("--sessions <folder>", "session files, which tell more; default: the agent's own")
    .option("--files <folder>", "its folder of long texts; default: lcm-files beside the database")
    .option("--no-summaries", "leave its summaries behind")
    .option("--dry-run", "only say what it would carry")
    .addOption(json())
    .action(async (file: string, options) =>
      done(await (await import("./migrate.ts")).losslessMigrate(file, options, shell)),
    );
};

const addForgetting: Add = (lossless, shell, done) => {
  lossless
    .command("forget")
    .description(
      "say what would be forgotten for good, and forget it with --yes: from the database, session files, reports, logs and backups; not while a gateway runs; exit code 1 when nothing is found, or other files hold it still",
    )
    .argument(
      "[message]",
      'number ("#12", in quotes) or id of a message, as searches and --text tell it',
    )
    .option("--text <text>", "every message in which this stands, in any case")
    .option(
      "--pattern <regex>",
      "every message that this regular expression finds, as lcm_grep does",
    )
    .option("--session <name>", "all of a session: short name, or agent:<agent>:<name>")
    .option("--yes", "do it; it cannot be undone")
    .option("--no-backups", "leave backups of the database, which may hold it")
    .option("--resume", "end what a process was forgetting when it was killed")
    .addOption(agent())
    .addOption(json())
    .action(async (message: string | undefined, options) =>
      done(await (await import("./forget.ts")).losslessForget(message, options, shell)),
    );
};
