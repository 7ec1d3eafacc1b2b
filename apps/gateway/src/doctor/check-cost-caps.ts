// Says which models no cost cap can count.
import { modelChains } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { modelRequest } from "../models/model-request.ts";
import { resolveModel } from "../models/resolve.ts";
import type { Finding } from "./finding.ts";

/** Models that cannot be asked at all are told of elsewhere. */
export function checkCostCaps(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
): Finding[] {
  const { warnShare: _share, ...caps } = config.gateway.costCaps;
  const set = Object.entries(caps).filter(([, cap]) => cap !== undefined);
  if (set.length === 0) return [];
  const settings = set.map(([name]) => `gateway.costCaps.${name}`).join(", ");
  const { compaction } = config.agents.defaults;
  const names = new Set([
    ...modelChains(config, environment.home).flatMap(({ models }) => models),
    ...(compaction?.model === undefined ? [] : [compaction.model]),
  ]);
  const blind = [...names].filter((name) => {
    try {
      return resolveModel({ ...modelRequest(config, environment), name }).prices === null;
    } catch {
      return false;
    }
  });
  if (blind.length === 0)
    return [{ level: "ok", code: "cost-caps", subject: "costs", text: settings }];
  return blind.map((name) => ({
    level: "warning",
    code: "cost-cap-blind",
    subject: "costs",
    text: `${settings}: calls of ${name} are not counted, as its prices are not known; name them in models.providers.${name.slice(0, name.indexOf("/"))}.models[].cost`,
  }));
}
