// Lets the search indexes catch up with the messages, a piece at a time.
import { patiently } from "../patiently.ts";
import { backlogOf, indexMore } from "../store/search-index.ts";
import type { Store } from "../store/store.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";

/** Many messages are indexed in half the time that they take one by one. */
const WORTH_INDEXING = 256;

/** Until no message is left. */
export async function catchUp(store: Store, signal?: AbortSignal | undefined): Promise<void> {
  while (!(await patiently(() => indexMore(store, pieceOfTime()), signal))) await othersTurn();
}

/** Where so many have come together that it is worth while. */
export async function catchUpWhereWorthWhile(store: Store): Promise<void> {
  if (backlogOf(store) >= WORTH_INDEXING) await catchUp(store);
}
