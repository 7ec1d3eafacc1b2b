// The `clew cron` commands and their options.
import { type Command, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const json = () => new Option("--json", "print JSON");
const load = () => import("./cron.ts");

const EXAMPLES = `
Schedules: "every 30m" · "at 2026-12-01T08:00:00Z" · five fields as in crontab(5), such as
"0 8 * * 1-5" (minute, hour, day, month, weekday), by the clock of --time-zone.

  clew cron add "0 8 * * 1-5" "Sum up what happened since yesterday." --session main
  clew cron add "every 30m" "Read HEARTBEAT.md and do what it says; else answer HEARTBEAT_OK." --heartbeat
  clew cron history JOB

Jobs run while a gateway runs. What was due while none ran is made up for once, if it is not too
late (--max-late); nothing is ever run twice for the same moment.`;

/** `done` receives a command's exit code. */
export const addCronCommands: Add = (program, shell, done) => {
  const cron = program
    .command("cron")
    .description("say something in a session again and again, by a schedule")
    .addHelpText("after", EXAMPLES);
  cron
    .command("add")
    .description("say a message in a session by a schedule, and print when that is next")
    .argument("<schedule>", 'when, e.g. "every 30m" or "0 8 * * 1-5"')
    .argument("<message>", "what is said then")
    .option("--session <name>", "where it is said; default: a session of the job's own")
    .option("--id <id>", "its name; default: made up")
    .option("--time-zone <name>", "whose clock the five fields mean; default: this machine's")
    .option("--max-late <minutes>", "leave out what comes later than this; default: 1440")
    .option("--heartbeat", "engines are told that nobody asked; views leave HEARTBEAT_OK out")
    .addOption(json())
    .action(async (schedule, message, options) =>
      done(await (await load()).cronAdd({ ...options, schedule, message }, shell)),
    );
  cron
    .command("list")
    .description("list the jobs, when each is due, and how its last run went")
    .addOption(json())
    .action(async (options) => done(await (await load()).cronList(options, shell)));
  cron
    .command("history")
    .description("show how a job's runs went, newest first")
    .argument("<job>", "its id")
    .option("--limit <runs>", "how many", "20")
    .addOption(json())
    .action(async (id, options) => done(await (await load()).cronHistory(id, options, shell)));
  cron
    .command("run")
    .description("run a job once, now, beside its schedule")
    .argument("<job>", "its id")
    .addOption(json())
    .action(async (id, options) => done(await (await load()).cronRun(id, options, shell)));
  for (const [name, enabled, description] of [
    ["pause", false, "leave a job out until it is resumed"],
    ["resume", true, "run a job by its schedule again, from now on"],
  ] as const)
    cron
      .command(name)
      .description(description)
      .argument("<job>", "its id")
      .addOption(json())
      .action(async (id, options) =>
        done(await (await load()).cronEnable(id, { ...options, enabled }, shell)),
      );
  cron
    .command("rm")
    .description("remove a job and the record of its runs; its session stays")
    .argument("<job>", "its id")
    .addOption(json())
    .action(async (id, options) => done(await (await load()).cronRemove(id, options, shell)));
};
