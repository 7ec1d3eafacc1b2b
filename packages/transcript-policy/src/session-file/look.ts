// Looks for damage in the lines of a session file while somebody else reads them.
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { entryIn } from "./entry.ts";
import { Links } from "./links.ts";
import { isInOrder, Planner } from "./plan.ts";

/**
 * What a repair would see in a file, from a host that reads the file anyway: given to
 * `repairSessionFileIfNeeded`, it spares a file that is in order a second reading.
 */
export interface DamageLook {
  /** The next line that is not blank, and what it is as JSON; undefined = it is none. */
  add(line: Buffer, value: unknown): void;
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
  // Of two entries with one id the file has to say which is a copy: not without the lines.
  const links = new Links({ comparesLines: false });
  const planner = new Planner({ fileName: basename(path), now: 0 }, links);
  let isOdd = false;
  return {
    add(line, value) {
      if (isOdd) return;
      const entry = entryIn(value);
      if (entry === undefined) isOdd = true;
      else planner.add({ line: { bytes: line, ended: true }, entry });
    },
    async orderly() {
      if (isOdd) return undefined;
      const plan = await planner.end();
      return plan.header === "valid" && isInOrder(plan) ? before : undefined;
    },
  };
}
