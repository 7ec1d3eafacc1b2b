// The lossless engine for hosts that commit turns, as `plugin-sdk check` finds it.
import { createLosslessEngine } from "@clew/lossless-engine";
import type { EngineFactoryContext } from "@clew/plugin-sdk/core";

export const createEngine = (context?: EngineFactoryContext) =>
  createLosslessEngine(context, { durableTurns: true });
