// Knows an entry again that was stored anew on another branch.
import { messageId } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** The id of the entry that first said what this one says. */
export function originOf(entry: TranscriptEntry): string {
  const told =
    entry.type === "message"
      ? messageId(entry.message)
      : originIn(entry as { __openclaw?: unknown });
  return told ?? entry.id;
}

function originIn({ __openclaw }: { __openclaw?: unknown }): string | undefined {
  const { id } = (__openclaw ?? {}) as { id?: unknown };
  return typeof id === "string" ? id : undefined;
}
