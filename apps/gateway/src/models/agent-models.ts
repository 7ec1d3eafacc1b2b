// Says which model answers an agent now, and which are there for when it cannot.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { AgentSettings } from "../config/agent.ts";
import type { Models } from "./models.ts";
import { planChain, type Rest, type Rests } from "./plan-rest.ts";
import type { ResolvedModel } from "./resolve.ts";

/** Who answers an agent now, and who is there for when that one cannot. */
export interface AgentModels {
  answering: ResolvedModel;
  /** Why it is not the one of the settings; null = it is. */
  because: Rest | null;
  fallbacks: readonly ResolvedModel[];
}

/**
 * Throws CONFIG_INVALID for the model of the settings. A fallback that cannot be used is passed
 * over: the doctor says why.
 */
export function agentModels(
  { model, fallbacks }: Pick<AgentSettings, "model" | "fallbacks">,
  { models, rests, now }: { models: Pick<Models, "named">; rests: Rests; now: number },
): AgentModels {
  const primary = models.named(model);
  const usable = fallbacks.flatMap((name) => usableModel(models, name));
  const { order, because } = planChain([model, ...usable.map(({ name }) => name)], rests, now);
  const resolved = order.map((name) => usable.find((each) => each.name === name) ?? primary);
  const [answering = primary, ...others] = resolved;
  return { answering, because: answering === primary ? null : because, fallbacks: others };
}

function usableModel(models: Pick<Models, "named">, name: string): ResolvedModel[] {
  try {
    return [models.named(name)];
  } catch (error) {
    if (ContextEngineError.is(error, "CONFIG_INVALID")) return [];
    throw error;
  }
}
