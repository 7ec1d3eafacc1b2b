// Runs `clew plugins update`, which keeps the old version until the new one works.
import { join } from "node:path";
import semver from "semver";
import { shellWord } from "../../text/shell-word.ts";
import { type InstallRecord, readRecords, writeRecords } from "../find/records.ts";
import { installFailed, notOffered } from "../invalid.ts";
import { readCurrentConfig } from "./config-file.ts";
import { contentsOf, installedContents } from "./contents.ts";
import { type InstallPlace, moveIntoPlace, versionOf } from "./install.ts";
import { keepReplaced, otherManifests } from "./keep-replaced.ts";
import { withPluginsLock } from "./lock.ts";
import { planNamedData } from "./plugin-data.ts";
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
    const contents = contentsOf(staged.folder);
    const why = whyNothingNewer({
      ...{ pluginId, record, version },
      isSame: contents === installedContents(place.home, pluginId, record),
    });
    if (why !== null) return { pluginId, changed: false, note: why };
    const updated = { ...record, version, contents };
    const notes = await replace({ pluginId, record: updated, staged, place, data });
    const what =
      version === record.version
        ? `${pluginId} ${version ?? ""} has other files than before.`.replace("  ", " ")
        : `${pluginId}: ${record.version ?? "?"} -> ${version ?? "?"}.`;
    return { pluginId, changed: true, note: [what, ...notes].join(" ") };
  } finally {
    staged.discard();
  }
}

/** Pure. Null: what there is now takes the place of what is installed. */
function whyNothingNewer({
  pluginId,
  record: { source, spec, version: installed },
  version,
  isSame,
}: {
  pluginId: string;
  record: InstallRecord;
  version: string | null;
  isSame: boolean;
}): string | null {
  const name = `${pluginId} ${version ?? ""}`.trimEnd();
  if (source === "npm" && version === installed)
    return `${name} is the newest that ${spec} allows.`;
  if (isSame) return `${name} is up to date: ${spec} holds the same files.`;
  return semver.valid(version) && semver.valid(installed) && semver.lt(version!, installed!)
    ? `${name} is what ${spec} holds, and ${installed} is installed, which is newer: nothing was changed; to go back to the older one: clew plugins install --force ${shellWord(spec)}`
    : null;
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
  staged.lookAgain();
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
    const { leftOut } = planNamedData(staged.files.manifest, otherManifests(place.home, pluginId));
    const notes = [...leftOut, ...keeping.finish(undo.aside)];
    undo.forget();
    return notes;
  } catch (error) {
    undo.restore();
    throw error;
  } finally {
    keeping.discard();
  }
}
