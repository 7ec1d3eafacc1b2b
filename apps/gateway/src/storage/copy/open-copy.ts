// Opens a database for a command that copies sessions into it or out of it.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Blobs, PostgresCopy } from "@clew/store-postgres";
import { VERSION } from "../../version.ts";
import { loadPostgres } from "../load-postgres.ts";
import { createKeptNotices } from "../postgres/kept-notices.ts";

/** Nobody is asked there: whoever wants a session that is copied now is told to come again. */
const NOBODY = "http://127.0.0.1:1";
const CONNECTIONS = 3;

/** Throws STORAGE_FAILED with what is wrong and what helps. */
export async function requireDatabase(
  url: string,
  { makesNothing = false }: { makesNothing?: boolean } = {},
): Promise<void> {
  const { checkPostgres } = await loadPostgres();
  const database = await checkPostgres({ url, connections: CONNECTIONS, makesNothing });
  if (!database.ok) throw new ContextEngineError("STORAGE_FAILED", database.problem);
}

export async function openCopy({
  url,
  blobs,
  place,
  warn,
  isRead = false,
}: {
  url: string;
  /** Where large bodies are. */
  blobs: ((clusterId: string) => Blobs) | undefined;
  /** Where only one does so at a time. */
  place: string;
  warn(text: string): void;
  /** True: nothing of it is changed. */
  isRead?: boolean;
}): Promise<PostgresCopy> {
  const { openPostgresCopy } = await loadPostgres();
  return openPostgresCopy({
    ...{ url, address: NOBODY, version: VERSION, place, blobs, isRead },
    onKeptInRows: createKeptNotices({ warn }).add,
  });
}
