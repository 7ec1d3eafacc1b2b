// What the door works with.
import type { LogPort } from "@clew/engine-core";
import { defaultAgentId } from "../../config/agent.ts";
import type { Config } from "../../config/schema.ts";
import type { Host } from "../../host/host.ts";

export interface DoorParts {
  host: Host;
  log: LogPort;
  home: string;
}

/** Whose sessions the clients' are. */
export const doorAgent = (config: Config): string => config.door.agent ?? defaultAgentId(config);
