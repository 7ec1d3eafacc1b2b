// A gateway whose agent runs its turns in a program that is started once per turn.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TurnResult } from "@clew/engine-core";
import type { CliKind } from "../../config/harness.ts";
import { temporaryHome } from "../home.ts";
import { messagesModel } from "../messages-model.ts";
import { type PluginGateway, startPluginGateway, writePlugin } from "../plugins.ts";
import { type ModelAnswer, responsesModel } from "../responses-model.ts";
import type { CliFaults } from "./cli-fake.ts";

export interface CliWorldOptions {
  kind: CliKind;
  /** Of the real program. Absent: what stands in for it. */
  binary?: string | undefined;
  /** Of harness.backends. */
  backend?: Record<string, unknown>;
  config?: Record<string, unknown>;
  /** Of the engine's `hostRequirements`. */
  requires?: string[];
}

export interface CliWorld {
  home: string;
  config: Record<string, unknown>;
  readonly gateway: PluginGateway;
  /** Of the model, in turn. */
  answers: ModelAnswer[];
  faults(faults: CliFaults): void;
  say(text: string): Promise<TurnResult>;
  /** With other settings of the agent. */
  restart(defaults?: Record<string, unknown>): Promise<void>;
  /** Texts of people and models in the newest request. */
  said(): string[];
  /** The newest request. */
  body(): Record<string, unknown>;
  /** How many requests there were. */
  asked(): number;
  /** Of every start, but for the question of the version; `env`: names of variables. */
  starts(): { args: string[]; env: string[]; cwd: string }[];
}

const ENGINE = (requires: readonly string[]) => `
export default { register(api) { api.registerContextEngine("tide", () => ({
  info: { id: "tide", name: "Tide", hostRequirements: { "agent-run": { requiredCapabilities: ${JSON.stringify(requires)} } } },
  ingest: async () => ({ ingested: true }),
  assemble: async ({ messages }) => ({ messages, estimatedTokens: 0 }),
  compact: async () => ({ ok: true, compacted: false }),
})); } };
`;

export async function cliWorld(options: CliWorldOptions): Promise<CliWorld> {
  const { kind, binary, requires = [] } = options;
  const home = await temporaryHome();
  const model = kind === "codex-cli" ? await responsesModel() : await messagesModel();
  const faultFile = join(home, "faults.json");
  const logFile = join(home, "starts.log");
  const command = join(home, "cli-command");
  const fake = `CLI_FAKE_LOG='${logFile}' CLI_FAKE_FAULTS='${faultFile}' exec '${process.execPath}' --disable-warning=ExperimentalWarning '${join(import.meta.dirname, "cli-fake.ts")}'`;
  writeFileSync(
    command,
    `#!/bin/sh\n${binary === undefined ? fake : `PATH='${process.env.PATH}' exec '${binary}'`} "$@"\n`,
  );
  chmodSync(command, 0o755);
  const plugin = writePlugin(join(home, "tide"), { id: "tide", code: ENGINE(requires) });
  mkdirSync(join(home, "agents/main/workspace"), { recursive: true });
  const defaults = {
    model: kind === "codex-cli" ? "loop/gpt-5.2" : "loop/claude-sonnet-4-5",
    ...{ harness: kind, systemPrompt: "BASE" },
  };
  const config = {
    ...model.config(),
    agents: { defaults },
    plugins: { load: { paths: [plugin] }, slots: { contextEngine: "tide" } },
    harness: { backends: { [kind]: { command, ...options.backend } } },
    session: { recall: false },
    ...options.config,
  };
  let gateway = await startPluginGateway(config, home);
  return {
    ...{ home, config, answers: model.answers },
    get gateway() {
      return gateway;
    },
    faults: (faults) => writeFileSync(faultFile, JSON.stringify(faults)),
    say: (text) => gateway.say(text, {}),
    async restart(changed = {}) {
      await gateway.stop();
      const changedConfig = { ...config, agents: { defaults: { ...defaults, ...changed } } };
      gateway = await startPluginGateway(changedConfig, home);
    },
    said: () =>
      (model.asked.at(-1)?.said ?? []).filter(
        (line) => /^(user|assistant): /.test(line) && !/^user: (<(?!image)|# )/.test(line),
      ),
    body: () => model.asked.at(-1)?.body ?? {},
    asked: () => model.asked.length,
    starts: () =>
      (existsSync(logFile) ? readFileSync(logFile, "utf8").trim().split("\n") : [])
        .map((line) => JSON.parse(line) as { args: string[]; env: string[]; cwd: string })
        .filter(({ args }) => !args.includes("--version")),
  };
}
