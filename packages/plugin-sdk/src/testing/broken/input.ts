// Engines that change what a host handed them.
import { type BrokenEngines, fullWith, memoryWith } from "./break.ts";

export const BROKEN_INPUT: BrokenEngines = {
  "input/assemble": memoryWith((engine) => ({
    async assemble(params) {
      const result = await engine.assemble(params);
      for (const message of params.messages) message.timestamp = 0;
      return result;
    },
  })),
  "input/ingest": memoryWith((engine) => ({
    async ingest(params) {
      const result = await engine.ingest(params);
      params.message.idempotencyKey = "mine";
      return result;
    },
  })),
  "input/turn": fullWith((engine) => ({
    async afterTurn(params) {
      await engine.afterTurn(params);
      params.messages.pop();
    },
  })),
};
