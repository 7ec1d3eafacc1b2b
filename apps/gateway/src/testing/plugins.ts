// Plugin folders for tests.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LogPort, TurnResult } from "@clew/engine-core";
import { onTestFinished } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import type { Gateway } from "../gateway.ts";
import { claimHome } from "../home/claim.ts";
import { startServer } from "../http/server.ts";
import type { PluginHost } from "../plugins/host.ts";
import type { PluginRecord } from "../plugins/load/record.ts";
import { startPlugins } from "../plugins/start.ts";
import { parseStream, post } from "./gateway.ts";

export const TIDEPOOL = join(import.meta.dirname, "../plugins/__fixtures__/tidepool");

/** A copy, so that modules of one test are not those of another. */
export function copyTidepool(into: string): string {
  const folder = join(into, "tidepool");
  cpSync(TIDEPOOL, folder, { recursive: true });
  return folder;
}

export interface WrittenPlugin {
  id?: string;
  /** Fields of the manifest; null = no manifest at all. */
  manifest?: Record<string, unknown> | string | null;
  packageJson?: Record<string, unknown>;
  /** Code of index.js. */
  code?: string;
  files?: Record<string, string>;
}

/** A plugin with the given parts and sound ones for the rest. */
export function writePlugin(
  folder: string,
  { id = "small", manifest = {}, packageJson = {}, code, files = {} }: WrittenPlugin = {},
): string {
  mkdirSync(folder, { recursive: true });
  const text =
    typeof manifest === "string"
      ? manifest
      : JSON.stringify({ id, configSchema: { type: "object" }, ...manifest });
  const all: Record<string, string> = {
    ...(manifest !== null && { "openclaw.plugin.json": text }),
    "package.json": JSON.stringify({
      name: id,
      version: "1.0.0",
      type: "module",
      openclaw: { extensions: ["./index.js"] },
      ...packageJson,
    }),
    "index.js": code ?? `export default { id: ${JSON.stringify(id)}, register() {} };\n`,
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** A context engine's code under the given id: answers with the messages it is given. */
export function engineCode(engineId: string, extra = ""): string {
  return `export default { register(api) { api.registerContextEngine(${JSON.stringify(engineId)}, () => ({
    info: { id: ${JSON.stringify(engineId)}, name: ${JSON.stringify(engineId)} },
    ingest: async () => ({ ingested: true }),
    assemble: async ({ messages }) => ({ messages, estimatedTokens: 0 }),
    compact: async () => ({ ok: true, compacted: false, reason: "nothing to do" }),
    ${extra}
  })); } };\n`;
}

export interface CollectedLog extends LogPort {
  lines: string[];
}

export function collectLog(): CollectedLog {
  const lines: string[] = [];
  const add = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  return { lines, info: add("info"), warn: add("warn"), error: add("error") };
}

export interface PluginGateway {
  gateway: Gateway;
  plugins: PluginHost;
  log: CollectedLog;
  config: Record<string, unknown>;
  /** The text of one reply. */
  say(text: string, options?: { session?: string }): Promise<TurnResult>;
  stop(): Promise<void>;
}

/** A gateway without its server, with the offline model and the given `plugins` section. */
export async function startPluginGateway(
  config: Record<string, unknown>,
  home: string,
): Promise<PluginGateway> {
  const environment = readEnvironment({ CLEW_HOME: home });
  const loaded = checkConfigText(JSON.stringify(config), environment.configFile);
  const log = collectLog();
  const plugins = await startPlugins({ environment, loaded, log });
  const gateway = createGateway({ environment, loaded, log, plugins });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= gateway.close({ graceMs: 5000 });
    return stopped;
  };
  onTestFinished(stop);
  return {
    ...{ gateway, plugins, log, config, stop },
    say: (text, { session = "main" } = {}) => gateway.send({ key: session, content: text }),
  };
}

/** The same behind its server, found by the commands of its home. */
export async function startServedGateway(config: Record<string, unknown>, home: string) {
  const started = await startPluginGateway(config, home);
  const claim = await claimHome(home);
  const { gateway } = started;
  const { identity } = claim;
  const log = collectLog();
  const page = new Map();
  const server = await startServer({
    ...{ gateway, log, page, version: "0.0.0", identity, port: 0 },
    environment: readEnvironment({ CLEW_HOME: home }),
  });
  claim.announce(server.port);
  let left: Promise<void> | undefined;
  /** The home is nobody's afterwards. */
  const leave = () => {
    left ??= (async () => {
      await started.stop();
      await server.close();
      await claim.release();
    })();
    return left;
  };
  onTestFinished(leave);
  const get = async <Answer = Record<string, never>>(path: string, init?: RequestInit) =>
    (await fetch(`${server.url}${path}`, init)).json() as Promise<Answer>;
  const reload = async () =>
    (await (await fetch(`${server.url}/api/plugins/reload`, { method: "POST" })).json()) as {
      plugins?: PluginRecord[];
      error?: { message: string };
    };
  const say = async (text: string, init: RequestInit = {}, body: object = {}) => {
    const response = await fetch(`${server.url}/api/sessions/main/messages`, {
      ...post({ text, ...body }),
      ...init,
    });
    if (!response.ok) return { status: response.status, events: [], text: await response.text() };
    const { events, text: streamed } = parseStream(await response.text());
    const answered = events.find(({ type }) => type === "command");
    return {
      status: response.status,
      events,
      text: answered === undefined ? streamed : String(answered.text),
    };
  };
  return { ...started, server, get, reload, say, leave };
}
