// Runs `clew plugins enable` and `clew plugins disable`.

import { changingConfig } from "../../config/change.ts";
import { bundledPlugins } from "../find/bundled.ts";
import { discoverPlugins } from "../find/discover.ts";
import { slotValue } from "../find/enablement.ts";
import { readRecords, writeRecords } from "../find/records.ts";
import { invalidPlugin, pluginNotFound } from "../invalid.ts";
import { leaveSafeMode } from "../safe-mode.ts";
import { agentsWith } from "./agents-with.ts";
import { type CurrentConfig, makeSteps, readCurrentConfig } from "./config-file.ts";
import type { InstallPlace } from "./install.ts";
import { withPluginsLock } from "./lock.ts";
import { type PlannedSettings, planSwitchOn } from "./settings.ts";
import { tryPlugin } from "./trial.ts";

/**
 * Throws PLUGIN_INVALID when there is no such plugin or it cannot be loaded;
 * then nothing has changed.
 */
export async function enablePlugin(pluginId: string, place: InstallPlace): Promise<string[]> {
  const notes = await change(pluginId, place, async (current) => {
    const records = readRecords(place.home);
    const all = discoverPlugins({
      home: place.home,
      plugins: current.plugins,
      records,
      bundled: bundledPlugins(),
    });
    const found = all.find(({ id }) => id === pluginId);
    if (found === undefined) throw pluginNotFound(pluginId, idsOf(all));
    if (!found.result.ok) throw invalidPlugin(found.result.reason);
    const { files } = found.result;
    const trial = await tryPlugin(files, {
      home: place.home,
      raw: current.raw,
      entryConfig: current.plugins.entries?.[pluginId],
    });
    return planSwitchOn({
      manifest: files.manifest,
      engines: trial.engines,
      plugins: current.plugins,
    });
  });
  return leaveSafeMode(place.home, pluginId) ? [...notes, "It is in safe mode no longer."] : notes;
}

/**
 * The slot keeps its value: while the plugin is off legacy answers, and enabling
 * it brings its engine back.
 */
export function disablePlugin(pluginId: string, place: InstallPlace): Promise<string[]> {
  return change(pluginId, place, async (current) => {
    const { plugins } = current;
    const records = readRecords(place.home);
    const known = idsOf(
      discoverPlugins({ home: place.home, plugins, records, bundled: bundledPlugins() }),
    );
    if (!known.includes(pluginId)) throw pluginNotFound(pluginId, known);
    const slot = slotValue(plugins);
    const isSelected =
      slot !== null && (slot === pluginId || records.engines[slot]?.split("/")[0] === pluginId);
    const notes = [
      ...(isSelected
        ? [
            `plugins.slots.contextEngine stays "${slot}"; while the plugin is off, "legacy" answers.`,
          ]
        : []),
      ...agentsWith(pluginId, current, records).map(
        ({ id, engine }) =>
          `Agent "${id}" keeps its engine "${engine}"; while the plugin is off, "legacy" answers it.`,
      ),
    ];
    return { steps: [{ path: ["plugins", "entries", pluginId, "enabled"], value: false }], notes };
  });
}

function change(
  pluginId: string,
  { home, configFile }: InstallPlace,
  plan: (current: CurrentConfig) => Promise<PlannedSettings>,
): Promise<string[]> {
  return withPluginsLock(home, async () => {
    // A plugin is tried meanwhile, which takes its time.
    const { steps, notes } = await plan(await readCurrentConfig(configFile));
    const records = readRecords(home);
    const made = await changingConfig(configFile, async () =>
      makeSteps(configFile, await readCurrentConfig(configFile), steps, records),
    );
    const record = records.plugins[pluginId];
    // Only the first change of a setting knows what was there before the install.
    const isNew = (path: readonly (string | number)[]) =>
      !record?.changes.some((known) => known.path.join("\0") === path.join("\0"));
    if (record !== undefined) {
      const changes = [...record.changes, ...made.changes.filter(({ path }) => isNew(path))];
      writeRecords(home, {
        ...made.records,
        plugins: { ...records.plugins, [pluginId]: { ...record, changes } },
      });
    }
    return notes;
  });
}

const idsOf = (found: readonly { id: string }[]): string[] => found.map(({ id }) => id);
