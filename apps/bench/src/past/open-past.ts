// Tells the lossless engine a session, looks at a view, and asks its tools.
import { join } from "node:path";
import type {
  AgentMessage,
  LlmCompleteParams,
  LlmCompleteResult,
  PluginTool,
  RuntimeContext,
} from "@clew/plugin-sdk/core";
import { openBundledEngine } from "../lossless/bundled-engine.ts";

/** How a session is told. */
export interface PastOptions {
  /** The engine's setting. */
  readonly summaries: string;
  /** What answers the engine's own calls. Absent: nobody does. */
  readonly complete?: ((params: LlmCompleteParams) => Promise<LlmCompleteResult>) | undefined;
  /** After how many ms a host ends what the engine does between turns. Absent: it does not. */
  readonly endsAfterMs?: number | undefined;
  /** In how many portions it is told, each with time between turns behind it. Absent: 1. */
  readonly portions?: number | undefined;
}

/** A session that was told. */
export interface OpenPast {
  view(tokenBudget: number): Promise<readonly AgentMessage[]>;
  /** As after a request that did not fit; false = nothing was compacted. */
  compactInEmergency(tokenBudget: number): Promise<boolean>;
  /** What stands for the messages that a view of this budget does not show. */
  record(tokenBudget: number): Promise<string>;
  describe(id: string): Promise<string>;
  close(): Promise<void>;
}

const SESSION = { sessionId: "past", sessionKey: "agent:main:past" };

/** The plugin as a gateway loads it. */
export async function openPast(
  messages: readonly AgentMessage[],
  { summaries, complete, endsAfterMs, portions = 1 }: PastOptions,
): Promise<OpenPast> {
  const { engine, tools, home, close } = await openBundledEngine(summaries);
  const sessionFile = join(home, "none.jsonl");
  const runtimeContext = {
    ...{ allowDeferredCompactionExecution: true, ...(complete && { llm: { complete } }) },
  } as RuntimeContext;
  const size = Math.ceil(messages.length / portions);
  for (let from = 0; from < messages.length; from += size) {
    await engine.ingestBatch?.({ ...SESSION, messages: messages.slice(from, from + size) });
    // A timer of its own: a signal's keeps no process running.
    const end = new AbortController();
    const timer =
      endsAfterMs === undefined ? undefined : setTimeout(() => end.abort(), endsAfterMs);
    try {
      await engine.maintain?.({ ...SESSION, sessionFile, runtimeContext, abortSignal: end.signal });
    } catch (error) {
      if (!end.signal.aborted) throw error;
    }
    clearTimeout(timer);
  }
  const viewOf = async (tokenBudget: number) => {
    const view = await engine.assemble({ ...SESSION, messages: [...messages], tokenBudget });
    return view.messages;
  };
  const tool = tools
    .find(({ names }) => names?.includes("lcm_describe"))!
    .make(SESSION) as PluginTool;
  return {
    view: viewOf,
    async compactInEmergency(tokenBudget) {
      const asked = { ...SESSION, sessionFile, tokenBudget, force: true, runtimeContext };
      return (await engine.compact(asked)).compacted === true;
    },
    async record(tokenBudget) {
      const [first] = await viewOf(tokenBudget);
      return first?.role === "compactionSummary" ? first.summary : "";
    },
    async describe(id) {
      const { content } = await tool.execute("bench", { id });
      return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    },
    close,
  };
}
