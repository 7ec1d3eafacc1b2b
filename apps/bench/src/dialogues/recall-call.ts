// Tells the lossless engine a dialogue and asks one of its recall tools.
import { join } from "node:path";
import type { AgentMessage, PluginTool } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { openBundledEngine } from "../lossless/bundled-engine.ts";
import type { Turn } from "./dialogue.ts";

/** One plain call: the question as it is, and nothing else. */
export interface RecallCall {
  ask(question: string, tokenCap: number): Promise<string>;
  /** All texts of a view of so many tokens. */
  view(tokenBudget: number): Promise<string>;
  close(): Promise<void>;
}

const TOOL = "lcm_expand_query";
const SESSION = { sessionId: "dialogue", sessionKey: "agent:main:dialogue" };

/**
 * The plugin as a gateway loads it, without a model: what is found comes back as it is.
 * `summaries`: its setting.
 */
export async function openRecallCall(
  turns: readonly Turn[],
  summaries = "off",
): Promise<RecallCall> {
  const { engine, tools, home, close } = await openBundledEngine(summaries);
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
    close,
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
