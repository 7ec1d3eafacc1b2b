// Runs `clew plugins install`, which changes nothing unless the plugin works.
import { randomBytes } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import semver from "semver";
import { changingConfig } from "../../config/change.ts";
import { bundledFolders, bundledIds, bundledPlugins } from "../find/bundled.ts";
import { discoverPlugins, linkedFolder } from "../find/discover.ts";
import { type PluginFiles, readPluginFiles } from "../find/manifest.ts";
import {
  type InstallRecord,
  type InstallRecords,
  pluginsFolder,
  readRecords,
  writeRecords,
} from "../find/records.ts";
import { installFailed, requestInvalid } from "../invalid.ts";
import {
  type CurrentConfig,
  makeSteps,
  readCurrentConfig,
  takeBack,
  writeBack,
} from "./config-file.ts";
import { contentsOf, installedContents } from "./contents.ts";
import { type Introduction, introduce } from "./introduce.ts";
import { keepReplaced, NOTHING_KEPT, otherManifests } from "./keep-replaced.ts";
import { withPluginsLock } from "./lock.ts";
import { planNamedData } from "./plugin-data.ts";
import { planSwitchOn, toolNote } from "./settings.ts";
import { type PluginSource, planSource } from "./source.ts";
import { type StagedPlugin, stagePlugin } from "./stage.ts";
import { type Trial, tryPlugin } from "./trial.ts";

export interface InstallPlace {
  home: string;
  configFile: string;
  cwd: string;
}

export interface InstallRequest {
  spec: string;
  /** Use the folder where it is. */
  link?: boolean | undefined;
  /** Replace what is installed under the same id. */
  force?: boolean | undefined;
  /** Stay at exactly this version in updates. */
  pin?: boolean | undefined;
  /** False: of a version that is replaced no data is kept. Absent: true. */
  data?: boolean | undefined;
  /** Asked before any code of the plugin runs. Absent: whoever calls has agreed already. */
  agree?: ((plugin: readonly string[]) => Promise<boolean>) | undefined;
}

export interface InstallReport {
  pluginId: string;
  version: string | null;
  notes: string[];
}

/** Throws PLUGIN_INVALID or CONFIG_INVALID; then nothing has changed. */
export async function installPlugin(
  request: InstallRequest,
  place: InstallPlace,
): Promise<InstallReport> {
  const source = planSource(request.spec, place.cwd);
  if (request.link && source.kind !== "path")
    throw requestInvalid(
      `Only a folder can be linked; "${request.spec}" is not one; leave out -l.`,
    );
  if (request.pin && source.kind !== "npm")
    throw requestInvalid("Only a package from npm can be pinned; leave out --pin.");
  return withPluginsLock(place.home, () =>
    request.link && source.kind === "path"
      ? linkPlugin(source.folder, request, place)
      : copyPlugin(source, request, place),
  );
}

async function linkPlugin(
  folder: string,
  { force, agree }: InstallRequest,
  place: InstallPlace,
): Promise<InstallReport> {
  const files = readPluginFiles(folder);
  const current = await readCurrentConfig(place.configFile);
  refuseUnfit(files, current, place, force === true, folder);
  const replaced = installedNow(place.home, files.manifest.id);
  await askFor(files, agree, { from: folder, isLink: true, replaced });
  const trial = await tryPlugin(files, {
    home: place.home,
    raw: current.raw,
    entryConfig: current.plugins.entries?.[files.manifest.id],
  });
  const record = { source: "link" as const, spec: folder, root: folder, version: versionOf(files) };
  return switchOn({ files, trial, place, record, link: folder });
}

async function copyPlugin(
  source: PluginSource,
  request: InstallRequest,
  place: InstallPlace,
): Promise<InstallReport> {
  const current = await readCurrentConfig(place.configFile);
  const staged = await stagePlugin(source, place.home);
  const { files } = staged;
  try {
    refuseUnfit(files, current, place, request.force === true);
    const { id } = files.manifest;
    const replaced = installedNow(place.home, id);
    const { size, fetchedFrom } = staged;
    await askFor(files, request.agree, { from: request.spec, size, fetchedFrom, replaced });
    const contents = contentsOf(staged.folder);
    const trial = await tryPlugin(files, {
      home: place.home,
      raw: current.raw,
      entryConfig: current.plugins.entries?.[id],
    });
    staged.lookAgain();
    // What is put over the same files replaces nothing; the version before stays the kept one.
    const isSame = contents === contentsNow(place.home, id);
    const keeping = isSame
      ? NOTHING_KEPT
      : await keepReplaced(place.home, id, request.data ?? true);
    const undo = moveIntoPlace(staged, place.home);
    try {
      const version = versionOf(files);
      const spec =
        source.kind === "npm"
          ? request.pin
            ? `${source.name}@${version}`
            : source.spec
          : source.kind === "path"
            ? source.folder
            : source.file;
      const record = {
        source: source.kind,
        spec,
        version,
        root: join(id, staged.rootBelow),
        contents,
      };
      const report = await switchOn({ files, trial, place, record, link: undefined });
      const notes = keeping.finish(undo.aside);
      undo.forget();
      return { ...report, notes: [...report.notes, ...foreignNote(fetchedFrom), ...notes] };
    } catch (error) {
      undo.restore();
      throw error;
    } finally {
      keeping.discard();
    }
  } finally {
    staged.discard();
  }
}

const foreignNote = (hosts: readonly string[]): string[] =>
  hosts.length === 0
    ? []
    : [`Of its files some were fetched from ${hosts.join(", ")}, which is not npm's registry.`];

function contentsNow(home: string, pluginId: string): string | null {
  const record = readRecords(home).plugins[pluginId];
  if (record === undefined || record.source === "link") return null;
  return installedContents(home, pluginId, record);
}

function installedNow(home: string, pluginId: string): InstallRecord | null {
  const { plugins } = readRecords(home);
  return Object.hasOwn(plugins, pluginId) ? plugins[pluginId]! : null;
}

async function askFor(
  files: PluginFiles,
  agree: InstallRequest["agree"],
  about: Omit<Introduction, "files">,
): Promise<void> {
  const takesBundledId = takesBundled(files);
  if (agree === undefined || (await agree(introduce({ files, takesBundledId, ...about })))) return;
  throw installFailed(
    `Plugin "${files.manifest.id}" was not installed, and nothing of it was run.`,
  );
}

/** Whether it is another plugin than the one that comes with Clew under its id. */
const takesBundled = ({ manifest, root }: PluginFiles): boolean =>
  bundledIds().has(manifest.id) && !bundledFolders()(root);

/**
 * Two plugins with one id would hide each other; one without what it requires would not be loaded.
 */
function refuseUnfit(
  files: PluginFiles,
  { plugins }: CurrentConfig,
  { home }: InstallPlace,
  force: boolean,
  linked?: string,
): void {
  const { manifest } = files;
  const { id } = manifest;
  const records = readRecords(home);
  const installed = Object.hasOwn(records.plugins, id) ? records.plugins[id] : undefined;
  if (installed !== undefined && !force) {
    const version = installed.version === null ? "" : ` ${installed.version}`;
    throw installFailed(
      `Plugin "${id}"${version} is already installed; to put this in its place, add --force; "clew plugins update ${id}" looks again where that one came from.`,
    );
  }
  if (installed === undefined && !force && takesBundled(files))
    throw installFailed(
      `Plugin "${id}" has the id of one that comes with Clew, and would take its name, its settings, its slot and its data; if that is what you want, add --force.`,
    );
  const all = discoverPlugins({ home, plugins, records, bundled: bundledPlugins() });
  const lacking = manifest.requiresPlugins?.find(
    (required) => !all.some((found) => found.id === required),
  );
  if (lacking !== undefined)
    throw installFailed(`Plugin "${id}" requires plugin "${lacking}"; install that first.`);
  const other = all.find(
    ({ id: found, folder, origin }) => found === id && folder !== linked && origin !== "bundled",
  );
  if (other !== undefined && installed === undefined)
    throw installFailed(
      `Plugin "${id}" already exists in ${other.folder}; remove it there (or from plugins.load.paths) first.`,
    );
}

/** The old folder is kept aside until the rest has worked out; null = there was none. */
export function moveIntoPlace(
  staged: StagedPlugin,
  home: string,
): { restore(): void; forget(): void; aside: string | null } {
  const target = join(pluginsFolder(home), staged.files.manifest.id);
  const aside = join(pluginsFolder(home), `.replaced-${randomBytes(4).toString("hex")}`);
  const had = existsSync(target);
  if (had) renameSync(target, aside);
  renameSync(staged.folder, target);
  return {
    restore() {
      rmSync(target, { recursive: true, force: true });
      if (had) renameSync(aside, target);
    },
    forget: () => rmSync(aside, { recursive: true, force: true }),
    aside: had ? aside : null,
  };
}

interface SwitchRequest {
  files: PluginFiles;
  trial: Trial;
  place: InstallPlace;
  record: Omit<InstallRecord, "installedAt" | "changes">;
  link: string | undefined;
}

/** Looks at the settings anew: they may be others since the plugin was tried. */
const switchOn = (request: SwitchRequest): Promise<InstallReport> => {
  const { configFile } = request.place;
  return changingConfig(configFile, async () =>
    switchOnIn({ ...request, current: await readCurrentConfig(configFile) }),
  );
};

async function switchOnIn(
  request: SwitchRequest & { current: CurrentConfig },
): Promise<InstallReport> {
  const { files, trial, place, record, link } = request;
  const { id } = files.manifest;
  const { configFile } = place;
  const replaced = readRecords(place.home).plugins[id];
  const { before, current, unlinked } = await unlink(replaced, request);
  try {
    const { steps, notes } = planSwitchOn({
      manifest: files.manifest,
      engines: trial.engines,
      plugins: current.plugins,
      link,
    });
    const made = await makeSteps(configFile, current, steps, before);
    // What an earlier install of the same plugin changed is still there to be taken back.
    const earlier = (replaced?.changes ?? []).filter(
      ({ path }) => unlinked.length === 0 || path.join(".") !== LINKS.join("."),
    );
    const changes = [...earlier, ...made.changes];
    const installed = { ...record, installedAt: new Date().toISOString(), changes };
    writeRecords(place.home, withPlugin(made.records, id, installed, trial.engines));
    if (replaced !== undefined && replaced.source !== "link" && record.source === "link")
      rmSync(join(pluginsFolder(place.home), id), { recursive: true, force: true });
    return {
      pluginId: id,
      version: record.version,
      notes: [
        ...[...unlinked, ...notes, ...trial.warnings, ...toolNote(id, trial)],
        ...planNamedData(files.manifest, otherManifests(place.home, id)).leftOut,
      ],
    };
  } catch (error) {
    await writeBack(configFile, request.current.text);
    throw error;
  }
}

const LINKS = ["plugins", "load", "paths"];

/** A linked folder is found first: while its path is there, it hides what replaces it. */
async function unlink(
  replaced: InstallRecord | undefined,
  {
    current,
    place,
    link,
  }: { current: CurrentConfig; place: InstallPlace; link?: string | undefined },
): Promise<{ before: InstallRecords; current: CurrentConfig; unlinked: string[] }> {
  const before = readRecords(place.home);
  const items = (current.plugins.load?.paths ?? []).filter(
    (item) => replaced?.source === "link" && linkedFolder(item) === replaced.root,
  );
  if (items.length === 0 || replaced?.root === link) return { before, current, unlinked: [] };
  const changes = items.map((item) => ({ path: LINKS, before: null, item }));
  return {
    before: await takeBack(place.configFile, changes, before),
    current: await readCurrentConfig(place.configFile),
    unlinked: items.map((item) => `${item}, which was linked, is removed from ${LINKS.join(".")}.`),
  };
}

function withPlugin(
  records: InstallRecords,
  id: string,
  record: InstallRecord,
  engines: readonly string[],
): InstallRecords {
  return {
    ...records,
    plugins: { ...records.plugins, [id]: record },
    engines: {
      ...records.engines,
      ...Object.fromEntries(engines.map((engineId) => [engineId, id])),
    },
  };
}

export function versionOf({ manifest, packageJson }: PluginFiles): string | null {
  const version = packageJson.version ?? manifest.version;
  return version === undefined ? null : (semver.valid(version) ?? version);
}
