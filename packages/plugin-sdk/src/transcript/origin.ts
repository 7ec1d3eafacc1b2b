// Which entry first said what an entry says, however often it was appended again.
import { type Steps, stepsAtOnce } from "../slices.ts";
import { type NewTranscriptEntry, ORIGIN, type TranscriptEntry } from "./entries.ts";
import { messageId, withMessageId } from "./message-id.ts";

/** Where an entry stands. */
export type EntryPlace = Pick<TranscriptEntry, "id" | "parentId" | "timestamp">;

/**
 * The entry in its place, as every store appends it: a message that has no id yet gets the entry's.
 */
export function placeEntry(entry: NewTranscriptEntry, place: EntryPlace): TranscriptEntry {
  const placed: TranscriptEntry = { ...entry, ...place };
  return placed.type === "message" ? withOrigin(placed, claimedBy(placed)) : placed;
}

/**
 * Ids of what the entries of a whole branch say, by entry id: the entry that first said it. Whoever
 * appends entries again keeps these by `withOrigin`.
 */
export const originsOf = (branch: readonly TranscriptEntry[]): ReadonlyMap<string, string> =>
  stepsAtOnce(originSteps(branch));

/** The same in steps, for a branch that takes long. */
export function* originSteps(
  branch: readonly TranscriptEntry[],
): Steps<ReadonlyMap<string, string>> {
  const taken = new Set<string>();
  const origins = new Map<string, string>();
  for (const entry of branch) {
    yield;
    origins.set(entry.id, claimOrigin(entry, taken));
  }
  return origins;
}

/** The entry as what `origin` first said; the very entry when it says so already. */
export function withOrigin<Entry extends TranscriptEntry>(entry: Entry, origin: string): Entry {
  if (entry.type === "message") {
    const message = withMessageId(entry.message, origin);
    if (message === entry.message) return entry;
    return { ...entry, message, ...(entry[ORIGIN] !== undefined && { [ORIGIN]: origin }) };
  }
  return claimedBy(entry) === origin
    ? entry
    : { ...entry, __openclaw: { ...entry.__openclaw, id: origin } };
}

/**
 * The origin of each entry, in order; of two that claim the same one the later falls back to
 * itself. Those of entries that hold a message are added to `taken`.
 */
export function claimOrigins(
  entries: readonly TranscriptEntry[],
  taken: Set<string>,
): readonly string[] {
  return entries.map((entry) => claimOrigin(entry, taken));
}

function claimOrigin(entry: TranscriptEntry, taken: Set<string>): string {
  const claimed = claimedBy(entry);
  if (!holdsMessage(entry)) return claimed;
  let origin = taken.has(claimed) ? entry.id : claimed;
  // Only a file written to mislead has an entry whose own id an earlier one claims.
  while (taken.has(origin)) origin += "~";
  taken.add(origin);
  return origin;
}

function claimedBy(entry: TranscriptEntry): string {
  if (entry[ORIGIN] !== undefined) return entry[ORIGIN];
  if (entry.type === "message") return messageId(entry.message) ?? entry.id;
  const id: unknown = entry.__openclaw?.id;
  return typeof id === "string" && id !== "" ? id : entry.id;
}

const MESSAGE_KINDS: ReadonlySet<TranscriptEntry["type"]> = new Set([
  "message",
  "custom_message",
  "branch_summary",
  "compaction",
]);
const holdsMessage = ({ type }: TranscriptEntry) => MESSAGE_KINDS.has(type);
