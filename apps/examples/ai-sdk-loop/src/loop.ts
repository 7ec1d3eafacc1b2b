// Lets a context engine choose what a loop of the AI SDK shows its model.
import { randomUUID } from "node:crypto";
import { type EngineRegistry, resolveContextEngine } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { generateText, type LanguageModel, type StopCondition, type ToolSet } from "ai";
import { fromModelMessage, toModelMessages } from "./messages.ts";

/** What `generateText` is given besides the messages. */
export interface LoopSettings {
  model: LanguageModel;
  instructions: string;
  tools?: ToolSet;
  stopWhen?: StopCondition<ToolSet>;
}

/** One session: each call answers one prompt, and tells the engine of it. */
export function createLoop(registry: EngineRegistry, engineId: string, settings: LoopSettings) {
  const session = { sessionId: randomUUID(), sessionKey: "agent:main:loop" };
  const config = { plugins: { slots: { contextEngine: engineId } } };
  const tokenBudget = 20_000;
  let stored: readonly AgentMessage[] = [];

  return async (prompt: string): Promise<string> => {
    const { guard } = await resolveContextEngine({ registry, config, ...session });
    const engine = guard.enter(session);
    try {
      const past = structuredClone(stored) as AgentMessage[];
      const view = await engine.assemble({ ...session, messages: past, prompt, tokenBudget });
      const asked = { role: "user" as const, content: prompt };
      const { text, responseMessages } = await generateText({
        ...settings,
        instructions: [settings.instructions, view.systemPromptAddition ?? ""].join("\n\n").trim(),
        messages: [...toModelMessages(view.messages), asked],
      });
      const said = [asked, ...responseMessages].flatMap(fromModelMessage);
      const fresh = said.map((message) => withMessageId(message, randomUUID()));
      const prePromptMessageCount = stored.length;
      stored = [...stored, ...fresh];
      const messages = structuredClone(stored) as AgentMessage[];
      if (engine.afterTurn) await engine.afterTurn({ ...session, messages, prePromptMessageCount });
      else
        for (const message of structuredClone(fresh)) await engine.ingest({ ...session, message });
      return text;
    } finally {
      engine.release();
    }
  };
}
