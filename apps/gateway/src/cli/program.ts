// The commands and their options.
import { Command, InvalidArgumentError, Option } from "commander";
import { readSafeMode } from "../plugins/safe-mode.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { Shell } from "../terminal/shell.ts";
import { VERSION } from "../version.ts";
import { addApprovalCommands } from "./approvals/program.ts";
import { failedCommand, throwInsteadOfExit } from "./command-errors.ts";
import { addCronCommands } from "./cron/program.ts";
import { addInspectCommand } from "./inspect/program.ts";
import { addLosslessCommands } from "./lossless/program.ts";
import { addModelCommands } from "./models-program.ts";
import { addOperateCommands } from "./operate/program.ts";
import { addPluginCommands } from "./plugins/program.ts";
import { processShell } from "./process-shell.ts";
import { describeUnknownCommand } from "./unknown-command.ts";

/** `shell`: default, that of the process. */
export async function runCli(
  argv: readonly string[],
  shell: Shell = processShell(),
): Promise<number> {
  let exitCode = 0;
  const program = createProgram(shell, (code) => {
    exitCode = code;
  });
  if (describeUnknownCommand(program, argv) !== null) {
    const { runPluginProgram } = await import("./plugin-programs.ts");
    const code = await runPluginProgram(program, argv, shell);
    const off = Object.keys(readSafeMode(shell.environment.home).plugins);
    if (code === undefined) shell.output.note(describeUnknownCommand(program, argv, off) ?? "");
    return code ?? EXIT.usage;
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    return failedCommand(error, shell);
  }
}

/** `done` receives a command's exit code. */
export function createProgram(shell: Shell, done: (exitCode: number) => void): Command {
  const program = new Command("clew")
    .description("Runs a gateway for context engines, and shows what an engine let the model see.")
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => shell.output.write(text),
      writeErr: (text) => shell.output.note(text.replace(/\n$/, "")),
    })
    .showHelpAfterError("(--help lists what there is)")
    .addHelpText(
      "after",
      "\nFiles are in $CLEW_HOME (default ~/.clew), settings in its clew.json." +
        "\nPlugins may add commands of their own: clew plugins inspect <id> --runtime names them.",
    );
  addConversing(program, shell, done);
  addOperateCommands(program, shell, done);
  addReplay(program, shell, done);
  addCompare(program, shell, done);
  addWhatIf(program, shell, done);
  addDemo(program, shell, done);
  addInspectCommand(program, shell, done);
  addSessions(program, shell, done);
  addUsage(program, shell, done);
  addEngine(program, shell, done);
  addApprovalCommands(program, shell, done);
  addCronCommands(program, shell, done);
  addLosslessCommands(program, shell, done);
  addPolicy(program, shell, done);
  addModelCommands(program, shell, done);
  addPluginCommands(program, shell, done);
  addConfig(program, shell, done);
  addDoctor(program, shell, done);
  addEmulate(program, shell, done);
  throwInsteadOfExit(program);
  return program;
}

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const model = () =>
  new Option("--model <provider/model>", "model for this run instead of the configured one");
const engine = () =>
  new Option("--engine <id>", "context engine for this run instead of the configured one");
const json = () => new Option("--json", "print JSON");

const addConversing: Add = (program, shell, done) => {
  program
    .command("start")
    .description("run the gateway: page and HTTP API on this machine")
    .addOption(new Option("--port <number>", "TCP port; 0 = any free one").argParser(toPort))
    .addOption(model())
    .addOption(engine())
    .action(async (options) => done(await (await import("./start.ts")).start(options, shell)));
  program
    .command("chat")
    .description("talk in the terminal; Ctrl-C cancels the reply, Ctrl-D quits")
    .argument("[message...]", "send this message and quit")
    .option("-s, --session <name>", "session to use")
    .addOption(model())
    .addOption(engine())
    .addOption(new Option("--json", "print every event as a JSON line"))
    .action(async (words: string[], options) =>
      done(await (await import("./chat.ts")).chat(words, options, shell)),
    );
};

const addReplay: Add = (program, shell, done) => {
  program
    .command("replay")
    .description(
      "run a recorded transcript through a context engine: recorded replies stand in for the model, nothing is executed",
    )
    .argument("<recording>", RECORDING)
    .addOption(engine())
    .addOption(
      new Option("--context-window <tokens>", "context window of the model").argParser(toCount),
    )
    .addOption(
      new Option("--model <provider/model>", "take provider rules and limits from this model"),
    )
    .addOption(new Option("--into <folder>", "keep the session: use this folder as CLEW_HOME"))
    .addOption(new Option("--acks", "print the id of each entry once it is durable").hideHelp())
    .addOption(json())
    .action(async (file: string, options) =>
      done(await (await import("./replay.ts")).replayCommand(file, options, shell)),
    );
};

const addCompare: Add = (program, shell, done) => {
  program
    .command("compare")
    .description(
      "run recordings through several engines, and compare tokens, cost, cache and what stays in view",
    )
    .argument("<recordings...>", RECORDING)
    .addOption(
      new Option("--engines <ids>", "context engines, with commas between").default(
        "legacy,lossless",
      ),
    )
    .addOption(
      new Option("--context-window <tokens>", "context window of the model").argParser(toCount),
    )
    .addOption(
      new Option(
        "--model <provider/model>",
        "take provider rules, limits and prices from this model",
      ),
    )
    .addOption(new Option("--html <file>", "write a report with plots, which needs nothing else"))
    .addOption(json())
    .action(async (recordings: string[], options) =>
      done(await (await import("./compare.ts")).compareCommand(recordings, options, shell)),
    );
};

const addWhatIf: Add = (program, shell, done) => {
  program
    .command("whatif")
    .description(
      "play a session again as another engine, window or model would have it; no model is called and nothing changes",
    )
    .argument("<session>", "short name or agent:<agent>:<name>")
    .addOption(new Option("--engine <id>", "context engine; default: the session's own"))
    .addOption(
      new Option("--context-window <tokens>", "context window; default: as it was").argParser(
        toCount,
      ),
    )
    .addOption(
      new Option(
        "--model <provider/model>",
        "whose rules, limits and prices count; default: as it was",
      ),
    )
    .addOption(json())
    .action(async (session: string, options) =>
      done(await (await import("./whatif.ts")).whatIfCommand(session, options, shell)),
    );
};

const RECORDING = "transcript (.jsonl), session name, or demo: a session that Clew invents";

const addDemo: Add = (program, shell, done) => {
  const demo = program
    .command("demo")
    .description("make or remove a session to look at, which nobody had");
  demo
    .command("make")
    .description("make the demo session; a first start does so by itself")
    .addOption(json())
    .action(async (options) => done(await (await import("./demo.ts")).demoMake(options, shell)));
  demo
    .command("remove")
    .description("remove the demo session and all that was stored for it; it is not made again")
    .addOption(json())
    .action(async (options) => done(await (await import("./demo.ts")).demoRemove(options, shell)));
};

const addUsage: Add = (program, shell, done) => {
  program
    .command("usage")
    .description(
      "say what model calls cost, by session, engine, model and day, and what of it was for nothing",
    )
    .argument("[session]", "only this session and those it started")
    .addOption(json())
    .action(async (session: string | undefined, options) =>
      done(await (await import("./usage.ts")).usage(session, options, shell)),
    );
};

const addSessions: Add = (program, shell, done) => {
  const sessions = program
    .command("sessions")
    .description("list, show, compact and repair sessions");
  sessions
    .command("list")
    .description("list sessions, newest first")
    .addOption(json())
    .action(async (options) =>
      done(await (await import("./sessions.ts")).listSessions(options, shell)),
    );
  sessions
    .command("show")
    .description("show the messages of a session")
    .argument("<name>", SESSION_NAME)
    .addOption(new Option("--limit <count>", "newest entries only").argParser(toCount))
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./sessions.ts")).showSession(name, options, shell)),
    );
  sessions
    .command("repair")
    .description(
      "repair a session file that other programs damaged; a gateway does so when it opens one",
    )
    .argument("<file>", "transcript (.jsonl)")
    .option("--dry-run", "only say what it would do")
    .addOption(json())
    .action(async (file: string, options) =>
      done(await (await import("./repair.ts")).repairSession(file, options, shell)),
    );
  addCompacting(sessions, shell, done);
};

const SESSION_NAME = "short name or agent:<agent>:<name>";

const addCompacting: Add = (sessions, shell, done) => {
  sessions
    .command("compact")
    .description("replace a session's older history by a summary, as /compact does")
    .argument("<name>", SESSION_NAME)
    .option("--dry-run", "only say what it would keep, drop and ask")
    .option("--focus <text>", "what the summary should keep above all")
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./compact.ts")).compactSessionByName(name, options, shell)),
    );
  sessions
    .command("undo-compaction")
    .description("undo a session's newest compaction; once more undoes the one before")
    .argument("<name>", SESSION_NAME)
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./compact.ts")).undoCompactionByName(name, options, shell)),
    );
};

const addEngine: Add = (program, shell, done) => {
  const engines = program
    .command("engine")
    .description("test context engines, and give them another chance");
  engines
    .command("retry")
    .description(
      "let an engine answer again that was set aside for a session, and offer parked turns again",
    )
    .argument("<session>", SESSION_NAME)
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./engine-retry.ts")).engineRetry(name, options, shell)),
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
    .option("--timeout <seconds>", "what one call of the engine may take")
    .option("--replay <file>", 'run the session again that a report has under "session"')
    .option("--bail", "stop after the first case that fails")
    .action(async (target: string | undefined, options) =>
      done(await (await import("./engine-check.ts")).engineCheck(target, options, shell)),
    );
};

const addPolicy: Add = (program, shell, done) => {
  const policy = program
    .command("policy")
    .description("check a history against a provider's rules");
  const forModel = (command: Command) =>
    command
      .argument("<file>", "transcript (.jsonl)")
      .requiredOption("--provider <id>", 'for example "anthropic"')
      .requiredOption("--model <id>", "the provider's name of the model")
      .option("--api <wire>", "wire protocol; default: the provider's usual one")
      .addOption(json());
  forModel(
    policy
      .command("check")
      .description("say whether the provider would accept it as it is; exit code 1 if not"),
  ).action(async (file: string, options) =>
    done(await (await import("./policy.ts")).policyCheck(file, options, shell)),
  );
  forModel(
    policy
      .command("apply")
      .description("print the history as it would be sent, and what was changed"),
  ).action(async (file: string, options) =>
    done(await (await import("./policy.ts")).policyApply(file, options, shell)),
  );
};

const addConfig: Add = (program, shell, done) => {
  const config = program.command("config").description("read and change settings");
  config
    .command("get")
    .description("print one setting, or all of them, with defaults; keys are hidden")
    .argument("[name]", "e.g. agents.defaults.model.primary")
    .addOption(json())
    .action(async (name: string | undefined, options) =>
      done(await (await import("./config.ts")).configGet(name ?? "", options, shell)),
    );
  config
    .command("set")
    .description("change one setting; comments and formatting of the file stay")
    .argument("<name>")
    .argument("<value>", "JSON5, or text")
    .action(async (name: string, value: string) =>
      done(await (await import("./config.ts")).configSet(name, value, shell)),
    );
  config
    .command("unset")
    .description("remove one setting, so that its default counts; the rest of the file stays")
    .argument("<name>")
    .action(async (name: string) =>
      done(await (await import("./config.ts")).configUnset(name, shell)),
    );
  config
    .command("import")
    .description("import the settings of an openclaw.json or clawdbot.json")
    .argument("<file>")
    .option("--force", "replace an existing clew.json; it is kept as clew.json.bak")
    .addOption(json())
    .action(async (file: string, options) =>
      done(await (await import("./config.ts")).configImport(file, options, shell)),
    );
  addConfigReference(config, shell, done);
};

const addConfigReference: Add = (config, shell, done) => {
  config
    .command("schema")
    .description("print the JSON Schema of clew.json, for editors")
    .action(async () => done(await (await import("./config.ts")).configSchema(shell)));
  config
    .command("reference")
    .description("print every setting with type, default and meaning, as a Markdown table")
    .action(async () => done(await (await import("./config.ts")).configReference(shell)));
};

const addDoctor: Add = (program, shell, done) => {
  program
    .command("doctor")
    .description("check settings, engine, model server and session files")
    .option("--fix", "repair what can be repaired without loss")
    .addOption(json())
    .action(async (options) => done(await (await import("./doctor.ts")).doctor(options, shell)));
};

const addEmulate: Add = (program, shell, done) => {
  program
    .command("emulate")
    .description(
      "run emulated providers on this machine, which check each request as real ones would; Ctrl-C ends them",
    )
    .option("--api <name...>", "apis to emulate; default: all that there are")
    .addOption(
      new Option("--port <number>", "TCP port of the first; the others follow").argParser(toPort),
    )
    .option("--script <file>", "JSON list of the replies and faults to answer with, in order")
    .addOption(
      new Option("--context-window <tokens>", "refuse prompts above it").argParser(toCount),
    )
    .option("--flavor <name>", "whose rules count, e.g. openrouter; default: those that all share")
    .option("--require-key <key>", "refuse requests without this key; default: any key, and none")
    .option("--tolerant", "only tell of rules that older models and other servers have")
    .addOption(new Option("--json", "print addresses and requests as JSON lines"))
    .action(async (options) => done(await (await import("./emulate.ts")).emulate(options, shell)));
};

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("must be a number from 0 to 65535.");
  return port;
}

function toCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || !Number.isSafeInteger(count))
    throw new InvalidArgumentError("must be a whole number above 0.");
  return count;
}
