// Loads all plugins that are on and settles who gets a name that two want.
import type { RegistrationMode } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { z } from "zod";
import type { SharedWatch } from "./contain/shared-watch.ts";
import type { FoundPlugin } from "./find/discover.ts";
import { slotValue, whyOff } from "./find/enablement.ts";
import type { PluginFiles } from "./find/manifest.ts";
import { type IsolateContext, type IsolatedPlugin, loadIsolated } from "./isolate/isolated.ts";
import { type LoadContext, loadPlugin } from "./load/load-plugin.ts";
import { loadedRecord, type PluginRecord, unusedRecord } from "./load/record.ts";
import { isToolName } from "./load/register.ts";
import { type Registrations, takes } from "./load/registrations.ts";
import {
  type ActiveMemory,
  chooseMemory,
  type OwnedMemory,
  type OwnedSupplement,
  whyUnused,
} from "./memory/choose-memory.ts";
import { MEMORY_TOOLS } from "./memory/memory-tools.ts";
import { commandWords, type OwnedCommand, RESERVED_COMMANDS } from "./offer/chat-commands.ts";
import { noOwnedOffers, type OwnedOffers, ownOffers, withFreeOffers } from "./offer/free-offers.ts";
import type { OwnedHook } from "./offer/hook-runs.ts";
import type { OwnedEngine } from "./offer/register-engines.ts";
import type { OwnedAction } from "./offer/session-actions.ts";
import type { OwnedTool } from "./offer/tools.ts";
import { describeSafeMode, type SafeMode } from "./safe-mode.ts";
import { findSkills } from "./skills/find-skills.ts";
import type { OwnedSkill } from "./skills/skill-tool.ts";

export interface LoadRequest {
  found: readonly FoundPlugin[];
  plugins: PluginsConfig;
  /** Engine id → plugin, from earlier runs. */
  engineOwners: Readonly<Record<string, string>>;
  /** Engines that agents have of their own: as good as one that a slot names. */
  agentEngines: readonly string[];
  reservedTools: readonly string[];
  /** What blocked the gateway before, by plugin. */
  safeMode: SafeMode["plugins"];
  context: HostContext;
}

/** What all plugins of one generation are loaded with. */
export interface HostContext extends Omit<LoadContext, "entryConfig"> {
  /** Absent: nobody looks what they change. */
  shared?: SharedWatch | undefined;
  /** For plugins in processes of their own. Absent: all run in this one. */
  isolation?: Pick<IsolateContext, "onEnded" | "watchdogSeconds" | "listedFor"> | undefined;
}

export interface LoadedPlugins {
  records: PluginRecord[];
  engines: OwnedEngine[];
  tools: OwnedTool[];
  commands: OwnedCommand[];
  hooks: OwnedHook[];
  actions: OwnedAction[];
  offers: OwnedOffers;
  skills: OwnedSkill[];
  /** Those that run in processes of their own. */
  isolated: IsolatedPlugin[];
  /** What all of them remember with. */
  memory: ActiveMemory;
}

/** While they are loaded. */
interface LoadingPlugins extends Omit<LoadedPlugins, "memory"> {
  memories: OwnedMemory[];
  supplements: OwnedSupplement[];
}

const ToolPermissionsSchema = z.looseObject({
  allow: z.array(z.string()).optional(),
  deny: z.array(z.string()).optional(),
});

export async function loadPlugins(request: LoadRequest): Promise<LoadedPlugins> {
  const { plugins, reservedTools, context } = request;
  const all: LoadingPlugins = {
    ...{ records: [], engines: [], tools: [], commands: [], hooks: [], actions: [] },
    ...{ offers: noOwnedOffers(), skills: [], memories: [], supplements: [] },
    isolated: [],
  };
  for (const plugin of inOrder(request.found.filter((found) => isAskedFor(found, request)))) {
    const plan = planLoading(plugin, request, all.records);
    if (plan.kind === "unused") {
      all.records.push(plan.record);
      continue;
    }
    const { files, described } = plan;
    for (const entry of files.entries)
      await loadEntry({ files, entry, described, plugins, reservedTools, context, all });
  }
  const { memories, supplements, ...loaded } = all;
  return { ...loaded, memory: chooseMemory(plugins, memories, supplements) };
}

/** What comes with Clew is there to be chosen; until then there is nothing to tell of it. */
function isAskedFor({ id, origin }: FoundPlugin, request: LoadRequest): boolean {
  return (
    origin !== "bundled" || request.plugins.entries?.[id] !== undefined || isSelected(id, request)
  );
}

type LoadingPlan =
  | { kind: "unused"; record: PluginRecord }
  | { kind: "load"; files: PluginFiles; described: Parameters<typeof loadedRecord>[0] };

/** Pure. `loaded`: the plugins before it. */
function planLoading(
  { id, folder, origin, result }: FoundPlugin,
  request: LoadRequest,
  loaded: readonly PluginRecord[],
): LoadingPlan {
  const { plugins, safeMode } = request;
  const about = { id, folder, origin };
  const manifest = result.ok ? result.files.manifest : { id };
  const blocked = safeMode[manifest.id];
  const whySafe = blocked && describeSafeMode(manifest.id, blocked);
  const off = whyOff({
    plugins,
    manifest,
    safeMode: whySafe,
    isBundled: result.ok && origin === "bundled",
    isSelected: isSelected(manifest.id, request),
  });
  const described = result.ok
    ? { ...about, manifest: result.files.manifest, version: result.files.packageJson.version }
    : about;
  if (off !== null) {
    const record = unusedRecord(described, "off", off);
    return {
      kind: "unused",
      record: { ...record, safeMode: off === whySafe ? (blocked ?? null) : null },
    };
  }
  if (!result.ok)
    return { kind: "unused", record: unusedRecord(described, "error", result.reason) };
  const lacking = (result.files.manifest.requiresPlugins ?? []).find(
    (required) => !loaded.some(({ id, status }) => id === required && status === "loaded"),
  );
  if (lacking === undefined)
    return { kind: "load", files: result.files, described: { ...about, ...described } };
  const reason = `Plugin "${manifest.id}" requires plugin "${lacking}", which is not loaded.`;
  return { kind: "unused", record: unusedRecord(described, "error", reason) };
}

/** Through a slot or an agent that names the plugin or an engine of it. */
function isSelected(
  id: string,
  {
    plugins,
    engineOwners,
    agentEngines,
  }: Pick<LoadRequest, "plugins" | "engineOwners" | "agentEngines">,
): boolean {
  return [slotValue(plugins), slotValue(plugins, "memory"), ...agentEngines].some(
    (value) =>
      value !== null &&
      (value === id || (Object.hasOwn(engineOwners, value) && engineOwners[value] === id)),
  );
}

async function loadEntry(request: {
  files: PluginFiles;
  entry: PluginFiles["entries"][number];
  described: Parameters<typeof loadedRecord>[0];
  plugins: PluginsConfig;
  reservedTools: readonly string[];
  context: HostContext;
  all: LoadingPlugins;
}): Promise<void> {
  const { files, entry, plugins, all } = request;
  const { shared, isolation, ...context } = request.context;
  const { pluginId } = entry;
  const described = { ...request.described, id: pluginId };
  const entryConfig = plugins.entries?.[pluginId] ?? plugins.entries?.[files.manifest.id];
  const isIsolated = isolation !== undefined && entryConfig?.isolation === "process";
  if (!isIsolated) await shared?.beforeLoad();
  const loading = { ...context, entryConfig };
  const { result, isolated } = isIsolated
    ? await loadIsolated(files, entry, { ...loading, ...isolation })
    : { result: await loadPlugin(files, entry, loading), isolated: undefined };
  if (!isIsolated) shared?.afterLoad(pluginId);
  if (isolated !== undefined) all.isolated.push(isolated);
  if (!result.ok) return void all.records.push(unusedRecord(described, "error", result.reason));
  const given = withUnregistered(result.registrations, files, context.mode);
  const free = withFreeNames(given, request.reservedTools, all);
  const used = withUnused(plugins, pluginId, withFreeOffers(free, all.offers));
  // They belong to the plugin, not to one of its entries.
  const { skills, registrations } = withSkills(
    entry === files.entries[0] ? files : undefined,
    used,
    all.skills,
  );
  const words = commandWords(files.manifest, registrations.commands).map((list) =>
    list.filter((word) => isFree(all, word)),
  );
  const { diagnostics } = registrations;
  const named = { commands: words.flat(), skills: skills.map(({ name }) => name) };
  all.records.push({
    ...loadedRecord(described, registrations, named),
    isolation: isIsolated ? "process" : null,
  });
  all.engines.push(
    ...registrations.engines.map((engine) => ({ ...engine, pluginId, diagnostics })),
  );
  const permissions = ToolPermissionsSchema.safeParse(entryConfig?.tools ?? {}).data ?? {};
  const declared = files.manifest.contracts?.tools ?? [];
  all.tools.push(
    ...registrations.tools.map((tool) => ({
      ...tool,
      pluginId,
      declared,
      permissions: { allow: permissions.allow ?? [], deny: permissions.deny ?? [] },
    })),
  );
  all.commands.push(
    ...registrations.commands.map((command, index) => ({
      pluginId,
      command,
      words: words[index] ?? [],
    })),
  );
  all.skills.push(...skills.map((skill) => ({ ...skill, pluginId })));
  all.hooks.push(...registrations.hooks.map((hook) => ({ ...hook, pluginId })));
  all.actions.push(...registrations.actions.map((action) => ({ ...action, pluginId })));
  ownOffers(all.offers, pluginId, registrations.offers);
  const { memory: capability, memorySupplements } = registrations;
  if (capability !== undefined) all.memories.push({ pluginId, capability });
  all.supplements.push(...memorySupplements.map((builder) => ({ pluginId, builder })));
}

/**
 * Models never hear of a tool that is only declared, unless Clew makes it of the plugin's memory.
 * Of several entries each registers its own, and a factory that names none says nothing of which
 * it makes.
 */
function withUnregistered(
  given: Registrations,
  { manifest, entries }: PluginFiles,
  mode: RegistrationMode,
): Registrations {
  const isKnown = entries.length === 1 && given.tools.every(({ names }) => names !== undefined);
  if (!isKnown || !takes(mode, "tool")) return given;
  const ofMemory = given.memory === undefined ? [] : Object.values(MEMORY_TOOLS);
  const names = new Set([...given.tools.flatMap((tool) => tool.names ?? []), ...ofMemory]);
  const declared = (manifest.contracts?.tools ?? []).filter(isToolName);
  const lacking = declared.filter((name) => !names.has(name)).map((name) => `"${name}"`);
  if (lacking.length === 0) return given;
  const [what, which] =
    lacking.length === 1
      ? [`tool ${lacking[0]} is`, "was not registered, so no model is told of it"]
      : [`tools ${lacking.join(", ")} are`, "were not registered, so no model is told of them"];
  const message = `${what} declared in openclaw.plugin.json and ${which}`;
  return { ...given, diagnostics: [...given.diagnostics, { level: "warning", message }] };
}

/** A memory beside the slot is told of: nothing else would say that it does nothing. */
function withUnused(plugins: PluginsConfig, pluginId: string, given: Registrations): Registrations {
  const message = given.memory === undefined ? undefined : whyUnused(plugins, pluginId);
  if (message === undefined) return given;
  return { ...given, diagnostics: [...given.diagnostics, { level: "warning", message }] };
}

/** Those whose names are free, and in the diagnostics why others are not told of. */
function withSkills(
  files: PluginFiles | undefined,
  given: Registrations,
  taken: readonly OwnedSkill[],
) {
  const { skills, problems } = findSkills(files?.root ?? "", files?.manifest.skills);
  const ownerOf = (name: string) => taken.find((skill) => skill.name === name)?.pluginId;
  const clashes = skills.flatMap(({ name }) => {
    const owner = ownerOf(name);
    return owner === undefined
      ? []
      : [`skill "${name}" belongs to plugin "${owner}"; it is left out`];
  });
  const warnings = [...problems, ...clashes].map((message) => ({
    level: "warning" as const,
    message,
  }));
  return {
    skills: skills.filter(({ name }) => ownerOf(name) === undefined),
    registrations: { ...given, diagnostics: [...given.diagnostics, ...warnings] },
  };
}

/**
 * Tools and commands whose name the gateway or an earlier plugin has are left
 * out and reported.
 */
function withFreeNames(
  given: Registrations,
  reservedTools: readonly string[],
  all: Pick<LoadingPlugins, "tools" | "commands">,
): Registrations {
  const taken = new Map([
    ...reservedTools.map((name) => [name, "the gateway"] as const),
    ...all.tools.flatMap(({ names, pluginId }) =>
      (names ?? []).map((name) => [name, `plugin "${pluginId}"`] as const),
    ),
  ]);
  const problems: string[] = [];
  const tools = given.tools.flatMap((tool) => {
    const clash = tool.names?.find((name) => taken.has(name));
    if (clash !== undefined)
      problems.push(`tool "${clash}" belongs to ${taken.get(clash)}; it is left out`);
    return clash === undefined ? [tool] : [];
  });
  for (const { name } of given.commands) {
    const word = name.toLowerCase();
    const owner = RESERVED_COMMANDS.includes(word)
      ? "the gateway"
      : all.commands.find(({ words }) => words.includes(word))?.pluginId;
    if (owner !== undefined)
      problems.push(`command "/${name}" belongs to ${owner}; it answers to its other names only`);
  }
  return {
    ...given,
    tools,
    diagnostics: [
      ...given.diagnostics,
      ...problems.map((message) => ({ level: "warning" as const, message })),
    ],
  };
}

const isFree = (all: Pick<LoadingPlugins, "commands">, word: string) =>
  !all.commands.some(({ words }) => words.includes(word));

/**
 * Required plugins before those that require them; otherwise as found. A circle stays as it is,
 * and is reported as lacking.
 */
function inOrder(found: readonly FoundPlugin[]): FoundPlugin[] {
  const ordered = new Set<FoundPlugin>();
  const visit = (plugin: FoundPlugin, trail: readonly FoundPlugin[]): void => {
    if (ordered.has(plugin) || trail.includes(plugin)) return;
    const required = plugin.result.ok ? (plugin.result.files.manifest.requiresPlugins ?? []) : [];
    for (const id of required)
      for (const other of found) if (other.id === id) visit(other, [...trail, plugin]);
    ordered.add(plugin);
  };
  for (const plugin of found) visit(plugin, []);
  return [...ordered];
}
