// The smallest ports that a store can be opened with, for its own tests.
import type { TranscriptRewriteRequest } from "@clew/plugin-sdk/core";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { DeliveryLine, RewritePlan, StorePorts } from "../ports.ts";

/** A ledger that keeps its lines as they come. */
export interface ListLedger {
  lines: DeliveryLine[];
  take(lines: readonly DeliveryLine[]): void;
}

/** Rewrites replace every message that is named. */
export const SIMPLE_PORTS: StorePorts<ListLedger> = {
  createLedger({ earlier }) {
    const lines = [...earlier];
    return { lines, take: (more) => void lines.push(...more) };
  },
  planRewrite,
};

function planRewrite({
  branch,
  request: { replacements },
  nextId,
}: {
  branch: readonly TranscriptEntry[];
  request: TranscriptRewriteRequest;
  nextId(): string;
}): RewritePlan {
  const wanted = new Map(replacements.map(({ entryId, message }) => [entryId, message]));
  const kept = branch.findIndex(({ id }) => wanted.has(id));
  const remapped = new Map(branch.slice(kept).map(({ id }) => [id, nextId()]));
  const entries = branch.slice(kept).map((entry) => ({
    ...entry,
    id: remapped.get(entry.id),
    parentId: remapped.get(entry.parentId ?? "") ?? entry.parentId,
    ...(wanted.has(entry.id) && { message: wanted.get(entry.id) }),
  })) as TranscriptEntry[];
  const result = { changed: true, bytesFreed: 0, rewrittenEntries: wanted.size };
  return { kind: "append", kept, entries, remapped, result };
}

export const said = (content: string): NewTranscriptEntry => ({
  type: "message",
  message: { role: "user", content },
});

/** The texts of messages, in one line. */
export const textsOf = (entries: readonly TranscriptEntry[] | null): string =>
  (entries ?? [])
    .map((entry) =>
      entry.type === "message" && "content" in entry.message ? entry.message.content : "",
    )
    .join(" ");

/** What a message says, for the search index. */
export function wordsOfLine(line: string): string | null {
  const entry = JSON.parse(line) as TranscriptEntry;
  return entry.type === "message" && "content" in entry.message
    ? String(entry.message.content)
    : null;
}
