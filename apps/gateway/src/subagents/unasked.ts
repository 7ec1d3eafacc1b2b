// Bounds how long sessions talk to each other without anybody asking.

import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { otherSessionOf } from "@clew/plugin-sdk/transcript";

/** Messages of other sessions in one session, since somebody else spoke in it. */
const MOST_UNASKED = 50;

/** True: one more would be too many. */
export function tooManyUnasked(branch: readonly TranscriptEntry[]): boolean {
  let count = 0;
  for (const entry of branch.toReversed()) {
    if (entry.type !== "message" || entry.message.role !== "user") continue;
    if (otherSessionOf(entry.message) === undefined) return false;
    count++;
    if (count >= MOST_UNASKED) return true;
  }
  return false;
}
