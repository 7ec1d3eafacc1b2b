// Waits for a lock that others hold for a moment only, and says what a locked file means.
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ContextEngineError, type ErrorCode } from "@clew/plugin-sdk/core";
import { storageFailed } from "../storage-error.ts";
import { acquireLock, type Lock } from "./lock.ts";

const ATTEMPTS = 500;
const PAUSE_MS = 10;

/** A lock, and what it is for. */
export interface LockedPlace {
  /** The lock's own file. */
  file: string;
  /** What is locked, as people know it: "The configuration /home/me/.clew/clew.json". */
  what: string;
  /** What it is when nobody lets go. Absent: STORAGE_FAILED. */
  code?: ErrorCode;
}

/** Throws STORAGE_FAILED, and the place's code when nobody lets go. */
async function waitForLock({ file, what, code }: LockedPlace): Promise<Lock> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const outcome = await acquireLock(file);
      if (outcome.held) return outcome.lock;
      await setTimeout(PAUSE_MS);
    }
  } catch (error) {
    throw storageFailed(`${what} could not be written`, error);
  }
  throw new ContextEngineError(
    code ?? "STORAGE_FAILED",
    `${what} stayed locked by ${file}; delete that file if no other Clew is running.`,
  );
}

/** Does `work` while nobody else does anything under the same lock; `work` must not wait for it. */
export async function underLock<Result>(
  place: LockedPlace,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await waitForLock(place);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
