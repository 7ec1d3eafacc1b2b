// Says which settings of the door name what is not there.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { agentIds, agentSettings } from "../../config/agent.ts";
import { DOOR_APIS, type UpstreamConfig } from "../../config/door.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/schema.ts";
import { modelRequest } from "../../models/model-request.ts";
import {
  isProvider,
  knownProviders,
  type ResolvedModel,
  resolveModel,
} from "../../models/resolve.ts";
import { didYouMean } from "../../text/nearest.ts";
import { doorAgent } from "../call/parts.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { findUpstream } from "./find-upstream.ts";

export interface DoorMistake {
  kind: "provider" | "model" | "agent";
  /** Sentences: what the setting names, what to do, and what happens until then. */
  text: string;
}

/** Pure. They refuse no start: what they name may be added later. */
export function mistakenDoorSettings(config: Config, environment: Environment): DoorMistake[] {
  if (!config.door.enabled) return [];
  return [
    ...mistakenAgent(config),
    ...DOOR_APIS.flatMap((api) => {
      const settings = config.door.upstreams[api];
      return settings === undefined ? [] : mistakenUpstream(api, settings, { config, environment });
    }),
  ];
}

interface Place {
  config: Config;
  environment: Environment;
}

function mistakenAgent(config: Config): DoorMistake[] {
  const { agent } = config.door;
  const known = agentIds(config);
  if (agent === undefined || known.includes(agent)) return [];
  const guess = didYouMean(agent, known);
  return [
    {
      kind: "agent",
      text: `door.agent names "${agent}", which is not in agents.list.${guess} Correct that name, or add it there; until then clients are answered by the defaults, in sessions of an agent of that name.`,
    },
  ];
}

function mistakenUpstream(
  api: DoorApi,
  { provider, model, models }: UpstreamConfig,
  { config, environment }: Place,
): DoorMistake[] {
  const request = modelRequest(config, environment);
  const setting = `door.upstreams.${api}`;
  if (provider !== undefined && !isProvider(provider, config.models)) {
    const guess = didYouMean(provider, knownProviders(request));
    return [
      {
        kind: "provider",
        text: `${setting}.provider names "${provider}", which is no provider.${guess} Correct that name, or add it to models.providers; until then requests of that wire are refused.`,
      },
    ];
  }
  const named = (name: string, key?: "client") => resolveModel({ ...request, name, key });
  const { model: agentModel } = agentSettings(config, environment.home, doorAgent(config));
  const settings = [
    ...Object.entries(models).map(([name, target]) => ({
      ...{ start: `${setting}.models names "${target}" for "${name}"`, asked: name, target },
      elsewhere: target.includes("/") ? [target] : [],
    })),
    ...(model === undefined
      ? []
      : [{ start: `${setting}.model names "${model}"`, asked: "", target: model, elsewhere: [] }]),
  ];
  return settings.flatMap(({ start, asked, target, elsewhere }) => {
    const found = findUpstream({ api, model: asked, config, agentModel, asksAgent: false, named });
    const at = "problem" in found ? provider : found.resolved.model.provider;
    const meant = [...elsewhere, ...(at === undefined ? [] : [`${at}/${target}`])];
    return mistakenModel({ start, meant, found, named });
  });
}

/** `meant`: any of these is what the setting names. */
function mistakenModel({
  start,
  meant,
  found,
  named,
}: {
  start: string;
  meant: readonly string[];
  found: ReturnType<typeof findUpstream>;
  named: (name: string) => ResolvedModel;
}): DoorMistake[] {
  const asked = "problem" in found ? undefined : found.resolved.name;
  if (asked !== undefined && meant.includes(asked)) return [];
  const [why = "problem" in found ? found.problem : ""] = meant.flatMap((name) =>
    whyNot(name, named),
  );
  const until = asked === undefined ? "its requests are refused" : `${asked} is asked in its place`;
  return [
    {
      kind: "model",
      text: `${start}, which cannot be asked. ${why} Correct this; until then ${until}.`,
    },
  ];
}

/** Nothing: it can be asked. */
function whyNot(name: string, named: (name: string) => ResolvedModel): string[] {
  try {
    named(name);
    return [];
  } catch (error) {
    if (ContextEngineError.is(error, "CONFIG_INVALID")) return [error.message];
    throw error;
  }
}
