// Refuses settings without the place where a database has large bodies.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Database, Statement } from "../database.ts";

const IS_NEEDED: Statement<{ is_needed: boolean }> = {
  name: "blob-needed",
  text: `
    select exists (select 1 from entry where blob is not null)
      or exists (select 1 from part where blob is not null) as is_needed`,
};

/** Throws STORAGE_FAILED where something is there that could not be read. */
export async function requirePlace(database: Database): Promise<void> {
  if (database.blobs !== undefined) return;
  const [row] = await database.ask(IS_NEEDED, []);
  if (row?.is_needed !== true) return;
  throw new ContextEngineError(
    "STORAGE_FAILED",
    "The database has large bodies in a blob storage that these settings do not name; set storage.blobs as the gateway has it that stored them.",
  );
}
