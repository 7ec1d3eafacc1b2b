// The file `installs.json`, which records installs and the owners of engines.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { makeOwnFolderNow } from "../../home/no-links.ts";
import { writeOwnNow } from "../../home/own-writes.ts";
import { invalidPlugin, messageOf } from "../invalid.ts";

const part = z.union([z.string(), z.number()]);

/** One setting that an install changed, and how to put it back. */
const SettingChangeSchema = z.object({
  path: z.array(part),
  /** The setting's own text before; null = it was not there. */
  before: z.string().nullable(),
  /** A list item: removed by value, wherever it is by then. */
  item: z.string().optional(),
});
export type SettingChange = z.infer<typeof SettingChangeSchema>;

/**
 * An object or list that we made, or found empty: it goes, or gets its text
 * back, when it is empty again.
 */
const ContainerSchema = z.object({ path: z.array(part), emptyText: z.string().nullable() });
export type ContainerChange = z.infer<typeof ContainerSchema>;

/** One plugin that was installed. */
export const InstallSchema = z.object({
  source: z.enum(["npm", "path", "archive", "link"]),
  /** What was asked for: an npm spec, or an absolute path. */
  spec: z.string(),
  version: z.string().nullable(),
  /** Absolute folder of a link; else below the plugins folder. */
  root: z.string(),
  /** Hash of its files as they were installed. Absent: a link, or an older Clew wrote this. */
  contents: z.string().optional(),
  /** ISO 8601. */
  installedAt: z.string(),
  changes: z.array(SettingChangeSchema),
});
export type InstallRecord = z.infer<typeof InstallSchema>;

const RecordsSchema = z.object({
  v: z.literal(1),
  plugins: z.record(z.string(), InstallSchema),
  /**
   * Engine id → the plugin that registered it when it last ran; tells whose engine it is
   * while the plugin is off.
   */
  engines: z.record(z.string(), z.string()),
  containers: z.array(ContainerSchema),
  /**
   * The configuration's text before the first install, when it held no setting:
   * null = there was no file.
   */
  blankConfig: z.string().nullable().optional(),
});
export type InstallRecords = z.infer<typeof RecordsSchema>;

export function pluginsFolder(home: string): string {
  return join(home, "plugins");
}

export const recordsFile = (home: string): string => join(pluginsFolder(home), "installs.json");

/**
 * Throws PLUGIN_INVALID when the file is there and not ours to read: guessing could
 * remove what it should not.
 */
export function readRecords(home: string): InstallRecords {
  const file = recordsFile(home);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return NO_RECORDS;
  }
  try {
    const { plugins, engines, ...records } = RecordsSchema.parse(JSON.parse(text));
    return { ...records, plugins: withoutPrototype(plugins), engines: withoutPrototype(engines) };
  } catch (error) {
    throw invalidPlugin(
      `${file} cannot be read (${messageOf(error).split("\n", 1)[0]}); move it away and install the plugins again.`,
      error,
    );
  }
}

/** Nothing is found under a name such as "constructor". */
const withoutPrototype = <Value>(record: Record<string, Value>): Record<string, Value> =>
  Object.assign(Object.create(null) as Record<string, Value>, record);

export const NO_RECORDS: InstallRecords = {
  ...{ v: 1, containers: [] },
  plugins: withoutPrototype({}),
  engines: withoutPrototype({}),
};

/** Removes the file when nothing is left to remember. */
export function writeRecords(home: string, records: InstallRecords): void {
  const folder = pluginsFolder(home);
  const file = join(folder, "installs.json");
  const isEmpty =
    Object.keys(records.plugins).length === 0 && Object.keys(records.engines).length === 0;
  if (isEmpty) {
    rmSync(file, { force: true });
    return;
  }
  makeOwnFolderNow(home, folder);
  writeOwnNow(file, `${JSON.stringify(records, null, 2)}\n`);
}
