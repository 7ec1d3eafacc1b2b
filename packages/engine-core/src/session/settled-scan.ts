// Finds where a branch begins that an engine has not acknowledged whole.
import { roleIn, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { KnownDeliveries } from "./delivery-ledger.ts";
import { toldId } from "./told-messages.ts";

/** Where the last look at a branch can be taken up: everything before was acknowledged. */
export interface PendingScan {
  /** Leading entries that need no second look. */
  settled: number;
  /** Id of the last of them. */
  lastId: string | undefined;
  /** Messages among them. */
  messages: number;
}

export const FRESH_SCAN: PendingScan = { settled: 0, lastId: undefined, messages: 0 };

/**
 * Where a search for pending turns can begin that knows nothing of the branch yet: at the turn of
 * the first message that was not acknowledged, or at the newest turn. Of a branch whose entries say
 * who they are it reads next to nothing.
 */
export function settledScan(
  branch: readonly TranscriptEntry[],
  { acknowledged }: Pick<KnownDeliveries, "acknowledged">,
): PendingScan {
  const fresh = branch.findIndex((entry) => {
    const id = toldId(entry);
    return id !== undefined && !acknowledged.has(id);
  });
  const settled = turnAround(branch, fresh < 0 ? branch.length - 1 : fresh);
  let messages = 0;
  for (let index = 0; index < settled; index++)
    if (toldId(branch[index]!) !== undefined) messages++;
  return { settled, lastId: branch[settled - 1]?.id, messages };
}

/** Where the turn begins that `index` belongs to, with the notes that came before it. */
function turnAround(branch: readonly TranscriptEntry[], index: number): number {
  let start = index;
  while (start > 0 && roleIn(branch[start]) !== "user") start--;
  while (start > 0 && branch[start - 1]!.type !== "message") start--;
  return Math.max(0, start);
}
