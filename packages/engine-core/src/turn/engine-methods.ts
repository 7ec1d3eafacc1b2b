// Which methods an engine offers a turn.
import type { ContextEngine } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import { OPTIONAL_METHODS, REQUIRED_METHODS } from "../engine/methods.ts";

export const methodsOf = (engine: ContextEngine): ReadonlySet<EngineMethod> =>
  new Set(
    [...REQUIRED_METHODS, ...OPTIONAL_METHODS].filter(
      (method) => typeof engine[method] === "function",
    ),
  );
