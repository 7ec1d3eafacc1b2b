// Decides which messages a memory flush sees, and puts them in a transcript of their own.
import type { HostSession, TranscriptPort } from "@clew/engine-core";
import { partOfBranch } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  buildContext,
  headOf,
  type NewTranscriptEntry,
  otherSessionOf,
  placeEntry,
  quotedTextOf,
  speakerOf,
  type TranscriptEntry,
  tailOf,
} from "@clew/plugin-sdk/transcript";
import type { CompactableSession } from "../../../sessions/open.ts";
import { namedBy } from "./flush-marks.ts";

/** What a flush sees. */
export interface FlushView {
  readonly messages: readonly AgentMessage[];
  /** Names the entry of the newest one, as marks do; null = there is none. */
  readonly upTo: string | null;
}

/**
 * Pure. Of what none has seen the oldest that fit, also those that a compaction took: the rest is
 * the next one's. The first one is shown in part where it alone has no room.
 */
export function planFlushView(
  unseen: readonly TranscriptEntry[],
  { limitTokens }: { limitTokens: number },
): FlushView {
  const said = unseen.filter(({ type }) => type !== "compaction");
  const messages: AgentMessage[] = [];
  let [tokens, newest]: [number, string | null] = [0, null];
  for (const { entryId, message } of buildContext(said).items) {
    tokens += estimateMessage(message).estimate;
    if (tokens > limitTokens && messages.length > 0) break;
    messages.push(tokens > limitTokens ? inPart(message, limitTokens) : message);
    newest = entryId;
  }
  const entry = said.find(({ id }) => id === newest);
  return { messages, upTo: entry === undefined ? null : namedBy(entry) };
}

/** Beginning and end, as a text of whoever said it. */
function inPart(message: AgentMessage, tokens: number): AgentMessage {
  const text = quotedTextOf(message);
  const chars = Math.max(1, tokens);
  const shown = `${headOf(text, chars)}\n…\n${tailOf(text, chars)}`;
  const who = otherSessionOf(message) === undefined ? message.role : speakerOf(message);
  // What marks a message as another session's is not to be lost by a cut.
  const provenance = message.role === "user" ? message.provenance : undefined;
  return {
    ...{ role: "user", content: `(${who}, in part) ${shown}` },
    ...(provenance !== undefined && { provenance }),
  };
}

/** In memory only; nothing of it comes into the session (compaction spec §3.5). */
export function detachedSession(
  { sessionFile: _, ...session }: HostSession,
  messages: readonly AgentMessage[],
): CompactableSession {
  let next = 0;
  let branch: readonly TranscriptEntry[] = [];
  const nextId = () => `flush-${next++}`;
  const add = (entries: readonly NewTranscriptEntry[]) => {
    const placed: TranscriptEntry[] = [];
    for (const entry of entries) {
      const parentId = placed.at(-1)?.id ?? branch.at(-1)?.id ?? null;
      const timestamp = new Date().toISOString();
      placed.push(placeEntry(entry, { id: nextId(), parentId, timestamp }));
    }
    branch = [...branch, ...placed];
    return placed;
  };
  add(messages.map((message) => ({ type: "message", message })));
  const append: TranscriptPort["append"] = async (entries) => add(entries);
  return {
    ...{ session, append },
    exists: () => false,
    read: async (part) => partOfBranch(branch, part),
    rewrite: async () => ({
      ...{ changed: false, bytesFreed: 0, rewrittenEntries: 0 },
      reason: "nothing of a memory flush is kept",
    }),
    compaction: {
      ledger: { read: () => undefined, write: () => {} },
      ...{ branch: () => branch, append, nextId },
      graft: () => Promise.reject(new Error("nothing of a memory flush is kept")),
    },
  };
}
