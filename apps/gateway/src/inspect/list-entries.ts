// Lists the entries of a branch with what became of them in one call.
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageText } from "../reports/message-text.ts";
import { previewOf } from "./describe-items.ts";
import type { OpenedCall } from "./opened-call.ts";
import type { EntryPage, EntryRow, EntryText } from "./shapes/entries.ts";
import { messageOf } from "./stored-message.ts";

export interface EntriesWanted {
  /** A fate or a mark by name, or the id of a summary. Absent: any. */
  fate?: string;
  /** Absent: from the first on. */
  after?: number;
  /** Absent: none. */
  skip?: number;
  limit: number;
}

export const FATE_NAMES = [
  "shown",
  "summary",
  "cleared",
  "left-out",
  "unseen",
  "shortened",
  "changed",
];

/** The scale of a session in which no model was called. */
export const AS_ESTIMATED: Pick<OpenedCall, "tokensOf"> = {
  tokensOf: (_entryId, estimate) => estimate,
};

/** What a row tells of a stored entry, whatever became of it in the call that counts it. */
export function describeEntry(
  { tokensOf }: Pick<OpenedCall, "tokensOf">,
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
    tokens: tokensOf(entry.id, Math.ceil(estimateMessage(message).estimate)),
  };
}

/**
 * At most `limit` rows behind number `after`, without the first `skip` that match; texts are read
 * of these only. `matching` counts all with the fate, wherever they stand.
 */
export function listEntries(
  opened: OpenedCall,
  { fate, after = 0, skip = 0, limit }: EntriesWanted,
): Pick<EntryPage, "entries" | "matching" | "next"> {
  const members = opened.members();
  const numbers = fate === undefined ? undefined : opened.numbersWith(fate);
  const matching = numbers?.length ?? members.length;
  const passed = numbers?.findIndex((number) => number > after) ?? Math.min(after, matching);
  const first = (passed < 0 ? matching : passed) + skip;
  const end = Math.min(matching, first + limit);
  const entries: EntryRow[] = [];
  for (let place = first; place < end; place++) {
    const number = numbers?.[place] ?? place + 1;
    entries.push(describeFated(opened, members[number - 1]!, number));
  }
  return { entries, matching, next: end >= matching ? null : entries.at(-1)!.number };
}

const numbered = ({ members }: OpenedCall, name: string): TranscriptEntry | undefined =>
  /^[1-9]\d*$/.test(name) ? members()[Number(name) - 1] : undefined;

/** `name`: its id, or its number. Null: the call's branch has no such entry. */
export function findEntry(
  opened: OpenedCall,
  name: string,
): Pick<EntryText, "entry" | "text" | "sentAt"> | null {
  const found = opened.find(name) ?? numbered(opened, name);
  const number = opened.numberOf(found?.id ?? "");
  if (found === undefined || number === undefined) return null;
  const entryId = found.id;
  const entry = describeFated(opened, found, number);
  const at = opened.messages.findIndex(
    ({ source }) => source.kind === "entry" && source.entryId === entryId,
  );
  return { entry, text: messageText(messageOf(found)!), sentAt: at < 0 ? null : at };
}

function describeFated(opened: OpenedCall, entry: TranscriptEntry, number: number): EntryRow {
  const { fate, marks } = opened.fateOf(entry.id)!;
  return { ...describeEntry(opened, entry, number), fate, marks: [...marks] };
}
