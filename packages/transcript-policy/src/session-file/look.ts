// Looks for damage in the lines of a session file while somebody else reads them.
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { entryIn } from "./entry.ts";
import { Links } from "./links.ts";
import { isInOrder, Planner } from "./plan.ts";

/** What a repair would see in lines that somebody else reads. */
export interface LineLook {
  /** The next line that is not blank, and what it is as JSON; undefined = it is none. */
  add(line: Buffer, value: unknown): void;
  /** To be asked when all lines have been told; false: a repair has to look for itself. */
  isOrderly(): Promise<boolean>;
}

/**
 * The same of a file, from a host that reads it anyway: given to `repairSessionFileIfNeeded`, it
 * spares a file that is in order a second reading.
 */
export interface DamageLook extends Pick<LineLook, "add"> {
  /**
   * To be asked when all lines have been told. The file as it was before, when it is surely in
   * order; undefined: a repair has to look for itself.
   */
  orderly(): Promise<Stats | undefined>;
}

/** To be called before the file is read; undefined when there is none. */
export async function lookWhileReading(sessionFile: string): Promise<DamageLook | undefined> {
  const path = await realpath(sessionFile).catch(() => sessionFile);
  const before = await stat(path).catch(() => undefined);
  if (before === undefined) return undefined;
  const look = lookAtLines(basename(path));
  return {
    add: look.add,
    orderly: async () => ((await look.isOrderly()) ? before : undefined),
  };
}

/**
 * For whoever only wants to know, and asks the file system nothing. `fileName` is that of the
 * session file, without its folder.
 */
export function lookAtLines(fileName: string): LineLook {
  // Of two entries with one id the file has to say which is a copy: not without the lines.
  const links = new Links({ comparesLines: false });
  const planner = new Planner({ fileName, now: 0 }, links);
  let isOdd = false;
  return {
    add(line, value) {
      if (isOdd) return;
      const entry = entryIn(value);
      if (entry === undefined) isOdd = true;
      else planner.add({ line: { bytes: line, ended: true }, entry });
    },
    async isOrderly() {
      if (isOdd) return false;
      const plan = await planner.end();
      return plan.header === "valid" && isInOrder(plan);
    },
  };
}
