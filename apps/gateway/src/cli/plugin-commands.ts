// Keeps which commands plugins add, so that help can list them without loading any plugin.
import { existsSync, readFileSync, statSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Places } from "../config/places.ts";
import { fromJson, toJson } from "../own-json.ts";
import { visible } from "../text/visible.ts";
import { VERSION } from "../version.ts";

export interface PluginCommand {
  pluginId: string;
  /** What is typed behind `clew`. */
  words: string;
  description: string;
}

interface Kept {
  v: 1;
  /** Which Clew wrote it. */
  clew: string;
  /** What each file that it depends on was then; null = it was not there. */
  files: Readonly<Record<string, string | null>>;
  commands: readonly PluginCommand[];
}

const fileIn = (home: string) => join(home, "plugin-commands.json");

/** Undefined: nobody knows any more, so plugins have to be asked. Never throws. */
export function keptCommands({ home, configFile }: Places): readonly PluginCommand[] | undefined {
  // What comes with Clew adds none.
  if (!existsSync(home) && !existsSync(configFile)) return [];
  try {
    const { v, clew, files, commands } = fromJson(readFileSync(fileIn(home), "utf8")) as Kept;
    const isOurs = v === 1 && clew === VERSION && configFile in files;
    const isCurrent = Object.entries(files).every(([file, stamp]) => stampOf(file) === stamp);
    return isOurs && isCurrent ? commands : undefined;
  } catch {
    return undefined;
  }
}

/** To be asked before plugins are loaded, for what is kept of them. */
export const stampsOf = (files: readonly string[]): Kept["files"] =>
  Object.fromEntries(files.map((file) => [file, stampOf(file)]));

/** Where it cannot be written, plugins are asked again. */
export async function keepCommands(
  { home }: Pick<Places, "home">,
  files: Kept["files"],
  commands: readonly PluginCommand[],
): Promise<void> {
  const kept: Kept = { v: 1, clew: VERSION, files, commands };
  const written = `${fileIn(home)}.${process.pid}`;
  try {
    await writeFile(written, `${toJson(kept, null, 2)}\n`, { mode: 0o600 });
    await rename(written, fileIn(home));
  } catch {}
}

/** Pure. A line each, under a title; "": there are none. */
export function describeCommands(commands: readonly PluginCommand[]): string {
  if (commands.length === 0) return "";
  const lines = commands.map(({ words, description, pluginId }) =>
    visible(`  ${words.padEnd(COLUMN)} ${description} (plugin ${pluginId})`),
  );
  return ["\nCommands of plugins:", ...lines].join("\n");
}

const COLUMN = 20;

function stampOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
