// Runs `clew plugins uninstall`, which undoes what the install changed.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { changingConfig } from "../../config/change.ts";
import { bundledPlugins } from "../find/bundled.ts";
import { discoverPlugins, linkedFolder, manifestId } from "../find/discover.ts";
import { slotValue } from "../find/enablement.ts";
import {
  type InstallRecords,
  pluginsFolder,
  readRecords,
  type SettingChange,
  writeRecords,
} from "../find/records.ts";
import { installFailed, pluginNotFound } from "../invalid.ts";
import { leaveSafeMode } from "../safe-mode.ts";
import { agentsWith } from "./agents-with.ts";
import { type CurrentConfig, readCurrentConfig, takeBack } from "./config-file.ts";
import type { InstallPlace } from "./install.ts";
import { withPluginsLock } from "./lock.ts";
import { forgetKept } from "./previous.ts";

export interface UninstallPlan {
  pluginId: string;
  changes: SettingChange[];
  /** Folder to remove; null = a link, or nothing of ours. */
  folder: string | null;
  /** What will happen, in sentences. */
  notes: string[];
}

export interface UninstallRequest {
  pluginId: string;
  dryRun?: boolean | undefined;
  /** Move the files aside instead of deleting them. */
  keepFiles?: boolean | undefined;
}

/** Throws PLUGIN_INVALID when there is no such plugin, or it was not installed by us. */
export function uninstallPlugin(
  request: UninstallRequest,
  place: InstallPlace,
): Promise<UninstallPlan> {
  return withPluginsLock(place.home, async () => {
    const { home, configFile } = place;
    const records = readRecords(home);
    const current = await readCurrentConfig(configFile);
    const plan = planUninstall(request, current, records, home);
    if (request.dryRun) return plan;
    const { [plan.pluginId]: _removed, ...plugins } = records.plugins;
    const engines = Object.fromEntries(
      Object.entries(records.engines).filter(([, owner]) => ownerId(owner) !== plan.pluginId),
    );
    const left = await changingConfig(configFile, () =>
      takeBack(configFile, plan.changes, records),
    );
    writeRecords(home, { ...left, plugins, engines });
    leaveSafeMode(home, plan.pluginId);
    if (plan.folder !== null && request.keepFiles) keepAside(plan.folder, home, plan.pluginId);
    else if (plan.folder !== null) rmSync(plan.folder, { recursive: true, force: true });
    forgetKept(home, plan.pluginId);
    return plan;
  });
}

/** Pure but for looking whether the folder is there. */
function planUninstall(
  { pluginId, keepFiles }: UninstallRequest,
  current: CurrentConfig,
  records: InstallRecords,
  home: string,
): UninstallPlan {
  const { plugins } = current;
  const record = records.plugins[pluginId];
  const recorded = record?.changes ?? pathOnly(pluginId, plugins, records, home);
  const { changes, slotNotes } = withSlots(pluginId, recorded, plugins, records);
  const folder =
    record === undefined || record.source === "link" ? null : join(pluginsFolder(home), pluginId);
  const kept = join(pluginsFolder(home), ".kept", pluginId);
  const ownSettings = plugins.entries?.[pluginId] ?? {};
  const mine = Object.keys(ownSettings).filter(
    (key) => !changes.some(({ path }) => path[2] === pluginId && path[3] === key),
  );
  return {
    pluginId,
    changes,
    folder,
    notes: [
      ...changes.filter(({ path }) => path[1] !== "slots").map(describe),
      ...slotNotes,
      ...agentsWith(pluginId, current, records).map(
        ({ id, engine }) =>
          `Agent "${id}" is left with the engine "${engine}", without which no gateway starts: name another one in agents.list, or none.`,
      ),
      ...(folder === null
        ? record?.source === "link"
          ? [`${record.root} is only linked and stays.`]
          : []
        : [keepFiles ? `${folder} is moved to ${kept}` : `${folder} is removed`]),
      ...linksLeft(pluginId, plugins, changes).map(
        (item) =>
          `It stays on: ${item} in plugins.load.paths is a plugin of the same id. To end that, too: clew plugins uninstall ${pluginId}`,
      ),
      ...(mine.length > 0
        ? [`plugins.entries.${pluginId}.${mine.join(", .")} was set by you and stays.`]
        : []),
      "What the plugin stored itself (its databases, for example) stays.",
    ],
  };
}

/** Folders of the same id that are linked besides, and that these changes leave. */
const linksLeft = (
  pluginId: string,
  plugins: PluginsConfig,
  changes: readonly SettingChange[],
): string[] =>
  (plugins.load?.paths ?? []).filter(
    (item) =>
      manifestId(linkedFolder(item)) === pluginId &&
      !changes.some((change) => change.item === item),
  );

/** A plugin that somebody put into plugins.load.paths by hand. */
function pathOnly(
  pluginId: string,
  plugins: PluginsConfig,
  records: InstallRecords,
  home: string,
): SettingChange[] {
  const all = discoverPlugins({ home, plugins, records, bundled: bundledPlugins() });
  const found = all.find(({ id }) => id === pluginId);
  if (found === undefined)
    throw pluginNotFound(
      pluginId,
      all.map(({ id }) => id),
    );
  if (found.origin === "bundled")
    throw installFailed(
      `Plugin "${pluginId}" comes with Clew and stays; to switch it off: clew plugins disable ${pluginId}`,
    );
  if (found.origin !== "linked")
    throw installFailed(
      `Plugin "${pluginId}" in ${found.folder} was not installed by clew; delete that folder yourself.`,
    );
  const paths = (plugins.load?.paths ?? []).filter(
    (path) => found.folder.endsWith(path.replace(/^~/, "")) || path === found.folder,
  );
  return paths.map((item) => ({ path: ["plugins", "load", "paths"], before: null, item }));
}

/**
 * A slot that names the plugin's engine gets its old value back if that still means something, else
 * it goes; other values are the person's.
 */
function withSlots(
  pluginId: string,
  recorded: readonly SettingChange[],
  plugins: PluginsConfig,
  records: InstallRecords,
) {
  const slotNotes: string[] = [];
  const others = recorded.filter(({ path }) => path[1] !== "slots");
  const slots = (["contextEngine", "memory"] as const).flatMap((slot): SettingChange[] => {
    const value = slotValue(plugins, slot);
    if (value === null || (value !== pluginId && ownerId(records.engines[value]) !== pluginId))
      return [];
    const path = ["plugins", "slots", slot];
    const first = recorded.find((change) => change.path.join(".") === path.join("."));
    const before = first?.before ?? null;
    const isUsable = before !== null && stillMeansSomething(before, pluginId, records);
    slotNotes.push(
      `plugins.slots.${slot} named it and is ${isUsable ? `${before} again` : "now unset"}.`,
    );
    return [{ path, before: isUsable ? before : null }];
  });
  return { changes: [...others, ...slots], slotNotes };
}

function stillMeansSomething(
  rawValue: string,
  pluginId: string,
  { engines, plugins }: InstallRecords,
): boolean {
  const value = rawValue.replace(/^['"]|['"]$/g, "").trim();
  if (["", "legacy", "none", "memory-core"].includes(value.toLowerCase())) return true;
  const owner = ownerId(engines[value]) ?? value;
  return owner !== pluginId && Object.hasOwn(plugins, owner);
}

/** "<id>/<entry>" belongs to "<id>". */
const ownerId = (owner: string | undefined) => owner?.split("/")[0];

function describe({ path, before, item }: SettingChange): string {
  const name = path.join(".");
  if (item !== undefined) return `${item} is removed from ${name}`;
  return before === null ? `${name} is removed` : `${name} is ${before} again`;
}

function keepAside(folder: string, home: string, pluginId: string): void {
  const kept = join(pluginsFolder(home), ".kept");
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  rmSync(join(kept, pluginId), { recursive: true, force: true });
  if (existsSync(folder)) renameSync(folder, join(kept, pluginId));
}
