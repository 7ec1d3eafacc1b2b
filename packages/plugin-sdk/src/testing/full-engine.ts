// A correct engine with every method of the contract, for the cases to judge.
import type { ContextEngine } from "../contract/engine.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { SessionRef } from "../contract/session.ts";
import { isAbort } from "../errors.ts";
import { extractiveSummary } from "../record/extractive-summary.ts";
import { estimateMessage, estimateMessages } from "../tokens/message.ts";
import { freshTail } from "../transcript/fresh-tail.ts";
import { messageId } from "../transcript/message-id.ts";

interface StoredSession {
  /** By their ids. */
  messages: Map<string, AgentMessage>;
  /** Names of what is on the branch that was seen last, and of what was told since. */
  active?: Set<string>;
  /** Ids of the messages the summary stands for. */
  covered: Set<string>;
  summary?: string;
}

/** What the engine keeps, as a disk would. */
export interface EngineStore {
  sessions: Map<string, StoredSession>;
  /** Advancement keys. */
  committed: Set<string>;
  prepared: Set<string>;
}

export const emptyStore = (): EngineStore => ({
  sessions: new Map(),
  committed: new Set(),
  prepared: new Set(),
});

/** What names a message for good; a host without ids may give keys. */
export const nameOf = (message: AgentMessage): string =>
  messageId(message) ?? message.idempotencyKey ?? JSON.stringify(message);

/** The session's record, made on first use. */
export function stored(store: EngineStore, { sessionId }: SessionRef): StoredSession {
  const known = store.sessions.get(sessionId) ?? { messages: new Map(), covered: new Set() };
  store.sessions.set(sessionId, known);
  return known;
}

/** How many of `messages` were new. */
export function record(session: StoredSession, messages: readonly AgentMessage[]): number {
  const fresh = messages.filter((message) => !session.messages.has(nameOf(message)));
  for (const message of fresh) session.messages.set(nameOf(message), structuredClone(message));
  for (const message of messages) session.active?.add(nameOf(message));
  return fresh.length;
}

export function createFullEngine(
  store: EngineStore,
  readTranscript: (file: string) => AgentMessage[],
): Required<ContextEngine> {
  const visible = (session: StoredSession, given: readonly AgentMessage[]) => {
    const history = given.length > 0 ? given : [...session.messages.values()];
    if (!isOnBranch(session, given)) return [...history];
    return history.filter((message) => !session.covered.has(nameOf(message)));
  };
  /**
   * Whether all that the summary stands for is in this history, not on a branch that was left, and
   * something after it.
   */
  const isOnBranch = ({ covered }: StoredSession, given: readonly AgentMessage[]) => {
    const names = given.map(nameOf);
    if (names.length === 0) return true;
    const known = new Set(names);
    return !covered.has(names.at(-1)!) && [...covered].every((name) => known.has(name));
  };
  return {
    info: {
      id: "full",
      name: "Full engine",
      version: "1.0.0",
      ownsCompaction: true,
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    bootstrap({ sessionFile, ...session }) {
      if (sessionFile === undefined)
        return { bootstrapped: false, reason: "this host keeps no session file to read" };
      const importedMessages = record(stored(store, session), readTranscript(sessionFile));
      return { bootstrapped: true, importedMessages };
    },
    maintain: () => ({ changed: false, bytesFreed: 0, rewrittenEntries: 0 }),
    ingest: ({ message, ...session }) => ({
      ingested: record(stored(store, session), [message]) === 1,
    }),
    ingestBatch: ({ messages, ...session }) => ({
      ingestedCount: record(stored(store, session), messages),
    }),
    afterTurn({ messages, prePromptMessageCount, ...session }) {
      record(stored(store, session), messages.slice(prePromptMessageCount));
    },
    assemble({ messages, tokenBudget = Infinity, ...ref }) {
      const session = stored(store, ref);
      if (messages.length > 0) session.active = new Set(messages.map(nameOf));
      const history = visible(session, messages);
      const head: AgentMessage[] =
        session.summary === undefined || !isOnBranch(session, messages)
          ? []
          : [{ role: "compactionSummary", summary: session.summary }];
      const headTokens = estimateMessages(head).high;
      const { start, tokens } = freshTail(history, {
        tokens: Infinity,
        maxTokens: tokenBudget - headTokens,
        count: (message) => estimateMessage(message).high,
      });
      const fits = headTokens + tokens <= tokenBudget;
      const kept = [...(fits ? head : []), ...history.slice(start)];
      return {
        messages: kept,
        estimatedTokens: estimateMessages(kept).estimate,
        promptAuthority: tokens <= tokenBudget ? "assembled" : "preassembly_may_overflow",
      };
    },
    async compact({ runtimeContext, abortSignal, tokenBudget = 1_000, ...ref }) {
      abortSignal?.throwIfAborted();
      const session = stored(store, ref);
      const history = visible(session, []).filter(
        (message) => session.active?.has(nameOf(message)) !== false,
      );
      const { start } = freshTail(history, { turns: 1 });
      const old = history.slice(0, start);
      if (old.length === 0)
        return { ok: true, compacted: false, reason: "the newest turn is all there is" };
      const written = extractiveSummary({
        messages: old,
        maxTokens: Math.min(400, Math.floor(tokenBudget / 2)),
        ...(session.summary && { previousSummary: session.summary }),
      });
      const complete = async () =>
        runtimeContext?.llm?.complete({
          messages: [{ role: "user", content: written }],
          ...(abortSignal && { signal: abortSignal }),
        });
      // Without the model the extract stands; an abort is for whoever asked.
      const polished = await complete().catch((error: unknown) => {
        if (isAbort(error, abortSignal)) throw error;
        return undefined;
      });
      abortSignal?.throwIfAborted();
      // What a model says of it may say nothing of what was summed up before.
      const said = polished?.text.trim();
      const summary = said ? [said, session.summary].filter(Boolean).join("\n") : written;
      if (summary.trim() === "")
        return { ok: true, compacted: false, reason: "there is no room for a summary" };
      const tokensBefore = estimateMessages(history).estimate;
      const tokensAfter = estimateMessages([
        { role: "compactionSummary", summary },
        ...history.slice(start),
      ]).estimate;
      if (tokensAfter >= tokensBefore)
        return {
          ok: true,
          compacted: false,
          reason: "the summary is not shorter than what it stands for",
        };
      for (const message of old) session.covered.add(nameOf(message));
      session.summary = summary;
      return { ok: true, compacted: true, result: { summary, tokensBefore, tokensAfter } };
    },
    prepareSubagentSpawn({ childSessionKey }) {
      store.prepared.add(childSessionKey);
      return { rollback: () => void store.prepared.delete(childSessionKey) };
    },
    onSubagentEnded({ childSessionKey }) {
      store.prepared.delete(childSessionKey);
    },
    commitTurn({ advancementKey, messages, ...session }) {
      const key = `${session.sessionId} ${advancementKey}`;
      if (store.committed.has(key)) return { status: "duplicate" };
      store.committed.add(key);
      record(stored(store, session), messages);
      return { status: "committed" };
    },
    dispose() {},
  };
}
