// The `clew engine` commands and their options.
import { type Command, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";
import { SESSION_NAME } from "../values.ts";

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const json = () => new Option("--json", "print JSON");

/** `done` receives a command's exit code. */
export const addEngineCommands: Add = (program, shell, done) => {
  const engines = program
    .command("engine")
    .description("list context engines, test them, and give them another chance");
  engines
    .command("list")
    .description("list the context engines that there are, and which agents have which")
    .addOption(json())
    .action(async (options) => done(await (await import("./list.ts")).engineList(options, shell)));
  engines
    .command("status")
    .description("say which engine answers, why, and what became of the turns it was handed")
    .argument("[session]", "short name or agent:<agent>:<name>; default: the default agent")
    .addOption(json())
    .action(async (name: string | undefined, options) =>
      done(await (await import("./status.ts")).engineStatus(name, options, shell)),
    );
  engines
    .command("retry")
    .description(
      "let an engine answer again that was set aside for a session, and offer parked turns again",
    )
    .argument("<session>", SESSION_NAME)
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./retry.ts")).engineRetry(name, options, shell)),
    );
  engines
    .command("check")
    .description("test an engine against the contract; exit code 1 if it breaks a rule")
    .argument(
      "[target]",
      "registered id, plugin folder or module; default: the engine that answers now",
    )
    .addOption(json())
    .option("--engine <id>", "which engine, where a plugin registers several")
    .option("--case <name...>", "only these cases, or groups of cases")
    .option("--sessions <count>", "random sessions of each kind")
    .option("--seed <number>", "another number tries other sessions")
    .option("--salt <text>", "what their words are drawn from, as a failure tells it")
    .option("--timeout <seconds>", "what one call of the engine may take")
    .option("--replay <file>", 'run the session again that a report has under "session"')
    .option("--bail", "stop after the first case that fails")
    .action(async (target: string | undefined, options) =>
      done(await (await import("./check.ts")).engineCheck(target, options, shell)),
    );
};
