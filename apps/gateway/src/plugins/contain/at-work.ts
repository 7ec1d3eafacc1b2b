// Remembers on disk which plugin is at work, for when the process ends without a word.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the file `at-work.json` of a home says; without the file it is neither. */
export interface AtWork {
  /** Null: none of which that is to be known. */
  plugin: string | null;
  /** Who was at work when the process before this one ended. Null: nobody, or it ended well. */
  before: string | null;
}

export const NOBODY: AtWork = { plugin: null, before: null };

export const atWorkFile = (home: string): string => join(home, "at-work.json");

/** Never throws: what cannot be read says nothing. */
export function readAtWork(home: string): AtWork {
  try {
    const { plugin, before } = JSON.parse(readFileSync(atWorkFile(home), "utf8")) as Partial<
      Record<keyof AtWork, unknown>
    >;
    return { plugin: idOrNull(plugin), before: idOrNull(before) };
  } catch {
    return NOBODY;
  }
}

const idOrNull = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);

/**
 * Not drafted, nor flushed: what is to survive is the process, not the machine. Never throws: a
 * home that cannot be written is told of where something has to be written.
 */
export function writeAtWork(home: string, atWork: AtWork): void {
  try {
    if (atWork.plugin === null && atWork.before === null) rmSync(atWorkFile(home), { force: true });
    else writeFileSync(atWorkFile(home), `${JSON.stringify(atWork)}\n`, { mode: 0o600 });
  } catch {}
}

export type EndPlan =
  | { kind: "fine" }
  /** To be told of. */
  | { kind: "once"; plugin: string }
  | { kind: "again"; plugin: string };

/**
 * Pure. What the end of the process before means. The first time it may have been a person, or the
 * machine: nothing tells that from a plugin. `isOff`: it has been put into safe mode since.
 */
export function planEnd({ plugin, before }: AtWork, isOff: (plugin: string) => boolean): EndPlan {
  if (plugin === null || isOff(plugin)) return { kind: "fine" };
  return { kind: plugin === before ? "again" : "once", plugin };
}
