// Keeps what an install or update is about to replace, until it has worked out.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { PluginManifest } from "@clew/plugin-sdk/host";
import { bundledPlugins } from "../find/bundled.ts";
import { readPluginFiles } from "../find/manifest.ts";
import { pluginsFolder, readRecords } from "../find/records.ts";
import { installFailed, messageOf } from "../invalid.ts";
import { dataFault } from "./data-links.ts";
import { copyData, type DataPlace, dataPlaces } from "./plugin-data.ts";
import { keep } from "./previous.ts";

export interface Keeping {
  /** Keeps the old files too, for a rollback; what people are told of it. */
  finish(files: string | null): string[];
  discard(): void;
}

export const NOTHING_KEPT: Keeping = { finish: () => [], discard: () => {} };

/** Copies the data of what is installed now, if any is. Throws what keeps it from being read. */
export async function keepReplaced(
  home: string,
  pluginId: string,
  withData: boolean,
): Promise<Keeping> {
  const record = readRecords(home).plugins[pluginId];
  if (record === undefined || record.source === "link") return NOTHING_KEPT;
  const staged = join(pluginsFolder(home), `.staging-${randomBytes(4).toString("hex")}`);
  const discard = () => rmSync(staged, { recursive: true, force: true });
  const places = withData ? placesOf(home, pluginId, join(pluginsFolder(home), record.root)) : null;
  // Before the copy begins: what an engine takes meanwhile may not be in it.
  const keptAt = new Date().toISOString();
  let bytes = 0;
  try {
    const fault = dataFault(home, places ?? []);
    if (fault !== null) throw new Error(fault);
    if (places !== null) bytes = await copyData(places, join(staged, "data"));
  } catch (error) {
    discard();
    throw installFailed(
      `The data of plugin "${pluginId}" cannot be copied (${messageOf(error)}), so nothing was changed; to go on without a copy, add --no-data.`,
      error,
    );
  }
  const kept = {
    ...{ v: 1 as const, record, keptAt },
    data: places?.map(({ name, path }) => ({ name, path })) ?? null,
  };
  return {
    discard,
    finish(files) {
      if (files === null) return [];
      try {
        keep(home, pluginId, { staged, files, kept });
      } catch (error) {
        return [`The version before could not be kept (${messageOf(error)}).`];
      }
      const about = bytes === 0 ? "" : `, with its data of now (${sizeOf(bytes)})`;
      return [`To go back to ${record.version ?? "it"}${about}: clew plugins rollback ${pluginId}`];
    },
  };
}

/** One that cannot be read any more has its own folder at least. */
function placesOf(home: string, pluginId: string, root: string): DataPlace[] {
  const others = otherManifests(home, pluginId);
  return dataPlaces(home, manifestIn(root) ?? { id: pluginId, configSchema: {} }, others);
}

/** Of the other plugins that were installed, and of those that come with Clew. */
export function otherManifests(home: string, pluginId: string): PluginManifest[] {
  const records = Object.values(readRecords(home).plugins);
  const roots = [
    ...records.map(({ source, root }) =>
      source === "link" ? root : join(pluginsFolder(home), root),
    ),
    ...bundledPlugins(),
  ];
  const manifests = roots.map(manifestIn).filter((manifest) => manifest !== null);
  return manifests.filter(({ id }) => id !== pluginId);
}

function manifestIn(root: string): PluginManifest | null {
  try {
    return readPluginFiles(root, { checkHost: false }).manifest;
  } catch {
    return null;
  }
}

const sizeOf = (bytes: number) =>
  bytes < 1024 ** 2 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.ceil(bytes / 1024 ** 2)} MiB`;
