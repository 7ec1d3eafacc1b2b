// Checks whether the marks at which contexts are compacted can hold.
import { planContextSize } from "@clew/plugin-sdk/host";
import {
  COMPACTION_SECTION,
  type CompactionConfig,
  describeWaterConflicts,
  waterOf,
} from "../config/compaction.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { ResolvedModel } from "../models/resolve.ts";
import { number } from "../text/number.ts";
import type { Finding } from "./finding.ts";

/** Nothing where they hold; `resolve` gives the default agent's model, and may throw. */
export function checkWater(
  { config }: Pick<LoadedConfig, "config">,
  resolve: () => ResolvedModel,
): Finding[] {
  const { compaction } = config.agents.defaults;
  const texts = [
    ...describeWaterConflicts(compaction).map((text) => `${text}; the low one is ignored`),
    ...modelNames(compaction),
    ...marksOfModel(compaction, resolve),
  ];
  return texts.map((text) => ({
    level: "warning",
    code: "compaction-marks",
    subject: "compaction",
    text,
  }));
}

/** Names under which no model can be found. */
const modelNames = ({ models }: CompactionConfig): string[] =>
  Object.keys(models)
    .filter((name) => !/^[^/\s]+\/\S+$/.test(name))
    .map(
      (name) =>
        `${COMPACTION_SECTION}.models["${name}"] changes nothing: models are named "provider/model"`,
    );

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
