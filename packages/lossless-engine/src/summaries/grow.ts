// Makes the summaries that are due in a conversation, one change at a time.

import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { patiently } from "../patiently.ts";
import { readMessages } from "../store/messages.ts";
import { roomFor } from "../store/room.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { coverageOfConversation, storeCondensed, storeLeaf } from "../store/summaries.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { READER } from "./facts.ts";
import { GRAPH_SIZES, type GraphSizes, planCondensation, planLeaf, type Waiting } from "./plan.ts";

/** How summaries are made. */
export interface GrowOptions {
  /** Absent: `GRAPH_SIZES`. */
  readonly sizes?: GraphSizes | undefined;
  /** How long it may take in all, ms. Absent: as long as it takes. */
  readonly boundMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Until nothing is due, or the time is up; true = nothing is. Others have their turn meanwhile, and
 * whatever is made is there at once.
 */
export async function growGraph(
  store: Store,
  conversation: number,
  { sizes = GRAPH_SIZES, boundMs = Infinity, signal }: GrowOptions = {},
): Promise<boolean> {
  const end = performance.now() + boundMs;
  for (;;) {
    const isOver = pieceOfTime();
    do {
      await roomFor(store, 0);
      if (!(await patiently(() => growOnce(store, conversation, sizes), signal))) return true;
      if (performance.now() >= end) return false;
    } while (!isOver());
    await othersTurn();
    signal?.throwIfAborted();
  }
}

/** One summary more; false = none is due, or somebody else is making it. */
function growOnce(store: Store, conversation: number, sizes: GraphSizes): boolean {
  const { frontier, upTo } = coverageOfConversation(store, conversation);
  const due = planCondensation(frontier, sizes);
  const created = Date.now();
  if (due !== null)
    return storeCondensed(store, {
      ...{ conversation, reader: READER, created },
      parts: frontier.slice(due.from, due.to),
    });
  const last = endOfLeaf(store, { conversation, after: upTo, sizes });
  if (last === undefined) return false;
  return storeLeaf(store, { conversation, after: upTo, last, reader: READER, created });
}

/** Read in small portions: a message may be of any length. */
const AT_ONCE = 32;

/** Number of the last message of the next leaf; undefined = none is due. */
function endOfLeaf(
  store: Store,
  { conversation, after, sizes }: { conversation: number; after: number; sizes: GraphSizes },
): number | undefined {
  const seqs: number[] = [];
  const waiting: Waiting[] = [];
  for (;;) {
    const from = (seqs.at(-1) ?? after) + 1;
    const more = readMessages(store, { conversation, from, limit: AT_ONCE });
    seqs.push(...more.map(({ seq }) => seq));
    waiting.push(...more.map(waitingOf));
    const size = planLeaf(waiting, sizes);
    if (size > 0) return seqs[size - 1];
    if (more.length < AT_ONCE) return undefined;
  }
}

const waitingOf = ({ message }: StoredMessage): Waiting => ({
  tokens: estimateMessage(message).estimate,
  isRequest: message.role === "user",
});
