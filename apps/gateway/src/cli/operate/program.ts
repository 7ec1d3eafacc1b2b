// The commands that operate this home's gateway, and their options.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

const json = () => new Option("--json", "print JSON");

/** `done` receives a command's exit code. */
export function addOperateCommands(
  program: Command,
  shell: Shell,
  done: (exitCode: number) => void,
): void {
  program
    .command("status")
    .description(
      "say whether this home's gateway runs, where, and what it does; exit code 1 if not",
    )
    .addOption(json())
    .action(async (options) => done(await (await import("./status.ts")).status(options, shell)));
  program
    .command("stop")
    .description("stop this home's gateway; what a running reply had said is kept")
    .addOption(
      new Option("--grace <seconds>", "time for running replies to finish").argParser(toSeconds),
    )
    .option("--force", "end the process if it does not stop by itself")
    .addOption(json())
    .action(async (options) => done(await (await import("./stop.ts")).stop(options, shell)));
  program
    .command("logs")
    .description("show the newest lines of this home's log")
    .option("-f, --follow", "go on with what is written from now on; Ctrl-C ends it")
    .addOption(new Option("-n, --lines <count>", "how many at most").argParser(toCount).default(50))
    .addOption(new Option("--level <level>", "of this level or above").choices(LEVELS))
    .option("--session <name>", "only those of this session")
    .option("--grep <text>", "only those in which this stands, in any case")
    .addOption(new Option("--json", "print the lines as they are stored, one JSON object each"))
    .action(async (options) => done(await (await import("./logs.ts")).logs(options, shell)));
  addServiceCommands(program, shell, done);
}

const LEVELS = ["info", "warn", "error"] as const;

function addServiceCommands(
  program: Command,
  shell: Shell,
  done: (exitCode: number) => void,
): void {
  const load = () => import("./service.ts");
  const service = program
    .command("service")
    .description("have the system start the gateway and keep it running");
  const kind = () =>
    new Option("--system <name>", "whose form; default: this system's").choices([
      ...["systemd", "launchd"],
    ]);
  service
    .command("install")
    .description("write the service of your account and start it; once more writes it anew")
    .addOption(kind())
    .option("--no-start", "only write the file")
    .option("--print", "print the file and write nothing")
    .addOption(json())
    .action(async (options) => done(await (await load()).serviceInstall(options, shell)));
  service
    .command("uninstall")
    .description("stop the service of your account and remove its file")
    .addOption(kind())
    .addOption(json())
    .action(async (options) => done(await (await load()).serviceUninstall(options, shell)));
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds > 3600)
    throw new InvalidArgumentError("must be a number from 0 to 3600.");
  return seconds;
}

function toCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || count > 1_000_000)
    throw new InvalidArgumentError("must be a whole number from 1 to 1000000.");
  return count;
}
