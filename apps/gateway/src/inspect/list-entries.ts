// Lists the entries of a branch with what became of them in one call.

import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageText } from "../reports/message-text.ts";
import { isMember } from "./boundaries.ts";
import { previewOf } from "./describe-items.ts";
import type { EntryFate } from "./fates.ts";
import type { EntryRow } from "./shapes.ts";
import { messageOf } from "./stored-message.ts";

/** A fate or a mark by name, or the id of a summary; undefined = any. */
export type WantedFate = string | undefined;

export const FATE_NAMES = ["shown", "summary", "cleared", "left-out", "shortened", "changed"];

/** Pure. */
export function hasFate({ fate, marks }: EntryFate, wanted: WantedFate): boolean {
  if (wanted === undefined || fate.kind === wanted) return true;
  return (
    (fate.kind === "summary" && fate.summaryId === wanted) ||
    marks.some(({ kind }) => kind === wanted)
  );
}

/** What a row tells of a stored entry, whatever became of it. */
export function describeEntry(
  entry: TranscriptEntry,
  number: number,
): Omit<EntryRow, "fate" | "marks"> {
  const message = messageOf(entry)!;
  const { timestamp } = message;
  const at = typeof timestamp === "number" ? new Date(timestamp) : new Date(entry.timestamp);
  return {
    ...{ number, entryId: entry.id, role: message.role },
    at: Number.isNaN(at.getTime()) ? null : at.toISOString(),
    ...previewOf(messageText(message)),
    tokens: Math.ceil(estimateMessage(message).estimate),
  };
}

/** At most `limit` rows behind number `after`; texts are read of these only. */
export function listEntries(
  path: readonly TranscriptEntry[],
  fates: readonly EntryFate[],
  { fate, after = 0, limit }: { fate?: WantedFate; after?: number; limit: number },
): { entries: EntryRow[]; next: number | null } {
  const members = path.filter(isMember);
  const entries: EntryRow[] = [];
  for (let number = after + 1; number <= members.length; number++) {
    const known = fates[number - 1]!;
    if (!hasFate(known, fate)) continue;
    if (entries.length === limit) return { entries, next: entries.at(-1)!.number };
    const row = describeEntry(members[number - 1]!, number);
    entries.push({ ...row, fate: known.fate, marks: [...known.marks] });
  }
  return { entries, next: null };
}
