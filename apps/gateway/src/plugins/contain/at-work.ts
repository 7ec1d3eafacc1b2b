// Remembers on disk which plugins are at work, for when the process ends without a word.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceOwnNow } from "../../home/own-writes.ts";
import { fromJson, toJson } from "../../own-json.ts";

/** What the file `at-work.json` of a home says while its gateway runs. */
export interface AtWork {
  /** Whose code runs, or is being loaded. Null: nobody's of which that is noted. */
  plugin: string | null;
  /** Those that do not come with Clew and had run, in this order. */
  ran: readonly string[];
  /** True: the start is not over. */
  isStarting: boolean;
  /** How many processes before this one ended without a word while they started, in a row. */
  ends: number;
  /** Who was at work when the one before this ended so. Null: nobody is known. */
  before: string | null;
}

export const NOBODY: AtWork = {
  ...{ plugin: null, ran: [], isStarting: true, ends: 0, before: null },
};

export const atWorkFile = (home: string): string => join(home, "at-work.json");

/** Undefined: the process before ended as it should. Never throws: the unreadable says nothing. */
export function readAtWork(home: string): AtWork | undefined {
  try {
    const found = fromJson(readFileSync(atWorkFile(home), "utf8")) as Partial<
      Record<keyof AtWork, unknown>
    >;
    return {
      plugin: idOrNull(found.plugin),
      ran: Array.isArray(found.ran) ? found.ran.filter((id) => idOrNull(id) !== null) : [],
      isStarting: found.isStarting === true,
      ends: typeof found.ends === "number" ? found.ends : 0,
      before: idOrNull(found.before),
    };
  } catch {
    return undefined;
  }
}

const idOrNull = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);

/**
 * Not drafted, nor flushed: what is to survive is the process, not the machine. Undefined: there is
 * nothing to find out. Never throws: a home that cannot be written is told of elsewhere.
 */
export function writeAtWork(home: string, atWork: AtWork | undefined): void {
  try {
    if (atWork === undefined) rmSync(atWorkFile(home), { force: true });
    else replaceOwnNow(atWorkFile(home), `${toJson(atWork)}\n`);
  } catch {}
}

export type EndPlan =
  | { kind: "fine" }
  /** To be told of. `ends` and `before`: what the next process is to know. */
  | { kind: "told"; plugin: string | null; ran: readonly string[]; ends: number }
  /** `off`: one of these is at fault, or nobody; `plugin` was at work each time. */
  | { kind: "again"; off: readonly string[]; plugin: string | null; isCrash: boolean };

/** Ends in a row after which plugins are left off: with the same one at work, and without. */
const ENDS_SAME = 2;
const ENDS_ANY = 4;

/**
 * Pure. What the end of the process before means. A person or the machine may have ended it:
 * nothing tells that from a plugin, unless Node wrote that it crashed, which is `isCrash`. `isOff`:
 * it has been put into safe mode since.
 */
export function planEnd(
  found: AtWork | undefined,
  { isCrash, isOff }: { isCrash: boolean; isOff: (plugin: string) => boolean },
): EndPlan {
  const ran = (found?.ran ?? []).filter((plugin) => !isOff(plugin));
  if (found === undefined || (found.plugin !== null && isOff(found.plugin)) || ran.length === 0)
    return { kind: "fine" };
  const { plugin } = found;
  if (!found.isStarting && plugin === null) return { kind: "told", plugin, ran, ends: 0 };
  const ends = found.ends + 1;
  const isSame = plugin !== null && plugin === found.before;
  if (ends < (isSame || isCrash ? ENDS_SAME : ENDS_ANY)) return { kind: "told", plugin, ran, ends };
  const isCertain = isSame && isCrash;
  return {
    kind: "again",
    off: isCertain ? [plugin] : ran,
    plugin: isSame ? plugin : null,
    isCrash,
  };
}
