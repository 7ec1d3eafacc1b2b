// Decides what becomes of a call when the database cannot be used.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { sleep } from "@clew/plugin-sdk/host";
import { isBusy } from "./store/failure.ts";

/** Between two tries, ms: others of this process go on meanwhile. */
const PAUSES_MS: readonly number[] = [20, 50, 100, 200, 400, 800];

/** What `work` answers, asked again while another process writes; throws what it throws then. */
export async function patiently<Answer>(
  work: () => Answer,
  signal?: AbortSignal | undefined,
): Promise<Answer> {
  for (const pauseMs of PAUSES_MS) {
    signal?.throwIfAborted();
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      await sleep(pauseMs, signal);
    }
  }
  return work();
}

/**
 * For what a view is shown without: a database that cannot be written keeps nobody from answering.
 * Whoever tells of messages is told of it.
 */
export async function asFarAsPossible(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!ContextEngineError.is(error, "STORAGE_FAILED")) throw error;
  }
}
