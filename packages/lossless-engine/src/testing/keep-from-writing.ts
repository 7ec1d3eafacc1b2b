// Lets a closed database be one that nobody can write, whoever asks.
import { mkdirSync, rmdirSync } from "node:fs";

/** Until the answer is called. SQLite can make no journal where something else has its name. */
export function keepFromWriting(database: string): () => void {
  const journal = `${database}-wal`;
  mkdirSync(journal);
  return () => rmdirSync(journal);
}
