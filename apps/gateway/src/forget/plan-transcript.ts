// Decides which entries of a session file go when something is to be forgotten.
import { isMatched, isMessageMatched, type Matcher } from "@clew/lossless-engine/store";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { blocksOf, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { toJson } from "../own-json.ts";
import { fieldsGone, redactEntry } from "./redact-entry.ts";

/** What is looked for in session files. */
export interface Wanted {
  /** Ids of messages, with who said each and when. */
  readonly messages: ReadonlyMap<string, { role: string; time: number | null }>;
  /** Whatever holds this text. Null: only messages are looked for. */
  readonly text: Matcher | null;
}

/**
 * Pure. Ids of entries: those that are wanted, the calls and results that stand with them, and the
 * summaries that were made after one of them.
 */
export function planTranscript(entries: readonly TranscriptEntry[], wanted: Wanted): string[] {
  const isAsked = (entry: TranscriptEntry) => isWanted(entry, wanted) && !isRedacted(entry);
  const chosen = new Set(entries.filter(isAsked).map(({ id }) => id));
  if (chosen.size === 0) return [];
  for (const id of pairsOf(entries, chosen)) chosen.add(id);
  const first = entries.findIndex(({ id }) => chosen.has(id));
  for (const entry of entries.slice(first))
    if (entry.type === "compaction" || entry.type === "branch_summary") chosen.add(entry.id);
  return entries.flatMap((entry) => (chosen.has(entry.id) && !isRedacted(entry) ? [entry.id] : []));
}

function isWanted(entry: TranscriptEntry, { messages, text }: Wanted): boolean {
  if (text !== null && isWantedText(entry, text)) return true;
  if (entry.type !== "message") return false;
  const known = messages.get(messageId(entry.message) ?? entry.id);
  return (
    known !== undefined &&
    known.role === entry.message.role &&
    (known.time === null || known.time === entry.message.timestamp)
  );
}

/** As in the database, where it is a message there. */
const isWantedText = (entry: TranscriptEntry, text: Matcher): boolean =>
  isMatched(fieldsGone(entry), text) ||
  (entry.type === "message" && isMessageMatched(entry.message, text));

/** True: its words are gone already. */
const isRedacted = (entry: TranscriptEntry): boolean =>
  toJson(redactEntry(entry)) === toJson(entry);

/** In the order of the file: a call stands before its results, and ids may recur later. */
function pairsOf(entries: readonly TranscriptEntry[], chosen: ReadonlySet<string>): string[] {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult") open.get(message.toolCallId)?.push(entry.id);
    const group = [entry.id];
    const calls = callsOf(message);
    if (calls.length > 0) groups.push(group);
    for (const id of calls) open.set(id, group);
  }
  return groups.filter((group) => group.some((id) => chosen.has(id))).flat();
}

const callsOf = (message: AgentMessage): string[] =>
  message.role === "assistant"
    ? blocksOf(message.content).flatMap((block) =>
        block.type === "toolCall" ? [String(block.id)] : [],
      )
    : [];
