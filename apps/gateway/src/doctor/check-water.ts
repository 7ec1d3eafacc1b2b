// Checks whether the marks at which contexts are compacted can hold.
import { planContextSize } from "@clew/plugin-sdk/host";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import {
  COMPACTION_SECTION,
  type CompactionConfig,
  describeWaterConflicts,
  waterOf,
} from "../config/compaction.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { modelRequest } from "../models/model-request.ts";
import { type ResolvedModel, resolveModel } from "../models/resolve.ts";
import { number } from "../text/number.ts";
import type { Finding } from "./finding.ts";

/** Nothing where they hold. */
export function checkWater(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
): Finding[] {
  const { compaction } = config.agents.defaults;
  const resolve = (name: string) => resolveModel({ ...modelRequest(config, environment), name });
  const answers = agentSettings(config, environment.home, defaultAgentId(config)).model;
  const texts = [
    ...describeWaterConflicts(compaction).map((text) => `${text}; the low one is ignored`),
    ...modelNames(compaction, resolve),
    ...marksOfModel(compaction, () => resolve(answers)),
  ];
  return texts.map((text) => ({
    level: "warning",
    code: "compaction-marks",
    subject: "compaction",
    text,
  }));
}

/** Names under which no model can be found. */
const modelNames = (
  { models }: CompactionConfig,
  resolve: (name: string) => ResolvedModel,
): string[] =>
  Object.keys(models).flatMap((name) => {
    try {
      resolve(name);
      return [];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [`${COMPACTION_SECTION}.models["${name}"] changes nothing: ${why}`];
    }
  });

/** What the budget of the model that answers makes of the marks. */
function marksOfModel(compaction: CompactionConfig, resolve: () => ResolvedModel): string[] {
  const found = orNull(resolve);
  if (found === null) return [];
  const { name, model } = found;
  const water = waterOf(compaction, name);
  const { highWaterTokens, lowWaterTokens } = water;
  const { high, low } = planContextSize({
    contextWindow: model.contextWindow,
    reserveTokens: compaction.reserveTokensFloor,
    fixedTokens: 0,
    messages: { estimate: 0, counted: null },
    water,
  }).water;
  const isCut = highWaterTokens !== undefined && high < highWaterTokens;
  const isPast = lowWaterTokens !== undefined && lowWaterTokens >= high;
  const isConflict = isPast && highWaterTokens !== undefined && lowWaterTokens >= highWaterTokens;
  return [
    ...(isCut
      ? [
          `highWaterTokens (${number(highWaterTokens)}) is more than ${name} leaves room for; ${number(high)} is used`,
        ]
      : []),
    ...(isPast && !isConflict
      ? [
          `lowWaterTokens (${number(lowWaterTokens)}) is not below the high mark of ${name} (${number(high)}); ${number(low)} is used`,
        ]
      : []),
  ];
}

/** A model that cannot be resolved is another finding. */
function orNull(resolve: () => ResolvedModel): ResolvedModel | null {
  try {
    return resolve();
  } catch {
    return null;
  }
}
