// What one agent's settings are, from the defaults and its own entry in `agents.list`.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { DEFAULT_AGENT_ID } from "../sessions/keys.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { CompactionConfig } from "./compaction.ts";
import type { Config } from "./schema.ts";

export interface AgentSettings {
  id: string;
  /** "provider/model". */
  model: string;
  /** The same of those that answer where it cannot, in order. */
  fallbacks: readonly string[];
  /** Absolute; it need not exist. */
  workspace: string;
  /** True: a person named it; false: it is the one in the home, which may be made. */
  isWorkspaceSet: boolean;
  /** Registered id of its own context engine; undefined = the one of the slot. */
  engine: string | undefined;
  /** Registered id of the engine that its turns are compared with; undefined = none. */
  shadowEngine: string | undefined;
  /** Name of the program that runs its turns. */
  harness: string;
  /** Caps its models' windows, tokens; undefined = nothing does. */
  contextTokens: number | undefined;
  compaction: CompactionConfig;
}

/** An agent without an entry has the defaults. */
export function agentSettings(config: Config, home: string, agentId: string): AgentSettings {
  const { defaults, list } = config.agents;
  const own = list.find(({ id }) => id === agentId);
  const workspace = own?.workspace ?? defaults.workspace;
  const shadow = own?.shadowEngine ?? defaults.shadowEngine;
  return {
    id: agentId,
    model: (own?.model ?? defaults.model).primary,
    fallbacks: own?.model?.fallbacks ?? defaults.model.fallbacks ?? [],
    workspace:
      workspace === undefined ? agentPaths(home, agentId).workspace : expandHome(workspace),
    isWorkspaceSet: workspace !== undefined,
    engine: own?.engine,
    shadowEngine: shadow === "none" ? undefined : shadow,
    harness: own?.harness ?? defaults.harness,
    contextTokens: own?.contextTokens ?? defaults.contextTokens,
    compaction: { ...defaults.compaction, ...own?.compaction },
  };
}

/** Whom one agent asks. */
export interface ModelChain {
  agent: string;
  /** "provider/model": the one of the settings, then those that answer where it cannot. */
  models: readonly [string, ...string[]];
}

/** Each once; the one that answers when none is named comes first. */
export const agentIds = (config: Config): string[] => [
  ...new Set([defaultAgentId(config), ...config.agents.list.map(({ id }) => id)]),
];

/** Of every agent, in the same order. */
export function modelChains(config: Config, home: string): ModelChain[] {
  return agentIds(config).map((agent) => {
    const { model, fallbacks } = agentSettings(config, home, agent);
    return { agent, models: [model, ...fallbacks] };
  });
}

/** Who answers when no agent is named. */
export function defaultAgentId(config: Config): string {
  return (
    config.agents.list.find((agent) => agent.default === true)?.id ??
    config.agents.list[0]?.id ??
    DEFAULT_AGENT_ID
  );
}

function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(path);
}
