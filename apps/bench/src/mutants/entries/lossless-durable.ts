// Gives the command that checks engines the lossless one for hosts that commit turns.
import { createLosslessEngine } from "@clew/lossless-engine";
import type { EngineFactoryContext } from "@clew/plugin-sdk/core";

export const createEngine = (context?: EngineFactoryContext) =>
  createLosslessEngine(context, { durableTurns: true });
