// Tells the lossless engine a dialogue and asks one of its recall tools.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage, PluginTool } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { bundledPlugins } from "../../../gateway/src/plugins/find/bundled.ts";
import { loadGeneration } from "../../../gateway/src/plugins/generation.ts";
import { provideStateDir } from "../../../gateway/src/plugins/load/state-dir.ts";
import { createStrays } from "../../../gateway/src/plugins/strays.ts";
import type { Turn } from "./dialogue.ts";

/** One plain call: the question as it is, and nothing else. */
export interface RecallCall {
  ask(question: string, tokenCap: number): Promise<string>;
  /** All texts of a view of so many tokens. */
  view(tokenBudget: number): Promise<string>;
  close(): Promise<void>;
}

const ENGINE = "lossless";
const TOOL = "lcm_expand_query";
const SESSION = { sessionId: "dialogue", sessionKey: "agent:main:dialogue" };
const silent = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * The plugin as a gateway loads it, without a model: what is found comes back as it is.
 * `summaries`: its setting.
 */
export async function openRecallCall(
  turns: readonly Turn[],
  summaries = "off",
): Promise<RecallCall> {
  const home = await mkdtemp(join(tmpdir(), "clew-dialogue-"));
  provideStateDir(home);
  const plugins = {
    slots: { contextEngine: ENGINE },
    entries: { [ENGINE]: { enabled: true, config: { summaries } } },
  };
  const { engines, tools } = await loadGeneration({
    ...{ home, plugins, bundled: bundledPlugins(), reservedTools: [] },
    context: {
      ...{ home, mode: "full", generation: 0, log: silent, config: () => ({ plugins }) },
      complete: () => Promise.reject(new Error("There is no model here.")),
      strays: createStrays(silent),
    },
  });
  const engine = await engines
    .find(({ engineId }) => engineId === ENGINE)!
    .factory({ agentDir: home, workspaceDir: home });
  const messages = turns.map(messageOf);
  await engine.ingestBatch?.({ ...SESSION, messages });
  await engine.maintain?.({ ...SESSION, sessionFile: join(home, "none.jsonl") });
  const tool = tools.find(({ names }) => names?.includes(TOOL))!.make(SESSION) as PluginTool;
  return {
    async ask(prompt, tokenCap) {
      const { content } = await tool.execute("bench", { prompt, tokenCap });
      return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    },
    async view(tokenBudget) {
      const view = await engine.assemble({ ...SESSION, messages: [...messages], tokenBudget });
      return view.messages
        .map((message) =>
          message.role === "compactionSummary" ? message.summary : textOf(message),
        )
        .join("\n");
    },
    async close() {
      await engine.dispose?.();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Who speaks stands before what is said, as in a chat of several people. */
export const lineOf = ({ speaker, text }: Turn) => `${speaker}: ${text}`;

const messageOf = (turn: Turn, at: number): AgentMessage => ({
  role: "user",
  content: lineOf(turn),
  timestamp: turn.timestamp,
  __openclaw: { id: `t${at}` },
});
