// Says which fallbacks cannot be used, and which models are left alone after a failure.
import { agentSettings, defaultAgentId, modelChains } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { silentLog } from "../log/silent.ts";
import { describeRest } from "../models/describe-rest.ts";
import { modelRequest } from "../models/model-request.ts";
import { createModelRests } from "../models/model-rests.ts";
import { isLeftAlone } from "../models/plan-rest.ts";
import { resolveModel } from "../models/resolve.ts";
import type { Finding } from "./finding.ts";

export function checkModelChains(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
  now = Date.now(),
): Finding[] {
  const rests = createModelRests({ home: environment.home, log: silentLog }).all();
  const chains = modelChains(config, environment.home).map(({ models }) => models);
  const named = namesIn(config, chains);
  return [
    ...fallbacksOf(config, environment.home).flatMap((name) =>
      unusable(name, { config, environment }, (why) => ({
        code: "model-fallback-unusable",
        text: `the fallback ${name} is passed over: ${why}`,
      })),
    ),
    ...config.agents.list.flatMap(({ id }) => checkAgent(id, { config, environment })),
    ...Object.entries(rests)
      .filter(([model, { until }]) => Date.parse(until) > now && named.has(model))
      .map(
        ([model, rest]): Finding => ({
          level: "warning",
          code: "model-resting",
          subject: "model",
          text: `${model} ${describeRest(rest, isLeftAlone(model, { chains, rests, now }))}; ask it again: clew models retry ${model}`,
        }),
      ),
  ];
}

/** Models that some setting has asked, and their providers, as they rest as a whole. */
function namesIn(config: Config, chains: readonly (readonly string[])[]): Set<string> {
  const { defaults, list } = config.agents;
  const summarising = [defaults, ...list].flatMap(({ compaction }) => compaction?.model ?? []);
  const names = [...chains.flat(), ...summarising];
  return new Set(names.flatMap((name) => [name, `${name.slice(0, name.indexOf("/"))}/*`]));
}

/** Of all agents, each once. */
export function fallbacksOf(config: Config, home: string): string[] {
  return [...new Set(modelChains(config, home).flatMap(({ models }) => models.slice(1)))];
}

interface Settings {
  config: Config;
  environment: Environment;
}

/** The default agent's model is asked for real; of others the settings are looked at. */
function checkAgent(id: string, settings: Settings): Finding[] {
  const { config, environment } = settings;
  if (id === defaultAgentId(config)) return [];
  const { model } = agentSettings(config, environment.home, id);
  return unusable(model, settings, (why) => ({
    code: "model-agent-unusable",
    text: `the agent ${id} cannot ask ${model}: ${why}`,
  }));
}

function unusable(
  name: string,
  { config, environment }: Settings,
  tell: (why: string) => Pick<Finding, "code" | "text">,
): Finding[] {
  try {
    resolveModel({ ...modelRequest(config, environment), name });
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ level: "warning", subject: "model", ...tell(why) }];
  }
}
