// Engines that do not record every message they are told.
import { textOf } from "../../transcript/text.ts";
import { type BrokenEngines, memoryWith } from "./break.ts";

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
};
