// Says which model answers an agent now, and which are there for when it cannot.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { AgentSettings } from "../config/agent.ts";
import { isNotSignedIn } from "../credentials/find.ts";
import type { Models } from "./models.ts";
import { planChain, type Rest, type Rests, restOf } from "./plan-rest.ts";
import type { ResolvedModel } from "./resolve.ts";

/** Who answers an agent now, and who is there for when that one cannot. */
export interface AgentModels {
  answering: ResolvedModel;
  /** How it failed lately, where it is asked all the same; null = it did not. */
  rest: Rest | null;
  /** "provider/model" that should answer, as it was asked for. */
  wanted: string;
  /** Why it is not that one; null = it is. */
  because: Rest | null;
  /** The model of the settings, where nothing signs in to it; null = something does. */
  passedOver: PassedOver | null;
  fallbacks: readonly ResolvedModel[];
}

export interface PassedOver {
  name: string;
  /** One sentence: what is missing. */
  why: string;
}

/**
 * Throws CONFIG_INVALID for the model of the settings, unless only its key is missing and a
 * fallback is there. A fallback that cannot be used is passed over: the doctor says why.
 */
export function agentModels(
  { model, fallbacks }: Pick<AgentSettings, "model" | "fallbacks">,
  { models, rests, now }: { models: Pick<Models, "named">; rests: Rests; now: number },
): AgentModels {
  const usable = fallbacks.flatMap((name) => usableModel(models, name));
  const [substitute] = usable;
  const { primary, passedOver } = findPrimary(models, model, substitute);
  const names = usable.map(({ name }) => name);
  const { order, because } = planChain([primary.name, ...names], rests, now);
  const resolved = order.map((name) => usable.find((each) => each.name === name) ?? primary);
  const [answering = primary, ...others] = resolved;
  const isAsked = answering === primary || passedOver !== null;
  return {
    ...{ answering, wanted: model, passedOver, fallbacks: others },
    rest: restOf(rests, answering.name, now) ?? null,
    because: isAsked ? null : because,
  };
}

/** Whom the settings mean, or the first fallback where nobody can sign in to that one. */
function findPrimary(
  models: Pick<Models, "named">,
  name: string,
  substitute: ResolvedModel | undefined,
): { primary: ResolvedModel; passedOver: PassedOver | null } {
  try {
    return { primary: models.named(name), passedOver: null };
  } catch (error) {
    if (substitute === undefined || !isNotSignedIn(error)) throw error;
    return { primary: substitute, passedOver: { name, why: (error as Error).message } };
  }
}

function usableModel(models: Pick<Models, "named">, name: string): ResolvedModel[] {
  try {
    return [models.named(name)];
  } catch (error) {
    if (ContextEngineError.is(error, "CONFIG_INVALID")) return [];
    throw error;
  }
}
