// Engines that do not record every message they are told.
import type { AgentMessage } from "../../contract/message.ts";
import { textOf } from "../../transcript/text.ts";
import { nameOf } from "../full-engine.ts";
import { type BrokenEngines, fullWith, memoryWith } from "./break.ts";

export const BROKEN_INGEST: BrokenEngines = {
  "ingest/every-role": memoryWith((engine) => ({
    ingest(params) {
      if (params.message.role === "bashExecution") throw new Error("what is a bashExecution");
      return engine.ingest(params);
    },
  })),
  "ingest/equal-texts": memoryWith((engine) => {
    const texts = new Set<string>();
    return {
      ingest(params) {
        const text = `${params.sessionId} ${params.message.role} ${textOf(params.message)}`;
        if (texts.has(text)) return { ingested: false };
        texts.add(text);
        return engine.ingest(params);
      },
    };
  }),
  "ingest/told-whole": fullWith((engine) => {
    const seen = new Map<string, AgentMessage>();
    const nameIn = (sessionId: string, message: AgentMessage) => `${sessionId} ${nameOf(message)}`;
    return {
      assemble(params) {
        for (const message of params.messages) {
          const name = nameIn(params.sessionId, message);
          if (!seen.has(name)) seen.set(name, structuredClone(message));
        }
        return engine.assemble(params);
      },
      afterTurn(params) {
        const messages = params.messages.map(
          (message) => seen.get(nameIn(params.sessionId, message)) ?? message,
        );
        return engine.afterTurn({ ...params, messages });
      },
    };
  }),
};
