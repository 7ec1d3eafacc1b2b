// What a line of a session file says once its words are forgotten.
import { placeholderOf } from "@clew/lossless-engine/store";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { FORGOTTEN } from "../text/forgotten.ts";

/** What tells where an entry stands and what kind it is; all other texts go. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...["type", "id", "parentId", "timestamp", "customType", "fromId", "targetId"],
  ...["firstKeptEntryId", "provider", "modelId", "thinkingLevel", "__openclaw", "__clew"],
]);

/** All values that go with the words, message aside. */
export const fieldsGone = (entry: TranscriptEntry): unknown[] =>
  Object.entries(entry).flatMap(([key, value]) =>
    STRUCTURE.has(key) || key === "message" ? [] : [value],
  );

/** Pure. The entry in its place, with the tool calls that others answer; of its words none. */
export function redactEntry(entry: TranscriptEntry): TranscriptEntry {
  const fields = Object.entries(entry).flatMap(([key, value]): [string, unknown][] => {
    if (entry.type === "message" && key === "message")
      return [[key, placeholderOf(entry.message, "forgotten")]];
    if (STRUCTURE.has(key) || typeof value === "number" || typeof value === "boolean")
      return [[key, value]];
    return key === "summary" || key === "content" ? [[key, FORGOTTEN]] : [];
  });
  return Object.fromEntries(fields) as unknown as TranscriptEntry;
}
