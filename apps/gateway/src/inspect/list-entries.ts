// Lists the entries of a branch with what became of them in one call.

import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageText } from "../reports/message-text.ts";
import { isMember } from "./boundaries.ts";
import { previewOf } from "./describe-items.ts";
import type { EntryFate } from "./fates.ts";
import type { EntryPage, EntryRow, EntryText } from "./shapes.ts";
import { messageOf } from "./stored-message.ts";

/** A fate or a mark by name, or the id of a summary; undefined = any. */
export type WantedFate = string | undefined;

export interface EntriesWanted {
  fate?: WantedFate;
  /** Absent: from the first on. */
  after?: number;
  /** Absent: none. */
  skip?: number;
  limit: number;
}

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

/**
 * At most `limit` rows behind number `after`, without the first `skip` that match; texts are read
 * of these only. `matching` counts all with the fate, wherever they stand.
 */
export function listEntries(
  path: readonly TranscriptEntry[],
  fates: readonly EntryFate[],
  { fate, after = 0, skip = 0, limit }: EntriesWanted,
): Pick<EntryPage, "entries" | "matching" | "next"> {
  const members = path.filter(isMember);
  const numbers = fates.flatMap((each, index) => (hasFate(each, fate) ? [index + 1] : []));
  const behind = numbers.filter((number) => number > after).slice(skip);
  const entries = behind
    .slice(0, limit)
    .map((number) => describeFated(members[number - 1]!, number, fates[number - 1]!));
  const isLast = behind.length <= limit;
  return { entries, matching: numbers.length, next: isLast ? null : entries.at(-1)!.number };
}

/** Null: the call's branch has no such entry. */
export function findEntry(
  path: readonly TranscriptEntry[],
  fates: readonly EntryFate[],
  entryId: string,
): Pick<EntryText, "entry" | "text"> | null {
  const members = path.filter(isMember);
  const index = members.findIndex(({ id }) => id === entryId);
  const [found, fate] = [members[index], fates[index]];
  if (found === undefined || fate === undefined) return null;
  const entry = describeFated(found, index + 1, fate);
  return { entry, text: messageText(messageOf(found)!) };
}

const describeFated = (
  entry: TranscriptEntry,
  number: number,
  { fate, marks }: EntryFate,
): EntryRow => ({ ...describeEntry(entry, number), fate, marks: [...marks] });
