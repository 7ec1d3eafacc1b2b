// Puts bodies that are kept elsewhere back into the rows that name them.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Database } from "../database.ts";
import { inParallel } from "./in-parallel.ts";
import { sha256 } from "./put-bodies.ts";

/** A row as it is stored. */
export interface BodyRow {
  body: string;
  /** SHA-256 of its body, which is elsewhere; null: it is here. */
  blob: string | null;
}

const AT_ONCE = 8;

/**
 * The same rows where all bodies are in them. Throws STORAGE_FAILED for one that cannot be had, or
 * is another one by now.
 */
export async function wholeBodies<Row extends BodyRow>(
  database: Database,
  agentId: string,
  rows: Row[],
): Promise<Row[]> {
  if (rows.every(({ blob }) => blob === null)) return rows;
  const whole = [...rows];
  await inParallel(rows, AT_ONCE, async (row, index) => {
    if (row.blob !== null)
      whole[index] = { ...row, body: await bodyOf(database, agentId, row.blob), blob: null };
  });
  return whole;
}

async function bodyOf(database: Database, agentId: string, hash: string): Promise<string> {
  const { blobs } = database;
  const what = `Object ${hash} of agent ${agentId}, a large part of a session,`;
  if (blobs === undefined)
    throw failed(
      `${what} is in a blob storage that these settings do not name; set storage.blobs as the gateway has it that stored it.`,
    );
  const { place } = blobs.port;
  const bytes = await blobs.port.get({ agentId, hash });
  if (bytes === null)
    throw lost(
      `${what} is not in ${place} any more; restore it from the versions or a backup of it, or name the place that has it in storage.blobs.`,
    );
  if ((await sha256(bytes)) !== hash)
    throw lost(
      `${what} is damaged in ${place}: its bytes are not those that were put there; restore it from the versions or a backup of it.`,
    );
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

const failed = (sentence: string, cause?: Error) =>
  new ContextEngineError("STORAGE_FAILED", sentence, { cause });

const LOST = "LostBody";

const lost = (sentence: string) =>
  failed(sentence, Object.assign(new Error("the body is gone"), { name: LOST }));

/** True: a body is gone, or is another one; others of the same place can be had. */
export const isLostBody = (error: unknown): error is ContextEngineError =>
  error instanceof ContextEngineError && error.cause instanceof Error && error.cause.name === LOST;
