// Fetches a plugin's files into a folder next to their final place.
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { variablesForNpm } from "../../config/environment.ts";
import { isInside, MANIFEST_FILE, type PluginFiles, readPluginFiles } from "../find/manifest.ts";
import { pluginsFolder } from "../find/records.ts";
import { installFailed, invalidPlugin } from "../invalid.ts";
import { checkArchive } from "./check-archive.ts";
import { checkTree, mendModes, type TreeSize } from "./check-tree.ts";
import { fetchedFrom } from "./fetched-from.ts";
import { withFoundArchives } from "./found-archives.ts";
import { npmInstall } from "./npm.ts";
import type { PluginSource } from "./source.ts";

export interface StagedPlugin {
  files: PluginFiles;
  /** The folder to move into place; holds the plugin and its dependencies. */
  folder: string;
  /** The plugin's root below `folder`; "" = `folder` itself. */
  rootBelow: string;
  /** With its dependencies. */
  size: TreeSize;
  /** Hosts other than npm's registry that its files came from. */
  fetchedFrom: string[];
  /** To be called when its code was run: throws what of it may no longer be kept. */
  lookAgain(): void;
  discard(): void;
}

/** Settings of npm in a folder would be obeyed; dependencies are fetched anew. */
const NOT_COPIED: ReadonlySet<string> = new Set(["node_modules", ".git", ".npmrc"]);

/** Runs no code of the plugin. Throws PLUGIN_INVALID and leaves nothing behind. */
export async function stagePlugin(source: PluginSource, home: string): Promise<StagedPlugin> {
  const folder = join(pluginsFolder(home), `.staging-${randomBytes(4).toString("hex")}`);
  const discard = () => rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const root = await fetchInto(source, folder);
    const look = () => {
      const size = checkTree({ root: folder, what: originOf(source) });
      mendModes(folder);
      return { size, files: readStaged(root, source) };
    };
    const rootBelow = relative(folder, root);
    const hosts = fetchedFrom(folder, variablesForNpm().npm_config_registry);
    return { ...look(), folder, rootBelow, fetchedFrom: hosts, lookAgain: look, discard };
  } catch (error) {
    discard();
    throw error;
  }
}

async function fetchInto(source: PluginSource, folder: string): Promise<string> {
  if (source.kind === "path") {
    requireManifest(source.folder, source.folder);
    if (isInside(source.folder, folder))
      throw installFailed(
        `${source.folder} holds the home of Clew itself (${folder}), so it cannot be copied into it; name the plugin's own folder.`,
      );
    checkTree({ root: source.folder, what: source.folder, skip: NOT_COPIED });
    // In our words: npm has its own for what it cannot read.
    readPluginFiles(source.folder);
    cpSync(source.folder, folder, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => !NOT_COPIED.has(basename(from)) || from === source.folder,
    });
    const needed = Object.keys(readJson(join(folder, "package.json")).dependencies ?? {});
    if (needed.length > 0)
      await withFoundArchives({ folder: source.folder, copy: folder }, () =>
        npmInstall({ folder, what: `the dependencies of ${source.folder}` }),
      );
    return folder;
  }
  const [spec, what] =
    source.kind === "npm" ? [source.spec, `"${source.spec}"`] : [source.file, source.file];
  if (source.kind === "archive") await checkArchive(source.file);
  await npmInstall({ folder, spec, what });
  const [name] = Object.keys(readJson(join(folder, "package.json")).dependencies ?? {});
  if (name === undefined) throw invalidPlugin(`${what} holds no package, so it is not a plugin.`);
  const root = join(folder, "node_modules", name);
  requireManifest(
    root,
    `${what} (${name} ${readJson(join(root, "package.json")).version ?? ""})`.replace(" )", ")"),
  );
  return root;
}

function requireManifest(root: string, what: string): void {
  if (!existsSync(join(root, MANIFEST_FILE)))
    throw invalidPlugin(
      `${what} is not a plugin: it has no ${MANIFEST_FILE}; nothing was installed.`,
    );
}

/** Problems name what the person asked for, not a folder that is gone by the time they read it. */
function readStaged(root: string, source: PluginSource): PluginFiles {
  try {
    return readPluginFiles(root);
  } catch (error) {
    throw error instanceof Error
      ? invalidPlugin(error.message.replaceAll(root, originOf(source)), error)
      : error;
  }
}

/** As the person named it. */
const originOf = (source: PluginSource): string =>
  source.kind === "npm" ? source.spec : source.kind === "path" ? source.folder : source.file;

function readJson(file: string): { dependencies?: Record<string, string>; version?: string } {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as {
      dependencies?: Record<string, string>;
      version?: string;
    };
  } catch {
    return {};
  }
}
