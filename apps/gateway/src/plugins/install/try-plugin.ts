// Loads a plugin and makes its engines once, to see whether they work.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { validateEngine } from "@clew/engine-core";
import type { ContextEngineFactory, PluginTool, PluginToolFactory } from "@clew/plugin-sdk/core";
import { turnTakingOf, within } from "@clew/plugin-sdk/host";
import { silentLog } from "../../log/silent.ts";
import { watchShared } from "../contain/shared-objects.ts";
import { describeChanges } from "../contain/shared-watch.ts";
import type { PluginFiles } from "../find/manifest.ts";
import { invalidPlugin } from "../invalid.ts";
import { messageAndPlace } from "../load/error-place.ts";
import { loadPlugin } from "../load/load-plugin.ts";
import { undeclaredTools } from "../load/register.ts";
import { nameIn, type Registrations } from "../load/registrations.ts";
import { createStrays } from "../strays.ts";
import type { Trial, TrialSettings } from "./trial.ts";

const ENGINE_MS = 30_000;

/** Its files go to `stateDir`. Throws PLUGIN_INVALID with everything that is wrong. */
export async function tryEntries(
  files: PluginFiles,
  settings: TrialSettings & { stateDir: string },
): Promise<Trial> {
  const trial: Trial = {
    engines: [],
    tools: [],
    asking: [],
    unkeyed: [],
    warnings: [],
  };
  for (const entry of files.entries) {
    const { engines, tools, asking, unkeyed, warnings } = await tryEntry(files, entry, settings);
    trial.engines.push(...engines);
    trial.unkeyed.push(...unkeyed);
    trial.tools.push(...tools);
    trial.asking.push(...asking);
    trial.warnings.push(...warnings);
  }
  return trial;
}

async function tryEntry(
  files: PluginFiles,
  entry: PluginFiles["entries"][number],
  { raw, entryConfig, stateDir, asksStores }: TrialSettings & { stateDir: string },
): Promise<Trial> {
  const shared = watchShared();
  const result = await loadPlugin(files, entry, {
    home: stateDir,
    mode: "full",
    generation: 0,
    log: silentLog,
    config: () => raw,
    entryConfig,
    strays: createStrays(silentLog),
    complete: () =>
      Promise.reject(new Error("There is no model while a plugin is being installed.")),
  });
  const changes = shared.check();
  if (!result.ok) throw invalidPlugin(result.reason);
  const { engines, diagnostics } = result.registrations;
  const tools = tryTools(files, result.registrations, stateDir);
  const problems = diagnostics.flatMap(({ level, message }) =>
    level === "error" ? [message] : [],
  );
  for (const { engineId, factory } of engines)
    problems.push(...(await tryEngine(engineId, factory)));
  if (problems.length > 0)
    throw invalidPlugin(`Plugin "${entry.pluginId}" breaks the rules: ${problems.join("; ")}.`);
  const unkeyed: string[] = [];
  for (const { engineId, factory } of asksStores ? engines : [])
    if (await storesWithoutKey(factory, stateDir)) unkeyed.push(engineId);
  return {
    ...{ engines: engines.map(({ engineId }) => engineId), unkeyed },
    tools: tools.names,
    asking: tools.names.filter((name) => !tools.reading.has(name)),
    warnings: [
      ...diagnostics.map(({ message }) => message),
      ...tools.warnings,
      ...(changes.length > 0 ? [describeChanges(changes)] : []),
    ],
  };
}

async function tryEngine(engineId: string, factory: ContextEngineFactory): Promise<string[]> {
  const onTimeout = () => {
    throw new Error(`not created within ${ENGINE_MS / 1000} s`);
  };
  try {
    const product = await within<unknown>({ boundMs: ENGINE_MS, onTimeout }, () => factory({}));
    const validation = validateEngine(engineId, product);
    if (validation.ok) await validation.engine.dispose?.();
    return validation.ok ? [] : [validation.message.replace(/\.$/, "")];
  } catch (error) {
    return [`context engine "${engineId}" could not be created: ${messageAndPlace(error)}`];
  }
}

/** By its methods where they tell, else by what it answers to a message. */
async function storesWithoutKey(factory: ContextEngineFactory, agentDir: string): Promise<boolean> {
  const engine = await factory({ agentDir });
  try {
    const taking = turnTakingOf(engine);
    if (taking !== "nothing-kept") return taking === "not-atomic";
    const message = { role: "user" as const, content: "hello", timestamp: 1 };
    return (await engine.ingest({ sessionId: "trial", message })).ingested;
  } finally {
    await engine.dispose?.();
  }
}

/** Those it would offer, and why others are not: a factory that did not say its names is asked. */
function tryTools({ manifest }: PluginFiles, { tools }: Registrations, stateDir: string) {
  const agentDir = join(stateDir, "agents/main");
  mkdirSync(agentDir, { recursive: true, mode: 0o700 });
  const reading = new Set<string>();
  const declared = manifest.contracts?.tools ?? [];
  const names = new Set<string>();
  const warnings: string[] = [];
  for (const tool of tools)
    try {
      for (const name of tool.names ?? made(tool.make).map((each) => each.name))
        if (declared.includes(name)) names.add(name);
        else warnings.push(undeclaredTools([nameIn(name)]));
    } catch (error) {
      warnings.push(`a tool could not be created: ${messageAndPlace(error)}`);
    }
  // Of those whose names are known nobody need know more.
  for (const { names, make } of tools) if (names !== undefined) quietly(() => made(make));
  return { names: [...names], reading, warnings };

  function made(make: PluginToolFactory): PluginTool[] {
    const about = { agentId: "main", sessionId: "trial", sessionKey: "agent:main:trial", agentDir };
    const list = [make(about) ?? []].flat();
    for (const { name, annotations } of list as MarkedTool[])
      if (annotations?.readOnlyHint === true) reading.add(name);
    return list;
  }
}

type MarkedTool = PluginTool & { annotations?: { readOnlyHint?: unknown } };

function quietly(work: () => unknown): void {
  try {
    work();
  } catch {
    // It is told when somebody wants the tool.
  }
}
