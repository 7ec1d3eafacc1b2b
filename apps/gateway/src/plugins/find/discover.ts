// Finds the folders of plugins without running any of them.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { fromJson5 } from "../../config/from-json5.ts";
import { messageOf } from "../invalid.ts";
import { isPluginId, MANIFEST_FILE, type PluginFiles, readPluginFiles } from "./manifest.ts";
import { type InstallRecords, pluginsFolder } from "./records.ts";

export type PluginOrigin = "linked" | "installed" | "bundled";

export interface FoundPlugin {
  /** The manifest's id; for one that cannot be read, the nearest thing to a name. */
  id: string;
  folder: string;
  origin: PluginOrigin;
  /** Or why it is none. */
  result: { ok: true; files: PluginFiles } | { ok: false; reason: string };
}

export interface DiscoverRequest {
  home: string;
  plugins: PluginsConfig;
  records: InstallRecords;
  /** Folders of plugins that come with Clew. */
  bundled: readonly string[];
}

/**
 * In the order in which they win: of two with the same id the first is used, the other says so. One
 * that comes with Clew gives way without a word.
 */
export function discoverPlugins({
  home,
  plugins,
  records,
  bundled,
}: DiscoverRequest): FoundPlugin[] {
  const linked = (plugins.load?.paths ?? []).map((path) => ({
    folder: linkedFolder(path),
    origin: "linked" as const,
    name: undefined,
  }));
  const installed = installedFolders(home, records).map(({ folder, name }) => ({
    folder,
    origin: "installed" as const,
    name,
  }));
  const own = bundled.map((folder) => ({ folder, origin: "bundled" as const, name: undefined }));
  const seen = new Map<string, string>();
  return [...linked, ...installed, ...own].flatMap(({ folder, origin, name }): FoundPlugin[] => {
    const id = manifestId(folder) ?? name ?? basename(folder);
    const first = seen.get(id);
    if (first !== undefined) {
      const reason = `Plugin "${id}" in ${folder} is not used: ${first} has the same id.`;
      return origin === "bundled" ? [] : [{ id, folder, origin, result: { ok: false, reason } }];
    }
    seen.set(id, folder);
    try {
      return [{ id, folder, origin, result: { ok: true, files: readPluginFiles(folder) } }];
    } catch (error) {
      return [{ id, folder, origin, result: { ok: false, reason: messageOf(error) } }];
    }
  });
}

function installedFolders(
  home: string,
  { plugins }: InstallRecords,
): { folder: string; name: string }[] {
  const base = pluginsFolder(home);
  const recorded = Object.entries(plugins).filter(([, { source }]) => source !== "link");
  const byRecord = recorded.map(([name, { root }]) => ({ folder: join(base, root), name }));
  const known = new Set(recorded.map(([, { root }]) => root.split("/")[0]));
  const byHand = listFolders(base).filter(
    (name) => !known.has(name) && existsSync(join(base, name, MANIFEST_FILE)),
  );
  return [...byRecord, ...byHand.map((name) => ({ folder: join(base, name), name }))];
}

function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isFile() && !entry.name.startsWith("."))
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

/** Undefined: nobody can read one there. */
export function manifestId(folder: string): string | undefined {
  try {
    const id: unknown = (
      fromJson5(readFileSync(join(folder, MANIFEST_FILE), "utf8")) as { id?: unknown }
    ).id;
    return isPluginId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** The folder that an item of `plugins.load.paths` means. */
export function linkedFolder(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(path);
}
