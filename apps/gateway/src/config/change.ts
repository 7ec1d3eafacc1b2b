// Lets one at a time change the configuration file, across processes.
import { realpath } from "node:fs/promises";
import { underLock } from "../locks/wait-for-lock.ts";

/**
 * `work` reads, changes and writes the file, and waits for nothing else: what others wrote before
 * is in what it reads. Throws STORAGE_FAILED.
 */
export async function changingConfig<Result>(
  file: string,
  work: () => Promise<Result>,
): Promise<Result> {
  // Whoever comes by a link and whoever comes by the file itself wait for each other.
  const path = await realpath(file).catch(() => file);
  return underLock({ file: `${path}.lock`, what: `The configuration ${file}` }, work);
}
