// Finds the model server that a client's request is for, by the settings.
import { agentSettings } from "../../config/agent.ts";
import type { Config } from "../../config/schema.ts";
import { toJson } from "../../own-json.ts";
import { type DoorParts, doorAgent } from "../call/parts.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { findUpstream, type Upstream } from "./find-upstream.ts";

/** `model` as the client calls it; one sentence says why there is nobody to be asked. */
export function upstreamFor(
  { host, home }: Pick<DoorParts, "host" | "home">,
  api: DoorApi,
  model: string,
): Upstream | { problem: string } {
  const { config } = host;
  const asked = agentNamedBy(model, config);
  if (asked === undefined && model.startsWith("clew/") && !isRenamed(model, api, config))
    return {
      problem: `There is no agent ${toJson(model.slice(5))} here; name one of agents.list.`,
    };
  return findUpstream({
    ...{ api, model, config, asksAgent: asked !== undefined },
    agentModel: agentSettings(config, home, asked ?? doorAgent(config)).model,
    named: (name, key) => (key === "client" ? host.modelForClient(name) : host.namedModel(name)),
  });
}

/** The settings may have another model behind that name. */
const isRenamed = (model: string, api: DoorApi, { door }: Config): boolean =>
  Object.hasOwn(door.upstreams[api]?.models ?? {}, model);

/** "clew" is the door's own agent, "clew/<agent>" another one, as lists of models have them. */
function agentNamedBy(model: string, config: Config): string | undefined {
  if (model === "clew") return doorAgent(config);
  const agents = [doorAgent(config), ...config.agents.list.map(({ id }) => id)];
  return agents.find((id) => model === `clew/${id}`);
}
