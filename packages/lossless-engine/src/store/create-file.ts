// Creates files that only their owner reads.
import { closeSync, openSync } from "node:fs";

/** Empty; what SQLite puts beside it has the same rights. One that is there stays as it is. */
export const createFile = (path: string): void => closeSync(openSync(path, "a", 0o600));
