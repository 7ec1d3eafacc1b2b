// Engines that demand of a host what not every host gives.
import { createMemoryEngine } from "../memory-engine.ts";
import { type BrokenEngines, fullWith, lie, memoryWith } from "./break.ts";

export const BROKEN_HOST: BrokenEngines = {
  "host/minimal-params": memoryWith((engine) => ({
    assemble: (params) =>
      engine.assemble({
        ...params,
        messages: params.messages.slice(0, lie<string>(params.sessionKey).length * 1000),
      }),
  })),
  "host/without-files": fullWith((engine) => ({
    bootstrap: (params) =>
      lie<string>(params.sessionFile).endsWith(".jsonl")
        ? engine.bootstrap(params)
        : { bootstrapped: false },
  })),
  "host/extra-params": memoryWith((engine) => ({
    assemble(params) {
      const known = [
        "sessionId",
        "sessionKey",
        "messages",
        "tokenBudget",
        "availableTools",
        "prompt",
        "runtimeContext",
        "sessionFile",
      ];
      const unknown = Object.keys(params).find((key) => !known.includes(key));
      if (unknown !== undefined) throw new Error(`unknown parameter ${unknown}`);
      return engine.assemble(params);
    },
  })),
  "host/info-read-often": () => {
    let reads = 0;
    return {
      ...createMemoryEngine(),
      get info() {
        return { id: `memory-${reads++}`, name: "Memory engine" };
      },
    };
  },
};
