// One session as the kit's host keeps it, told to the engine the way hosts do.
import type { ContextEngine } from "../contract/engine.ts";
import type {
  AssembleParams,
  AssembleResult,
  CompactParams,
  CompactResult,
} from "../contract/lifecycle.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { LlmCompleteParams, LlmCompleteResult, RuntimeContext } from "../contract/runtime.ts";
import type { SessionRef } from "../contract/session.ts";
import { extractiveSummary } from "../record/extractive-summary.ts";
import { estimateMessages } from "../tokens/message.ts";
import { activeBranch } from "../transcript/branch.ts";
import { buildContext } from "../transcript/context.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "../transcript/entries.ts";
import { freshTail } from "../transcript/fresh-tail.ts";
import { placeEntry } from "../transcript/origin.ts";
import { parseTranscript } from "../transcript/parse.ts";
import { headOf } from "../transcript/text.ts";
import type { CaseStorage } from "./case-storage.ts";
import { call, check } from "./engine-call.ts";
import { FIRST_TIMESTAMP } from "./messages.ts";

/** A budget no conversation of the kit reaches, in tokens. */
export const AMPLE_BUDGET = 1_000_000;

export class CaseSession {
  readonly ref: { sessionId: string; sessionKey: string; sessionFile: string };
  readonly #storage: CaseStorage;
  readonly #entries: TranscriptEntry[] = [];

  constructor(storage: CaseStorage, name: string) {
    this.#storage = storage;
    this.ref = {
      sessionId: name,
      sessionKey: `agent:kit:${name}`,
      sessionFile: `${storage.agentDir}/sessions/${name}.jsonl`,
    };
  }

  /** The session's messages now, as fresh objects. */
  history(): AgentMessage[] {
    return structuredClone(buildContext(this.#entries).items.map(({ message }) => message));
  }

  /** Appends to the transcript file only. */
  async write(messages: readonly AgentMessage[]): Promise<void> {
    this.keep(messages);
    await this.#save();
  }

  /** Appends without a file, as a host does that keeps none. */
  keep(messages: readonly AgentMessage[]): void {
    for (const message of messages) this.#append({ type: "message", message });
  }

  /**
   * A finished turn: stored first, then told to the engine by afterTurn, else ingestBatch,
   * else ingest (contract §3.2).
   */
  async deliver(engine: ContextEngine, messages: readonly AgentMessage[]): Promise<void> {
    const before = this.history().length;
    await this.write(messages);
    await this.tell(engine, before);
  }

  /** Tells the engine of the messages from `start` on; `named`: the session, as in each call. */
  async tell(engine: ContextEngine, start: number, named: SessionRef = this.ref): Promise<void> {
    const fresh = () => this.history().slice(start);
    if (typeof engine.afterTurn === "function") {
      const params = {
        ...named,
        messages: this.history(),
        prePromptMessageCount: start,
        tokenBudget: AMPLE_BUDGET,
      };
      await call(engine, "afterTurn", params);
    } else if (typeof engine.ingestBatch === "function") {
      await call(engine, "ingestBatch", { ...this.#named(), messages: fresh() });
    } else {
      for (const message of fresh()) await call(engine, "ingest", { ...this.#named(), message });
    }
  }

  async bootstrap(engine: ContextEngine) {
    return call(engine, "bootstrap", { ...this.ref });
  }

  async assemble(
    engine: ContextEngine,
    params: Partial<AssembleParams> = {},
  ): Promise<AssembleResult> {
    return call(engine, "assemble", {
      ...this.#named(),
      messages: this.history(),
      tokenBudget: AMPLE_BUDGET,
      ...params,
    });
  }

  async compact(
    engine: ContextEngine,
    params: Partial<CompactParams> = {},
  ): Promise<CompactResult> {
    const answered = await call(engine, "compact", this.compactParams(params));
    await this.#adopt(answered);
    return answered;
  }

  /** Maintenance behind the reply, where an engine may do what it put off. */
  async maintain(engine: ContextEngine, lent: Pick<RuntimeContext, "llm"> = {}): Promise<void> {
    if (typeof engine.maintain !== "function") return;
    const allowed = { llm: quickModel, allowDeferredCompactionExecution: true };
    await call(engine, "maintain", { ...this.ref, runtimeContext: { ...allowed, ...lent } });
  }

  /** Goes on in the transcript to which a compaction moved. */
  async #adopt({ ok, compacted, result }: CompactResult): Promise<void> {
    const next = result?.sessionTarget?.sessionId ?? result?.sessionId;
    if (!ok || !compacted || next === undefined || next === this.ref.sessionId) return;
    const sessionFile = result?.sessionFile ?? `${this.#storage.agentDir}/sessions/${next}.jsonl`;
    const text = await this.#storage.read?.(sessionFile);
    check(text !== undefined, `compact() named the successor ${next}, which cannot be read.`);
    this.#entries.splice(0, Infinity, ...activeBranch(parseTranscript(text).entries));
    Object.assign(this.ref, { sessionId: next, sessionFile });
  }

  /** What a host passes when the context is too large for its budget. */
  compactParams(params: Partial<CompactParams> = {}): CompactParams {
    const currentTokenCount = estimateMessages(this.history()).high;
    const tokenBudget = Math.max(1, Math.floor(currentTokenCount / 4));
    return {
      ...this.ref,
      tokenBudget,
      currentTokenCount,
      force: true,
      runtimeContext: { llm: quickModel, tokenBudget },
      ...params,
    };
  }

  /**
   * The kit's built-in compaction: older turns replaced by a summary made by code, as one
   * entry of the transcript.
   */
  async compactTranscript(): Promise<CompactResult> {
    const { items } = buildContext(this.#entries);
    const messages = items.map(({ message }) => message);
    const { start } = freshTail(messages, { turns: 1 });
    if (start === 0)
      return { ok: true, compacted: false, reason: "the newest turn is all there is" };
    const summary = extractiveSummary({ messages: messages.slice(0, start), maxTokens: 200 });
    const tokensBefore = estimateMessages(messages).estimate;
    const firstKeptEntryId = items[start]!.entryId;
    this.#append({ type: "compaction", summary, firstKeptEntryId, tokensBefore });
    await this.#save();
    const tokensAfter = estimateMessages(this.history()).estimate;
    return {
      ok: true,
      compacted: true,
      result: { summary, firstKeptEntryId, tokensBefore, tokensAfter },
    };
  }

  #named() {
    const { sessionId, sessionKey } = this.ref;
    return { sessionId, sessionKey };
  }

  #append(entry: NewTranscriptEntry): void {
    const id = this.#entries.length.toString(16).padStart(8, "0");
    const timestamp = new Date(FIRST_TIMESTAMP + this.#entries.length * 1000).toISOString();
    const parentId = this.#entries.at(-1)?.id ?? null;
    this.#entries.push(placeEntry(structuredClone(entry), { id, parentId, timestamp }));
  }

  async #save(): Promise<void> {
    const header = {
      type: "session",
      version: 3,
      id: this.ref.sessionId,
      timestamp: new Date(FIRST_TIMESTAMP).toISOString(),
      cwd: "",
    };
    await this.#storage.write(
      this.ref.sessionFile,
      `${[header, ...this.#entries].map((line) => JSON.stringify(line)).join("\n")}\n`,
    );
  }
}

type Llm = NonNullable<RuntimeContext["llm"]>;

/** A model that answers at once with the head of what it was asked. */
export const quickModel: Llm = {
  complete: async (params) => reply(headOf(params.messages.at(-1)?.content ?? "", 200)),
};

/** A model that answers only when its signal is aborted, and then by that abort. */
export const silentModel: Llm = {
  complete: ({ signal }: LlmCompleteParams) =>
    new Promise((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
    ),
};

function reply(text: string): LlmCompleteResult {
  const usage = {
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    totalTokens: 2,
    costUsd: 0,
  };
  return {
    text,
    provider: "kit",
    model: "kit",
    agentId: "kit",
    usage,
    audit: { caller: { kind: "context-engine", id: "kit" } },
  };
}
