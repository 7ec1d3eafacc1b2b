// How large the composed request is for the turn's model.
import { type ContextSize, planContextSize } from "@clew/plugin-sdk/host";
import type { Answer } from "./facts.ts";
import type { Turn } from "./turn.ts";

/**
 * `ofEngine`: the engine's own estimate counts, and what an owner chose may fill the whole window,
 * since nobody else can make it smaller.
 */
export function sizeOfRequest(
  { setup, engine, assembly }: Turn,
  { size, unwindowed, newestTokens, pace }: Extract<Answer, { type: "composed" }>,
  { ofEngine }: { ofEngine: boolean },
): ContextSize {
  const { settings, model, fixedTokens } = setup;
  return planContextSize({
    contextWindow: model.contextWindow,
    reserveTokens: ofEngine && engine.ownsCompaction ? 0 : settings.reserveTokens,
    fixedTokens,
    tokenRatio: settings.tokenRatio,
    water: settings.water,
    messages: size,
    ...(ofEngine && { engineEstimate: assembly?.engineEstimate ?? null }),
    ...(unwindowed !== null && { unwindowed }),
    newestTokens,
    pace,
  });
}
