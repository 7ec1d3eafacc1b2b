// Which plugins are left off because they blocked the gateway, in the file `safe-mode.json`.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromJson, toJson } from "../own-json.ts";

export interface SafeModeEntry {
  /** ISO 8601. */
  at: string;
  /** A clause for people whose subject is the plugin. */
  reason: string;
}

export interface SafeMode {
  /** By the plugin's id. */
  plugins: Readonly<Record<string, SafeModeEntry>>;
  /** Why the file says nothing; null = it does, or there is none. */
  problem: string | null;
}

export const safeModeFile = (home: string): string => join(home, "safe-mode.json");

/** Never throws: a file that cannot be read leaves no plugin off. */
export function readSafeMode(home: string): SafeMode {
  const file = safeModeFile(home);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { plugins: {}, problem: code === "ENOENT" ? null : unreadable(file, message) };
  }
  try {
    const plugins = entriesIn(fromJson(text));
    if (plugins !== undefined) return { plugins, problem: null };
  } catch {}
  return { plugins: {}, problem: unreadable(file, "it is not what Clew wrote") };
}

const unreadable = (file: string, why: string) =>
  `${file} cannot be read (${why.replace(/\.$/, "")}), so no plugin is left off for it; remove it`;

function entriesIn(value: unknown): Record<string, SafeModeEntry> | undefined {
  const { plugins } = (value ?? {}) as { plugins?: unknown };
  if (typeof plugins !== "object" || plugins === null) return undefined;
  const entries = Object.entries(plugins as Record<string, Partial<SafeModeEntry> | null>);
  const isEntry = (entry: Partial<SafeModeEntry> | null): entry is SafeModeEntry =>
    typeof entry?.at === "string" && typeof entry.reason === "string";
  if (!entries.every(([, entry]) => isEntry(entry))) return undefined;
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/** Leaves a plugin off from the next start on. Throws what the file system says. */
export function enterSafeMode(home: string, pluginId: string, entry: SafeModeEntry): void {
  write(home, { ...readSafeMode(home).plugins, [pluginId]: entry });
}

/**
 * Leaves off all of these, of which nothing shows which is at fault. `what`: a clause whose subject
 * is the gateway. Throws what the file system says.
 */
export function suspectInSafeMode(
  home: string,
  plugins: readonly string[],
  { at, what }: { at: string; what: string },
): void {
  const entries = plugins.map((id) => [id, { at, reason: describeSuspicion(id, plugins, what) }]);
  write(home, { ...readSafeMode(home).plugins, ...Object.fromEntries(entries) });
}

/** Pure. A clause for people whose subject is the plugin. */
export function describeSuspicion(
  pluginId: string,
  plugins: readonly string[],
  what: string,
): string {
  const others = plugins.filter((id) => id !== pluginId).map((id) => `"${id}"`);
  const which =
    others.length === 0
      ? "no other plugin had run that does not come with Clew"
      : `so may ${others.join(", ")}, and nothing shows which it was: bring them back one by one`;
  return `may be why the gateway ${what}; ${which}`;
}

/** False: it was not in it. */
export function leaveSafeMode(home: string, pluginId: string): boolean {
  const { [pluginId]: left, ...others } = readSafeMode(home).plugins;
  if (left === undefined) return false;
  if (Object.keys(others).length > 0) write(home, others);
  else rmSync(safeModeFile(home), { force: true });
  return true;
}

function write(home: string, plugins: SafeMode["plugins"]): void {
  const draft = `${safeModeFile(home)}.draft-${process.pid}`;
  try {
    writeFileSync(draft, `${toJson({ plugins }, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(draft, safeModeFile(home));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Pure. Why the plugin is off: "it is off in safe mode: it … on …; … brings it back". */
export function describeSafeMode(pluginId: string, { at, reason }: SafeModeEntry): string {
  const when = at.slice(0, 19).replace("T", " ");
  return `it is off in safe mode, because it ${reason} (${when} UTC); clew plugins enable ${pluginId} brings it back`;
}
