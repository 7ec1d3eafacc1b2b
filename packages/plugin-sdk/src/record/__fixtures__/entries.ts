// Makes transcript entries of messages.
import type { AgentMessage } from "../../contract/message.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "../../transcript/entries.ts";

/** "e0", "e1", … */
export const entriesOf = (
  news: readonly (NewTranscriptEntry | AgentMessage)[],
): TranscriptEntry[] =>
  news.map((one, index) => ({
    ...("role" in one ? { type: "message" as const, message: one } : one),
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
  }));
