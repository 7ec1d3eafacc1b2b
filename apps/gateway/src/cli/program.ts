// The commands and their options.
import { Command, Option } from "commander";
import { FORMATS } from "../imports/foreign.ts";
import type { Shell } from "../terminal/shell.ts";
import { VERSION } from "../version.ts";
import { addApprovalCommands } from "./approvals/program.ts";
import { canPaint } from "./chat/is-talk.ts";
import { addCompletion } from "./completion/program.ts";
import { addCronCommands } from "./cron/program.ts";
import { addEngineCommands } from "./engines/program.ts";
import { showExamples } from "./examples.ts";
import { addInspectCommand } from "./inspect/program.ts";
import { addLosslessCommands } from "./lossless/program.ts";
import { addMcpCommands } from "./mcp/program.ts";
import { addModelCommands } from "./models-program.ts";
import { addOperateCommands } from "./operate/program.ts";
import { addPluginCommands } from "./plugins/program.ts";
import { addSessionCommands } from "./sessions/program.ts";
import { addStorageCommands } from "./storage/program.ts";
import { throwInsteadOfExit } from "./usage-error.ts";
import { toCount, toPort, toWindow } from "./values.ts";

/** `done` receives a command's exit code. */
export function createProgram(shell: Shell, done: (exitCode: number) => void): Command {
  const program = new Command("clew")
    .description("Runs a gateway for context engines, and shows what an engine let the model see.")
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => shell.output.write(text),
      writeErr: (text) => shell.output.note(text.replace(/\n$/, "")),
      // Whoever catches the error says it.
      outputError: () => {},
    })
    .addHelpText(
      "after",
      "\nFiles are in $CLEW_HOME (default ~/.clew), settings in its clew.json." +
        "\nPlugins may add commands of their own: clew plugins inspect <id> --runtime names them.",
    );
  addInit(program, shell, done);
  addConversing(program, shell, done);
  addAcp(program, shell, done);
  addConnect(program, shell, done);
  addOperateCommands(program, shell, done);
  addReplay(program, shell, done);
  addCompare(program, shell, done);
  addWhatIf(program, shell, done);
  addDemo(program, shell, done);
  addInspectCommand(program, shell, done);
  addSessionCommands(program, shell, done);
  addStorageCommands(program, shell, done);
  addUsage(program, shell, done);
  addEngineCommands(program, shell, done);
  addApprovalCommands(program, shell, done);
  addMcpCommands(program, shell, done);
  addCronCommands(program, shell, done);
  addLosslessCommands(program, shell, done);
  addPolicy(program, shell, done);
  addModelCommands(program, shell, done);
  addPluginCommands(program, shell, done);
  addConfig(program, shell, done);
  addDoctor(program, shell, done);
  addEmulate(program, shell, done);
  addCompletion(program, shell, done);
  showExamples(program);
  throwInsteadOfExit(program);
  return program;
}

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const model = () =>
  new Option("--model <provider/model>", "model for this run instead of the configured one");
const engine = () =>
  new Option("--engine <id>", "context engine for this run instead of the configured one");
const json = () => new Option("--json", "print JSON");
const from = () =>
  new Option("--from <program>", "whose transcript it is; default: by what it holds").choices(
    FORMATS,
  );

const addInit: Add = (program, shell, done) => {
  program
    .command("init")
    .description(
      "ask three questions, and write the first settings: model, key and engine; tests the key",
    )
    .option("--model <provider/model>", "answers the first question")
    .addOption(
      new Option("--engine <id>", "answers the third question").choices(["lossless", "legacy"]),
    )
    .option(
      "--look-at <provider=address...>",
      "where to look for model servers; default: Ollama and LM Studio on this machine",
    )
    .option("--force", "replace an existing clew.json; it is kept as clew.json.bak")
    .addOption(json())
    .action(async (options) => done(await (await import("./init/init.ts")).init(options, shell)));
};

const addConversing: Add = (program, shell, done) => {
  program
    .command("start")
    .description("run the gateway: page and HTTP API on this machine")
    .addOption(new Option("--port <number>", "TCP port; 0 = any free one").argParser(toPort))
    .addOption(model())
    .addOption(engine())
    .addOption(new Option("--json", "print where it runs as one JSON line"))
    .action(async (options) => done(await (await import("./start.ts")).start(options, shell)));
  program
    .command("chat")
    .description(
      "talk in the terminal, through this home's gateway if it runs; Esc stops a reply, Ctrl-D quits",
    )
    .argument("[message...]", "send this message and quit")
    .option("-s, --session <name>", "session to use")
    .addOption(
      new Option(
        "--when-busy <choice>",
        "what is typed while a reply is written: follows it, steers it, or is refused",
      ).choices(["follow", "steer", "refuse"]),
    )
    .addOption(model())
    .addOption(engine())
    .addOption(
      new Option("-f, --file <path>", "send this file's text as one message and quit; - = input"),
    )
    .addOption(new Option("--json", "print every event as a JSON line"))
    .action(async (words: string[], options) => {
      const isGiven = words.length > 0 || options.file !== undefined;
      const isTalk = !isGiven && options.json !== true && canPaint();
      done(
        isTalk
          ? await (await import("./chat-at-terminal.ts")).chatAtTerminal(options, shell)
          : await (await import("./chat.ts")).chat(words, options, shell),
      );
    });
};

const addAcp: Add = (program, shell, done) => {
  program
    .command("acp")
    .description(
      "talk to an editor over standard input and output, through this home's gateway if it runs; editors start it (Agent Client Protocol)",
    )
    .option("--agent <id>", "whose sessions the editor begins; default: the default agent")
    .action(async (options) => done(await (await import("./acp.ts")).acp(options, shell)));
};

const addConnect: Add = (program, shell, done) => {
  program
    .command("connect")
    .description(
      "print what another agent needs to use this gateway, or write it into its settings; without a name: which there are",
    )
    .argument("[client]", "claude-code, codex, opencode, pi, qwen, gemini, copilot, cline or kimi")
    .option("--write", "write it; comments and other settings stay")
    .option("--undo", "bring back what was there before")
    .option("--model <name>", "the model that it names; default: its own, or clew: the agent's")
    .addOption(json())
    .action(async (client: string | undefined, options) =>
      done(await (await import("./connect.ts")).connect(client, options, shell)),
    );
};

const addReplay: Add = (program, shell, done) => {
  program
    .command("replay")
    .description(
      "run a recorded transcript through a context engine: recorded replies stand in for the model, nothing is executed",
    )
    .argument("<recording>", RECORDING)
    .addOption(from())
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
    .addOption(from())
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
        toWindow,
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

const RECORDING =
  "transcript of Clew or of another program, session name, or demo: a session that Clew invents";

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

const addPolicy: Add = (program, shell, done) => {
  const policy = program
    .command("policy")
    .description("check a history against a provider's rules");
  const forModel = (command: Command) =>
    command
      .argument("<session>", "name of a session, or a transcript (.jsonl)")
      .requiredOption("--provider <id>", 'for example "anthropic"')
      .requiredOption("--model <id>", "the provider's name of the model")
      .option("--api <wire>", "wire protocol; default: the provider's usual one")
      .addOption(json());
  forModel(
    policy
      .command("check")
      .description("say whether the provider would accept it as it is; exit code 1 if not"),
  ).action(async (session: string, options) =>
    done(await (await import("./policy.ts")).policyCheck(session, options, shell)),
  );
  forModel(
    policy
      .command("apply")
      .description("print the history as it would be sent, and what was changed"),
  ).action(async (session: string, options) =>
    done(await (await import("./policy.ts")).policyApply(session, options, shell)),
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
    .option("--force", "store a setting that Clew does not know, too")
    .addOption(json())
    .action(async (name: string, value: string, options) =>
      done(await (await import("./config.ts")).configSet(name, value, options, shell)),
    );
  config
    .command("unset")
    .description("remove one setting, so that its default counts; the rest of the file stays")
    .argument("<name>")
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./config.ts")).configUnset(name, options, shell)),
    );
  config
    .command("validate")
    .description("say whether the settings are right, with every mistake; exit code 1 if not")
    .argument("[file]", "default: the file in use")
    .addOption(json())
    .action(async (file: string | undefined, options) =>
      done(await (await import("./config-validate.ts")).configValidate(file, options, shell)),
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
    .addOption(new Option("--json", "changes nothing: it is JSON"))
    .action(async () => done(await (await import("./config.ts")).configSchema(shell)));
  config
    .command("reference")
    .description("print every setting with type, default and meaning, as a Markdown table")
    .addOption(json())
    .action(async (options) =>
      done(await (await import("./config.ts")).configReference(options, shell)),
    );
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
