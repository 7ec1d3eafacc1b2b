// Offers a played turn what was recorded, with the tools of the engine that plays.
import type { ToolPort } from "@clew/engine-core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import { gatewayTools } from "../recall/gateway-tools.ts";
import { SESSION_TOOLS } from "../recall/record-text.ts";
import type { TurnClient } from "./turn-client.ts";

export interface EngineToolsRequest {
  /** What the recording's calls were offered; it also answers. */
  recorded: ToolPort;
  /** What a turn of the engine that plays is offered by the host and its plugins. */
  own: ToolPort;
  /** Names of tools that come with an engine. */
  ofEngines: ReadonlySet<string>;
}

const ofHost: ReadonlySet<string> = new Set(Object.values(SESSION_TOOLS));

/**
 * Those of the engine that answered then, and the host's in their place, are left out; who adds the
 * host's where this engine has none is the host.
 */
export function withEngineTools({ recorded, own, ofEngines }: EngineToolsRequest): ToolPort {
  return {
    list: (session) => [
      ...recorded.list(session).filter(({ name }) => !ofEngines.has(name) && !ofHost.has(name)),
      ...own.list(session).filter(({ name }) => ofEngines.has(name)),
    ],
    run: (request) => recorded.run(request),
  };
}

/**
 * Pure. Which of its own tools the gateway offered beside those that a program brought: all where
 * one of them works in the workspace or comes with an engine.
 */
export function ownToolsIn(
  recorded: readonly Pick<ToolDefinition, "name">[],
  ofEngines: ReadonlySet<string>,
): TurnClient["ownTools"] {
  const ofAll = new Set([...gatewayTools().filter((name) => !ofHost.has(name)), ...ofEngines]);
  if (recorded.some(({ name }) => ofAll.has(name))) return "all";
  return recorded.some(({ name }) => ofHost.has(name)) ? "recall" : "none";
}
