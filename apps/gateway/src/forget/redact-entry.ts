// What a line of a session file says once its words are forgotten.
import { placeholderOf } from "@clew/lossless-engine/store";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";

const FORGOTTEN = "(This was forgotten, as somebody asked.)";
/** What tells where an entry stands and what kind it is; all other texts go. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...["type", "id", "parentId", "timestamp", "customType", "fromId", "targetId"],
  ...["firstKeptEntryId", "provider", "modelId", "thinkingLevel", "__openclaw", "__clew"],
]);

/** Pure. The entry in its place, with the tool calls that others answer; of its words none. */
export function redactEntry(entry: TranscriptEntry): TranscriptEntry {
  if (entry.type === "message")
    return { ...entry, message: placeholderOf(entry.message, "forgotten") };
  const fields = Object.entries(entry).flatMap(([key, value]): [string, unknown][] => {
    if (STRUCTURE.has(key) || typeof value === "number" || typeof value === "boolean")
      return [[key, value]];
    return key === "summary" || key === "content" ? [[key, FORGOTTEN]] : [];
  });
  return Object.fromEntries(fields) as unknown as TranscriptEntry;
}
