// Which methods an engine offers a turn.
import type { ContextEngine } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";

const METHODS: readonly EngineMethod[] = [
  "bootstrap",
  "maintain",
  "ingest",
  "ingestBatch",
  "afterTurn",
  "commitTurn",
  "assemble",
  "compact",
];

export const methodsOf = (engine: ContextEngine): ReadonlySet<EngineMethod> =>
  new Set(METHODS.filter((method) => typeof engine[method] === "function"));
