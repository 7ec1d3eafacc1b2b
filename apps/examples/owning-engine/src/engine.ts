// Owns compaction, and remembers its summaries across restarts.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AgentMessage,
  type ContextEngine,
  definePluginEntry,
  type EngineFactoryContext,
  messageId,
  readHistory,
  type SessionRef,
} from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import {
  activeBranch,
  buildContext,
  extractiveSummary,
  freshTail,
  parseTranscript,
} from "@clew/plugin-sdk/transcript";

/** What stands for the messages up to and including the one named `through`. */
interface Compacted {
  summary: string;
  through: string;
}

export function createEngine({ agentDir }: EngineFactoryContext = {}): ContextEngine {
  const inMemory = new Map<string, Compacted>();
  const fileOf = ({ sessionId }: SessionRef) =>
    join(agentDir ?? "", "example-owning", `${encodeURIComponent(sessionId)}.json`);

  function load(session: SessionRef): Compacted | undefined {
    const file = fileOf(session);
    if (agentDir === undefined) return inMemory.get(file);
    try {
      return JSON.parse(readFileSync(file, "utf8")) as Compacted;
    } catch {
      return undefined;
    }
  }

  function save(session: SessionRef, compacted: Compacted): void {
    const file = fileOf(session);
    if (agentDir === undefined) return void inMemory.set(file, compacted);
    mkdirSync(join(agentDir, "example-owning"), { recursive: true });
    // Whole or not at all: a crash between the two leaves the old file.
    writeFileSync(`${file}.new`, JSON.stringify(compacted));
    renameSync(`${file}.new`, file);
  }

  return {
    info: { id: "example-owning", name: "Owning example", ownsCompaction: true },
    // The transcript is the truth; only what was decided about it is ours to keep.
    ingest: () => ({ ingested: false }),
    assemble({ messages, tokenBudget = Infinity, ...session }) {
      const view = viewOf(messages, load(session));
      const whole = [...view.head, ...view.rest];
      if (estimateMessages(whole).high <= tokenBudget) return answer(whole, tokenBudget);
      // It does not fit: what falls out is summarised too, for this assembly only.
      const room = Math.floor(tokenBudget / 5);
      const { start } = freshTail(view.rest, {
        tokens: Infinity,
        maxTokens: tokenBudget - room,
        count: highOf,
      });
      const summary = summarise(view.rest.slice(0, start), room, view.summary);
      return answer([...summaryMessage(summary), ...view.rest.slice(start)], tokenBudget);
    },
    async compact({ sessionFile, tokenBudget = 8_000, abortSignal, ...session }) {
      abortSignal?.throwIfAborted();
      // Some hosts keep no file of a session, and are asked.
      const messages =
        sessionFile === undefined ? await readHistory(session) : readMessages(sessionFile);
      if (messages === undefined)
        return {
          ok: false,
          compacted: false,
          reason: "compaction reads the session, and this host neither keeps a file nor tells",
        };
      const view = viewOf(messages, load(session));
      const before = estimateMessages([...view.head, ...view.rest]).estimate;
      // Who asks has a reason, even if there is room: a provider may hold less than it says.
      const room = Math.min(tokenBudget, before);
      const { start } = freshTail(view.rest, { tokens: room / 2, maxTokens: room / 2 });
      const summary = summarise(view.rest.slice(0, start), Math.floor(room / 5), view.summary);
      const after = estimateMessages([
        ...summaryMessage(summary),
        ...view.rest.slice(start),
      ]).estimate;
      if (start === 0 || after >= before)
        return {
          ok: true,
          compacted: false,
          reason: "nothing older than the newest turns to summarise",
        };
      save(session, { summary, through: nameOf(view.rest[start - 1]!) });
      return {
        ok: true,
        compacted: true,
        result: { summary, tokensBefore: before, tokensAfter: after },
      };
    },
    dispose: () => inMemory.clear(),
  };
}

function viewOf(messages: AgentMessage[], compacted: Compacted | undefined) {
  const cut =
    compacted === undefined
      ? -1
      : messages.findIndex((message) => nameOf(message) === compacted.through);
  // Another branch of the session: what was compacted is not on it, or is all that is left of it.
  if (compacted === undefined || cut < 0 || cut === messages.length - 1)
    return { head: [], rest: messages, summary: undefined };
  return {
    head: summaryMessage(compacted.summary),
    rest: messages.slice(cut + 1),
    summary: compacted.summary,
  };
}

function answer(messages: AgentMessage[], tokenBudget: number) {
  const { estimate, high } = estimateMessages(messages);
  // The newest turn is kept whatever it costs; the host is told when that is more than the budget.
  const promptAuthority =
    high <= tokenBudget ? ("assembled" as const) : ("preassembly_may_overflow" as const);
  return { messages, estimatedTokens: estimate, promptAuthority };
}

function readMessages(sessionFile: string): AgentMessage[] {
  try {
    const { entries } = parseTranscript(readFileSync(sessionFile, "utf8"));
    return buildContext(activeBranch(entries)).items.map(({ message }) => message);
  } catch {
    return [];
  }
}

// The id is the same in every call and after a rewrite; a host that gives none may give keys.
const nameOf = (message: AgentMessage) =>
  messageId(message) ?? message.idempotencyKey ?? JSON.stringify(message);
const highOf = (message: AgentMessage) => estimateMessages([message]).high;
const summaryMessage = (summary: string): AgentMessage[] =>
  summary === "" ? [] : [{ role: "compactionSummary", summary }];
const summarise = (
  messages: AgentMessage[],
  maxTokens: number,
  previousSummary: string | undefined,
) =>
  extractiveSummary({
    messages,
    maxTokens,
    ...(previousSummary !== undefined && { previousSummary }),
  });

export default definePluginEntry({
  id: "example-owning",
  name: "Owning example",
  kind: "context-engine",
  register: (api) => api.registerContextEngine("example-owning", createEngine),
});
