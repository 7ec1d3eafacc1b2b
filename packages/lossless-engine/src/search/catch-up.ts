// Lets the search indexes catch up with the messages, a piece at a time.
import { patiently } from "../patiently.ts";
import { backlogOf, indexMore } from "../store/search-index.ts";
import type { Store } from "../store/store.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";

/** Messages that come together are indexed in half the time that they take one by one. */
const WORTH_INDEXING = 64;

/** Until no message is left. */
export async function catchUp(store: Store, signal?: AbortSignal | undefined): Promise<void> {
  while (!(await patiently(() => indexMore(store, pieceOfTime()), signal))) await othersTurn();
}

/**
 * One piece, where it is worth while: a turn waits no longer than that for the indexes, and brings
 * fewer messages than a piece takes in.
 */
export async function catchUpAPiece(store: Store): Promise<void> {
  if (backlogOf(store) >= WORTH_INDEXING) await patiently(() => indexMore(store, pieceOfTime()));
}
