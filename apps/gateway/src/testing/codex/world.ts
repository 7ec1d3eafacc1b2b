// A gateway whose agent runs its turns in Codex, or in what stands in for it.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TurnResult } from "@clew/engine-core";
import { temporaryHome } from "../home.ts";
import { type PluginGateway, startPluginGateway, writePlugin } from "../plugins.ts";
import { type ResponsesModel, responsesModel } from "../responses-model.ts";
import type { Faults } from "./codex-fake.ts";

/** Of the engine, as its next answers go by. */
export interface EngineState {
  /** Null: it hands over at each turn. */
  epoch: string | null;
  addition: string | null;
  /** In place of all but the newest messages; null = they are shown. */
  summary: string | null;
  /** Messages that the summary stands for. */
  skip: number;
}

export interface WorldOptions {
  /** Of a real Codex. Absent: what stands in for it. */
  binary?: string | undefined;
  projection?: "items" | "quoted";
  ownsCompaction?: boolean;
  codex?: Record<string, unknown>;
  config?: Record<string, unknown>;
  /** Of the engine's `hostRequirements`. */
  requires?: string[];
}

export interface CodexWorld {
  home: string;
  config: Record<string, unknown>;
  model: ResponsesModel;
  readonly gateway: PluginGateway;
  engine(change: Partial<EngineState>): void;
  faults(faults: Faults): void;
  say(text: string, session?: string): Promise<TurnResult>;
  /** The gateway is stopped and started again, and Codex with it. */
  restart(): Promise<void>;
  /** Of the process that was started last. */
  pid(): number;
  /** How many processes were started. */
  starts(): number;
  /** Texts of the newest request, or of one from the end. */
  said(fromEnd?: number): string[];
  /** Of the newest request, or of one from the end. */
  threadOf(fromEnd?: number): unknown;
}

const ENGINE = (file: string, owns: boolean, requires: readonly string[]) => `
import { readFileSync, writeFileSync } from "node:fs";
const read = () => JSON.parse(readFileSync(${JSON.stringify(file)}, "utf8"));
let seen = 0;
export default { register(api) { api.registerContextEngine("tide", () => ({
  info: { id: "tide", name: "Tide", ownsCompaction: ${owns}, hostRequirements: { "agent-run": { requiredCapabilities: ${JSON.stringify(requires)} } } },
  ingest: async () => ({ ingested: true }),
  assemble: async ({ messages }) => {
    const { epoch, addition, summary, skip } = read();
    seen = messages.length;
    const rest = summary === null ? messages : messages.slice(skip);
    const first = summary === null ? [] : [{ role: "user", content: summary }];
    return {
      messages: [...first, ...rest], estimatedTokens: 0,
      ...(addition !== null && { systemPromptAddition: addition }),
      ...(epoch !== null && { contextProjection: { mode: "thread_bootstrap", epoch, fingerprint: "f" } }),
    };
  },
  compact: async () => {
    const state = read();
    writeFileSync(${JSON.stringify(file)}, JSON.stringify({ ...state, epoch: state.epoch === null ? null : state.epoch + "+", summary: "SUMMARY of the tide", skip: seen }));
    return { ok: true, compacted: true };
  },
})); } };
`;

export async function codexWorld(options: WorldOptions = {}): Promise<CodexWorld> {
  const { binary, projection = "items", ownsCompaction = true, requires = [] } = options;
  const home = await temporaryHome();
  const model = await responsesModel();
  const engineFile = join(home, "tide.json");
  const faultFile = join(home, "faults.json");
  const pidFile = join(home, "codex.pids");
  const command = join(home, "codex-command");
  const fake = `CODEX_FAKE_FAULTS='${faultFile}' exec '${process.execPath}' --disable-warning=ExperimentalWarning '${join(import.meta.dirname, "codex-fake.ts")}'`;
  const run = binary === undefined ? fake : `exec '${binary}'`;
  writeFileSync(command, `#!/bin/sh\necho $$ >> '${pidFile}'\n${run} "$@"\n`);
  chmodSync(command, 0o755);
  let state: EngineState = { epoch: null, addition: "ADDITION", summary: null, skip: 0 };
  const engine = (change: Partial<EngineState>) => {
    if (existsSync(engineFile)) state = JSON.parse(readFileSync(engineFile, "utf8")) as EngineState;
    state = { ...state, ...change };
    writeFileSync(engineFile, JSON.stringify(state));
  };
  engine({});
  const plugin = writePlugin(join(home, "tide"), {
    ...{ id: "tide", code: ENGINE(engineFile, ownsCompaction, requires) },
  });
  mkdirSync(join(home, "agents/main/workspace"), { recursive: true });
  const config = {
    ...model.config(),
    agents: {
      defaults: { model: "loop/gpt-5.2", harness: "codex", systemPrompt: "BASE" },
    },
    plugins: { load: { paths: [plugin] }, slots: { contextEngine: "tide" } },
    harness: { codex: { command, projection, ...options.codex } },
    session: { recall: false },
    ...options.config,
  };
  let gateway = await startPluginGateway(config, home);
  const pids = () =>
    existsSync(pidFile) ? readFileSync(pidFile, "utf8").trim().split("\n").map(Number) : [];
  return {
    ...{ home, config, model, engine },
    get gateway() {
      return gateway;
    },
    faults: (faults) => writeFileSync(faultFile, JSON.stringify(faults)),
    say: (text, session) => gateway.say(text, session === undefined ? {} : { session }),
    async restart() {
      await gateway.stop();
      gateway = await startPluginGateway(config, home);
    },
    pid: () => pids().at(-1)!,
    starts: () => pids().length,
    said: (fromEnd = 1) => (model.asked.at(-fromEnd)?.said ?? []).map(shortened),
    threadOf: (fromEnd = 1) => model.asked.at(-fromEnd)?.body.prompt_cache_key,
  };
}

/** What stands in the gateway's own part is the same in every request. */
const shortened = (line: string): string =>
  line.startsWith("developer: BASE") ? "developer: BASE" : line;
