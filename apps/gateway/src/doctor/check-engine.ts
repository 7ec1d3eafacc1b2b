// Checks engine and plugins in the running gateway, or else by loading them.
import type { LogPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { composeHost } from "../compose.ts";
import { defaultAgentId } from "../config/agent.ts";
import { changingConfig } from "../config/change.ts";
import { writeConfigText } from "../config/commands.ts";
import { removeAt } from "../config/edit.ts";
import type { Environment } from "../config/environment.ts";
import { checkConfigText, type LoadedConfig, readConfigText } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { DEMO_AGENT, demoState } from "../demo/demo-place.ts";
import type { GatewayLookup, OwnGateway } from "../gateway-client.ts";
import { silentLog } from "../log/silent.ts";
import type { EngineStatus } from "../plugins/engines/engine-status.ts";
import { bundledPlugins } from "../plugins/find/bundled.ts";
import { slotValue } from "../plugins/find/enablement.ts";
import { recallRecords } from "../plugins/find/engine-memory.ts";
import { readRecords } from "../plugins/find/records.ts";
import type { PluginRecord } from "../plugins/load/record.ts";
import { startPlugins } from "../plugins/start.ts";
import { listAgents } from "../sessions/list-sessions.ts";
import { checkProtectedTools } from "./check-compaction.ts";
import {
  didYouMean,
  nearestChoice,
  type PluginAtHand,
  pluginsAtHand,
  slotFindings,
} from "./check-slots.ts";
import type { Finding } from "./finding.ts";
import { agentEngineFindings, engineFindings, pluginFindings } from "./plugin-findings.ts";

const ASK_MS = 10_000;

/** What is found of the engine that answers the default agent, and of the plugins. */
export interface CheckedEngine {
  readonly findings: readonly Finding[];
  /** Its id, where it compacts for itself; null = it does not, or nothing is known of it. */
  readonly ownCompactor: string | null;
}

export async function checkEngineAndPlugins(
  environment: Environment,
  loaded: LoadedConfig,
  { fix, lookup }: { fix: boolean; lookup: GatewayLookup },
): Promise<CheckedEngine> {
  const { findings, ownCompactor } =
    lookup.kind === "running"
      ? await askGateway(lookup.gateway, environment, loaded)
      : await inspectOffline(environment, loaded, whyOffline(lookup));
  const all = [...checkRecords(environment.home), ...findings];
  const removed = fix ? await removeStaleSlots(environment, loaded) : [];
  return { findings: [...all, ...removed], ownCompactor };
}

const ownCompactorOf = ({ engineId, ownsCompaction }: EngineStatus) =>
  ownsCompaction ? engineId : null;

async function askGateway(
  { url, request }: OwnGateway,
  { home }: Environment,
  { config }: LoadedConfig,
): Promise<CheckedEngine> {
  try {
    const ask = async <Answer>(path: string) => {
      const answer = await request(path, { timeoutMs: ASK_MS });
      if (answer?.status !== 200) throw new Error(`${path} answers ${answer?.status ?? "nothing"}`);
      return answer.body as Answer;
    };
    const status = await ask<EngineStatus>("/api/engine");
    const { plugins } = await ask<{ plugins: PluginRecord[] }>("/api/plugins");
    const others: Finding[] = [];
    for (const id of await otherAgents(home, config))
      others.push(
        ...agentEngineFindings(
          await ask(`/api/engine?session=${encodeURIComponent(`agent:${id}:main`)}`),
          plugins,
        ),
      );
    const asked: Finding = {
      level: "note",
      code: "engine-asked",
      subject: "engine",
      text: `as told by the gateway at ${url}`,
    };
    const findings = [
      asked,
      ...engineFindings(status, plugins),
      ...unlessSame(others, status),
      ...pluginFindings(plugins, config.plugins, {
        ownerOf: ownersOf(home),
        // Where it runs with what the slot says, its engine's finding tells that it is off.
        atHand: atHand(home, config).map((each) =>
          status.switchedOff !== null && status.configured === slotValue(config.plugins)
            ? { ...each, off: null }
            : each,
        ),
      }),
      ...checkProtectedTools(config, toolsOf(plugins)),
    ];
    return { findings, ownCompactor: ownCompactorOf(status) };
  } catch (error) {
    const failed: Finding = {
      level: "failure",
      code: "gateway-tells-nothing",
      subject: "gateway",
      text: `${url} answers, but not about its engine (${(error as Error).message}); restart it`,
    };
    return { findings: [failed], ownCompactor: null };
  }
}

function whyOffline({ kind }: Exclude<GatewayLookup, { kind: "running" }>): string {
  return kind === "none" || kind === "stranger"
    ? "this home's gateway is not running"
    : "this home's gateway cannot be asked";
}

async function inspectOffline(
  environment: Environment,
  loaded: LoadedConfig,
  why: string,
): Promise<CheckedEngine> {
  const complaints: Finding[] = [];
  const complain: LogPort["warn"] = (text, fields) => {
    // An engine that was set aside is a finding already.
    if (fields?.code === undefined)
      complaints.push({ level: "warning", code: "engine-complaint", subject: "engine", text });
  };
  const log: LogPort = { info: () => {}, warn: complain, error: complain };
  const asked: Finding = {
    level: "note",
    code: "engine-asked",
    subject: "engine",
    text: `${why}; checked as a start would load it`,
  };
  // What plugins have to say is in their records.
  const plugins = await startPlugins({ environment, loaded, log: silentLog });
  const slotsAndPlugins = () =>
    pluginFindings(plugins.records(), loaded.config.plugins, {
      ownerOf: plugins.ownerOf,
      // What is off is told of the engine.
      atHand: atHand(environment.home, loaded.config).map(({ id }) => ({ id, off: null })),
    });
  try {
    const host = composeHost({ environment, loaded, log, plugins });
    const status = await host.engineStatus(defaultAgentId(loaded.config));
    const others: Finding[] = [];
    for (const id of await otherAgents(environment.home, loaded.config))
      others.push(...agentEngineFindings(await host.engineStatus(id), plugins.records()));
    await host.close();
    const found = slotsAndPlugins();
    const idle = checkProtectedTools(loaded.config, toolsOf(plugins.records()));
    const engines = [...engineFindings(status, plugins.records()), ...unlessSame(others, status)];
    const findings = [asked, ...engines, ...found, ...complaints, ...idle];
    return { findings, ownCompactor: ownCompactorOf(status) };
  } catch (error) {
    const isTold = ContextEngineError.is(error, "ENGINE_NOT_FOUND");
    // The sentence names what is near already.
    const found = slotsAndPlugins().filter(
      (finding) =>
        !(isTold && finding.code === "slot-stale" && finding.text.includes("did you mean")),
    );
    const failed: Finding = {
      level: "failure",
      code: "engine-unusable",
      subject: "engine",
      text: error instanceof Error ? error.message : String(error),
    };
    return { findings: [failed, ...found], ownCompactor: null };
  } finally {
    await plugins.close("doctor is done");
  }
}

/** Those that have settings or a folder; what fails in the demo was planted. */
async function otherAgents(home: string, config: Config): Promise<string[]> {
  const ids = [...config.agents.list.map(({ id }) => id), ...(await listAgents(home))];
  const others = [...new Set(ids)].filter((id) => id !== defaultAgentId(config));
  const isOurs = (await demoState(home)) === "made";
  return isOurs ? others.filter((id) => id !== DEMO_AGENT) : others;
}

/** Agents may share one store, which is told of once. */
const unlessSame = (others: readonly Finding[], { store }: EngineStatus): Finding[] =>
  others.filter(({ text }) => text !== store?.text);

const toolsOf = (plugins: readonly PluginRecord[]) => plugins.flatMap(({ tools }) => tools);

const ownersOf = (home: string) => (engineId: string) =>
  recallRecords(home, silentLog).engines[engineId];

/** The list of installs is read leniently everywhere else. */
function checkRecords(home: string): Finding[] {
  try {
    readRecords(home);
    return [];
  } catch (error) {
    const text = (error as Error).message;
    return [{ level: "failure", code: "plugin-records-unreadable", subject: "plugins", text }];
  }
}

const atHand = (home: string, { plugins }: Pick<Config, "plugins">): PluginAtHand[] =>
  pluginsAtHand({
    home,
    plugins,
    records: recallRecords(home, silentLog),
    bundled: bundledPlugins(),
  });

async function removeStaleSlots(
  { home, configFile }: Environment,
  { config }: LoadedConfig,
): Promise<Finding[]> {
  const found = atHand(home, config);
  const sources = { records: [], ownerOf: ownersOf(home), atHand: found };
  const stale = slotFindings(config.plugins, sources).filter(({ code }) => code === "slot-stale");
  if (stale.length === 0) return [];
  await changingConfig(configFile, async () => {
    const text = (await readConfigText(configFile)) ?? "";
    const { plugins } = checkConfigText(text || "{}", configFile).config;
    const edited = stale
      .filter(({ slot }) => slotValue(plugins, slot) === slotValue(config.plugins, slot))
      .reduce((current, { slot }) => removeAt(current, ["plugins", "slots", slot]), text);
    if (edited !== text) await writeConfigText(configFile, edited);
  });
  return stale.map(({ slot }): Finding => {
    const was = slotValue(config.plugins, slot) ?? "";
    const near = nearestChoice(slot, was, found);
    const now = slot === "memory" ? "no memory is chosen" : '"legacy" answers';
    const meant = near === null ? "" : `; it was "${was}": ${didYouMean(slot, near)}`;
    return {
      ...{ level: "note", code: "slot-removed", isRepair: true, subject: "settings" },
      text: `plugins.slots.${slot} was removed; ${now}${meant}`,
    };
  });
}
