// Decides when parts that no report names are looked for, as sessions are deleted.
import { readdir } from "node:fs/promises";
import type { LogPort } from "@clew/engine-core";
import { PART_GRACE_MS, removeUnnamedParts } from "./unnamed-parts.ts";

export interface PartSweeper {
  /** A session was deleted whose reports were in this folder of an agent. */
  deleted(folder: string): void;
  /** Resolves when none is looked for any more; what is left over stays for another time. */
  close(): Promise<void>;
}

/** So many at least, so that few sessions are not gone through for each. */
const FEWEST_DELETED = 50;

/**
 * All reports that are left are read then: that is done once for as many deleted sessions as there
 * are reports, so that a deleted one costs what reading one costs.
 */
export const isSweepDue = ({ deleted, left }: { deleted: number; left: number }): boolean =>
  deleted >= Math.max(FEWEST_DELETED, left);

export function createPartSweeper({
  log,
  graceMs = PART_GRACE_MS,
}: {
  log: Pick<LogPort, "warn">;
  /** Parts that are newer stay, ms. */
  graceMs?: number;
}): PartSweeper {
  const counts = new Map<string, number>();
  const ending = new AbortController();
  const { signal } = ending;
  let queue: Promise<void> = Promise.resolve();
  const look = async (folder: string, deleted: number) => {
    if (signal.aborted) return;
    const left = (await readdir(folder)).filter((name) => name.endsWith(".jsonl")).length;
    if (!isSweepDue({ deleted, left })) return;
    counts.set(folder, (counts.get(folder) ?? 0) - deleted);
    await removeUnnamedParts(folder, { olderThanMs: graceMs, signal });
  };
  return {
    deleted(folder) {
      const deleted = (counts.get(folder) ?? 0) + 1;
      counts.set(folder, deleted);
      // Counting what is left costs a little, too.
      if (deleted % FEWEST_DELETED !== 0) return;
      queue = queue
        .then(() => look(folder, deleted))
        .catch((error: Error) =>
          log.warn(`parts of reports that nobody names were not removed: ${error.message}`),
        );
    },
    async close() {
      ending.abort();
      await queue;
    },
  };
}
