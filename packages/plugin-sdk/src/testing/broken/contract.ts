// Engines whose products break the types of the contract, one for each case.
import { type BrokenEngines, fullWith, lie, memoryWith, reassemble } from "./break.ts";

export const BROKEN_CONTRACT: BrokenEngines = {
  "contract/info": memoryWith(() => ({ info: { id: "memory", name: " " } })),
  "contract/methods": memoryWith(() => ({ maintain: lie("yes") })),
  "contract/durable-declaration": fullWith(() => ({ commitTurn: lie(undefined) })),
  "contract/ingest-result": memoryWith(() => ({ ingest: () => lie({}) })),
  "contract/ingest-batch-result": fullWith(() => ({ ingestBatch: () => ({ ingestedCount: -1 }) })),
  "contract/bootstrap-result": fullWith((engine) => ({
    async bootstrap(params) {
      await engine.bootstrap(params);
      return lie(undefined);
    },
  })),
  "contract/maintain-result": fullWith(() => ({ maintain: () => lie({}) })),
  "contract/assemble-result": memoryWith(reassemble(() => ({ promptAuthority: lie("mine") }))),
  "contract/compact-result": memoryWith((engine) => ({
    async compact(params) {
      return { ...(await engine.compact(params)), ok: false };
    },
  })),
};
