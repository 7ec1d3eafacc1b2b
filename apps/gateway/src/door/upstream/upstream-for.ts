// Finds the model server that a client's request is for, by the settings.
import { agentSettings } from "../../config/agent.ts";
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
  return findUpstream({
    ...{ api, model, config },
    agentModel: agentSettings(config, home, doorAgent(config)).model,
    named: (name) => host.namedModel(name),
  });
}
