// What people see of a session's entries (transcript policy R2b).
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { withoutDeepParts } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { projectMessageForDisplay } from "@clew/transcript-policy";

declare const shown: unique symbol;

/** An entry as a surface may show it; only this file makes one. */
export type ShownEntry = TranscriptEntry & { readonly [shown]: true };

/**
 * The newest `limit` entries a surface may show, oldest first; default: all of them. Work
 * grows with what is returned.
 */
export function shownEntries(
  branch: readonly TranscriptEntry[],
  limit: number = branch.length,
): ShownEntry[] {
  const shown: ShownEntry[] = [];
  for (let index = branch.length - 1; index >= 0 && shown.length < limit; index--) {
    const entry = shownEntry(branch[index]!);
    if (entry !== undefined) shown.push(entry);
  }
  return shown.reverse();
}

/** The very entry when nothing had to go; undefined when there is nothing to show. */
export function shownEntry(entry: TranscriptEntry): ShownEntry | undefined {
  // Where JSON is written by recursion, what is nested deeper could not be.
  return project(withoutDeepParts(entry)) as ShownEntry | undefined;
}

function project(entry: TranscriptEntry): TranscriptEntry | undefined {
  if (entry.type === "message") {
    const message = projectMessageForDisplay(entry.message);
    return message === entry.message
      ? entry
      : message === undefined
        ? undefined
        : { ...entry, message };
  }
  if (entry.type !== "custom_message") return entry;
  const { customType, content, display } = entry;
  const message: AgentMessage = {
    role: "custom",
    customType,
    content,
    ...(display !== undefined && { display }),
  };
  const shown = projectMessageForDisplay(message);
  if (shown === message) return entry;
  return shown?.role === "custom" ? { ...entry, content: shown.content } : undefined;
}
