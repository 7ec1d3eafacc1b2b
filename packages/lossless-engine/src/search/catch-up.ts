// Lets the search indexes catch up with the messages, a piece at a time.
import { asFarAsPossible, patiently } from "../patiently.ts";
import { indexMore, isBehind } from "../store/search-index.ts";
import type { Store } from "../store/store.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";

/** Messages that come together are indexed in half the time that they take one by one. */
const WORTH_INDEXING = 128;
/** So many are missing only where the host lets nothing happen in the background. */
const OVERDUE = 256;

/** Pieces whose journal is moved to its place at once. */
const PIECES_UNSETTLED = 4;

/** Until no message is left, or `isOver` says so before a piece. */
export async function catchUp(
  store: Store,
  signal?: AbortSignal | undefined,
  isOver = () => false,
): Promise<void> {
  for (let pieces = 1; !isOver(); pieces++) {
    if (await patiently(() => indexMore(store, pieceOfTime()), signal)) return;
    await othersTurn();
    if (pieces % PIECES_UNSETTLED === 0) await settle(store);
  }
}

/**
 * Until none is left, once there are so many that it is worth while: searches need no more.
 * `boundMs`: absent = however long it takes; else the rest is left to a later time.
 */
export async function catchUpInBackground(
  store: Store,
  {
    boundMs = Infinity,
    signal,
  }: { boundMs?: number | undefined; signal?: AbortSignal | undefined },
): Promise<void> {
  if (!(await patiently(() => isBehind(store, WORTH_INDEXING), signal))) return;
  const end = performance.now() + boundMs;
  await catchUp(store, signal, () => performance.now() >= end);
  await othersTurn();
  await settle(store);
}

async function settle(store: Store): Promise<void> {
  await asFarAsPossible(async () => store.settle());
  await othersTurn();
}

/** One piece, where nothing else would: no turn waits longer than that for the indexes. */
export async function catchUpAPiece(store: Store): Promise<void> {
  if (isBehind(store, OVERDUE)) await patiently(() => indexMore(store, pieceOfTime()));
}
