// The `clew models` commands and their options.
import { type Command, Option } from "commander";
import type { Shell } from "../terminal/shell.ts";

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const json = () => new Option("--json", "print JSON");

/** `done` receives a command's exit code. */
export const addModelCommands: Add = (program, shell, done) => {
  const models = program
    .command("models")
    .description("tell who answers and how they are signed in to, and forget what was learned");
  models
    .command("list")
    .description("list what is known of every model, and how it is signed in to; asks no network")
    .argument("[filter]", "only names that hold this; exit code 1 if none does")
    .addOption(json())
    .action(async (filter: string | undefined, options) =>
      done(await (await import("./models-list.ts")).modelList(filter, options, shell)),
    );
  models
    .command("status")
    .description("list each agent's models in the order in which they are asked, and their state")
    .addOption(json())
    .action(async (options) =>
      done(await (await import("./models.ts")).modelStatus(options, shell)),
    );
  models
    .command("retry")
    .description("ask a model again that is left alone after a failure; exit code 1 if it is not")
    .argument("<provider/model>")
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./models.ts")).retryModel(name, options, shell)),
    );
  models
    .command("test")
    .description(
      "ask a model for real; with --deep 40 checks, and where provider and emulator differ; exit code 1 if they do",
    )
    .argument("[provider/model]", "default: the default agent's model")
    .option("--deep", "all checks; default: one plain question")
    .option("--only <check...>", "these checks only")
    .option("--yes", "go on without a question; what it costs is said all the same")
    .addOption(json())
    .action(async (name: string | undefined, options) =>
      done(await (await import("./models-test.ts")).testModel(name, options, shell)),
    );
  models
    .command("sign-in")
    .description("list where each provider's key or login comes from, without showing it")
    .addOption(json())
    .action(async (options) => done(await (await import("./sign-ins.ts")).signIns(options, shell)));
  models
    .command("windows")
    .description("list the windows that providers named when they refused a request as too large")
    .addOption(json())
    .action(async (options) => done((await import("./models.ts")).modelWindows(options, shell)));
  models
    .command("forget")
    .description("forget such a window; exit code 1 if there was none")
    .argument("<provider/model>")
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./models.ts")).forgetWindow(name, options, shell)),
    );
};
