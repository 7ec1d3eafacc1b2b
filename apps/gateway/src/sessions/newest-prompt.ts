// Finds the message that began the newest turn of a session.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** Undefined: there is none among these entries. */
export const newestPrompt = (entries: readonly TranscriptEntry[]): TranscriptEntry | undefined =>
  entries.findLast((entry) => entry.type === "message" && entry.message.role === "user");
