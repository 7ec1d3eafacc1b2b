// What the door works with.
import type { LogPort } from "@clew/engine-core";
import { agentSettings, defaultAgentId } from "../../config/agent.ts";
import type { Config } from "../../config/schema.ts";
import type { Host } from "../../host/host.ts";
import { findUpstream, type Upstream } from "../upstream/find-upstream.ts";
import type { DoorApi } from "../wires/door-wire.ts";

export interface DoorParts {
  host: Host;
  log: LogPort;
  home: string;
}

/** Whose sessions the clients' are. */
export const doorAgent = (config: Config): string => config.door.agent ?? defaultAgentId(config);

/** For what a client asks by this wire; one sentence says why there is nobody to be asked. */
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
