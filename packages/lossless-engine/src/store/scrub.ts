// Writes the database anew, so that no page of it holds words that were forgotten.
import { sleep } from "@clew/plugin-sdk/host";
import { othersTurn } from "../turns.ts";
import { storageError } from "./failure.ts";
import { isMarkedStale, markStale } from "./forgetting.ts";
import { mergeAll } from "./search-index.ts";
import type { Store } from "./store.ts";

/** True: something was forgotten or let go, and the file was not written anew since. */
export const isStale = (store: Store): boolean => store.read(isMarkedStale);

/**
 * Merges the words until those of messages that went are left out, or `performance.now()` is at
 * `end`; true: they are all out.
 */
export async function mergeWords(
  store: Store,
  { end, signal }: { end: number; signal?: AbortSignal | undefined },
): Promise<boolean> {
  for (let isFirst = true; performance.now() < end; isFirst = false) {
    if (store.change((sql) => mergeAll(sql, isFirst))) return true;
    await othersTurn();
    signal?.throwIfAborted();
  }
  return false;
}

/**
 * Merges the words until those of forgotten messages are left out, writes all pages anew and
 * empties the journal. Throws where another process has the database open.
 */
export async function scrub(store: Store): Promise<void> {
  await mergeWords(store, { end: Infinity });
  store.rewrite();
  if (!(await isJournalEmptied(store)))
    throw storageError(
      `The lossless engine forgot what was asked, and could not empty the journal of ${store.path}: another process reads it; stop that one and run clew lossless forget --resume.`,
    );
  store.change((sql) => markStale(sql, false));
}

/** Between two looks, ms: an audit, or a copy that is made, is over soon. */
const PAUSES_MS: readonly number[] = [50, 100, 200, 400, 800, 1_600, 3_200];

async function isJournalEmptied(store: Store): Promise<boolean> {
  for (const pauseMs of PAUSES_MS) {
    if (store.emptyJournal()) return true;
    await sleep(pauseMs);
  }
  return store.emptyJournal();
}
