// Makes the folder of a database, and those around it.
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * For its owner alone. One by one: where nothing can be made, as below /proc, Node's own way of
 * making all of them never ends.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const around = dirname(path);
  if (around !== path) makeFolder(around);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
