// Runs `clew plugins update`, which keeps the old version until the new one works.
import { join } from "node:path";
import { type InstallRecord, readRecords, writeRecords } from "../find/records.ts";
import { installFailed, notOffered } from "../invalid.ts";
import { readCurrentConfig } from "./config-file.ts";
import { type InstallPlace, moveIntoPlace, versionOf } from "./install.ts";
import { keepReplaced } from "./keep-replaced.ts";
import { withPluginsLock } from "./lock.ts";
import { planSource } from "./source.ts";
import { type StagedPlugin, stagePlugin } from "./stage.ts";
import { tryPlugin } from "./trial.ts";

export interface UpdateReport {
  pluginId: string;
  changed: boolean;
  /** One sentence. */
  note: string;
}

/**
 * Without ids: everything that was installed. Throws PLUGIN_INVALID at the first that
 * fails; it stays as it was.
 */
export function updatePlugins(
  ids: readonly string[],
  place: InstallPlace,
  { data = true }: { data?: boolean | undefined } = {},
): Promise<UpdateReport[]> {
  return withPluginsLock(place.home, async () => {
    const { plugins } = readRecords(place.home);
    const reports: UpdateReport[] = [];
    for (const pluginId of ids.length > 0 ? ids : Object.keys(plugins)) {
      const record = plugins[pluginId];
      if (record === undefined)
        throw notOffered(
          `Plugin "${pluginId}" was not installed by clew; installed are: ${Object.keys(plugins).join(", ") || "none"}.`,
        );
      reports.push(await updateOne(pluginId, record, place, data));
    }
    return reports;
  });
}

async function updateOne(
  pluginId: string,
  record: InstallRecord,
  place: InstallPlace,
  data: boolean,
): Promise<UpdateReport> {
  if (record.source === "link")
    return {
      pluginId,
      changed: false,
      note: `${pluginId} is linked: there is nothing to update; "clew plugins reload" reads ${record.root} again.`,
    };
  const source = planSource(
    record.source === "npm" ? `npm:${record.spec}` : record.spec,
    place.cwd,
  );
  const staged = await stagePlugin(source, place.home);
  try {
    const version = versionOf(staged.files);
    if (staged.files.manifest.id !== pluginId)
      throw installFailed(
        `${record.spec} is plugin "${staged.files.manifest.id}" now, not "${pluginId}"; uninstall "${pluginId}" and install it again.`,
      );
    if (record.source === "npm" && version === record.version)
      return {
        pluginId,
        changed: false,
        note: `${pluginId} ${version} is the newest that ${record.spec} allows.`,
      };
    const notes = await replace({ pluginId, record: { ...record, version }, staged, place, data });
    return {
      pluginId,
      changed: true,
      note: [`${pluginId}: ${record.version ?? "?"} -> ${version ?? "?"}.`, ...notes].join(" "),
    };
  } finally {
    staged.discard();
  }
}

/** The old files come back unless everything works. */
async function replace({
  pluginId,
  record,
  staged,
  place,
  data,
}: {
  pluginId: string;
  record: InstallRecord;
  staged: StagedPlugin;
  place: InstallPlace;
  data: boolean;
}): Promise<string[]> {
  const { raw, plugins } = await readCurrentConfig(place.configFile);
  const entryConfig = plugins.entries?.[pluginId];
  const trial = await tryPlugin(staged.files, { home: place.home, raw, entryConfig });
  const keeping = await keepReplaced(place.home, pluginId, data);
  const undo = moveIntoPlace(staged, place.home);
  try {
    const records = readRecords(place.home);
    const brought = Object.fromEntries(trial.engines.map((engineId) => [engineId, pluginId]));
    const root = join(pluginId, staged.rootBelow);
    const updated = { ...record, root, installedAt: new Date().toISOString() };
    writeRecords(place.home, {
      ...records,
      engines: { ...records.engines, ...brought },
      plugins: { ...records.plugins, [pluginId]: updated },
    });
    const notes = keeping.finish(undo.aside);
    undo.forget();
    return notes;
  } catch (error) {
    undo.restore();
    throw error;
  } finally {
    keeping.discard();
  }
}
