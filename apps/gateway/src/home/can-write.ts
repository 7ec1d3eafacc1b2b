// Finds out whether the home can be written, by a small file that is written and removed.
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { storageAdvice, storageReason } from "../storage-reason.ts";
import { TO_REPLACE } from "./no-links.ts";

/** Whoever asks meanwhile is told the same, so nobody makes a disk busy by asking. */
const KNOWN_FOR_MS = 2000;
/** A slow disk is none that cannot be written: what was found last is told instead. */
const PATIENCE_MS = 500;
/** Of a disk that takes a few bytes more no message could be stored. */
const BYTES = 64 * 1024;

export interface HomeWrites {
  /** Undefined: it can be written. Else why not, in one sentence that says what to do. */
  whyNot(): Promise<string | undefined>;
}

export function createHomeWrites(home: string, now = () => performance.now()): HomeWrites {
  let last: { why: string | undefined; at: number } | undefined;
  let running: Promise<void> | undefined;
  const look = async () => {
    const why = await written(home);
    last = { why, at: now() };
    running = undefined;
  };
  return {
    async whyNot() {
      if (last !== undefined && now() - last.at < KNOWN_FOR_MS) return last.why;
      running ??= look();
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(patience.resolve, PATIENCE_MS).unref();
      await Promise.race([running, patience.promise]);
      clearTimeout(timer);
      return last?.why;
    },
  };
}

/** Removed each time: to overwrite what is there takes no room. */
async function written(home: string): Promise<string | undefined> {
  const file = join(home, ".can-write");
  try {
    const handle = await open(file, TO_REPLACE, 0o600);
    try {
      await handle.writeFile(new Uint8Array(BYTES));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    return undefined;
  } catch (error) {
    return `The home cannot be written: ${storageReason(error)}; ${storageAdvice(error)}.`;
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}
