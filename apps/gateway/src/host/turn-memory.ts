// Joins the tools, the section and the flush of the chosen memory to a turn.
import {
  FALLBACK_ENGINE_ID,
  type HookPort,
  type HostSession,
  type ToolPort,
} from "@clew/engine-core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import type { PluginsInUse } from "../plugins/live-generation.ts";
import type { RunAs } from "../plugins/load/running.ts";
import { NO_MEMORY } from "../plugins/memory/choose-memory.ts";
import { withFlush } from "../plugins/memory/flush/flush-hooks.ts";
import type { FlushSubject } from "../plugins/memory/flush/flushes.ts";
import { prepareMemory, type TurnMemory, toolsOfMemory } from "../plugins/memory/turn-memory.ts";
import type { OwnedTool } from "../plugins/offer/tools.ts";
import type { Tool } from "../tools/tool.ts";
import type { TurnSetup } from "./host.ts";
import type { HostParts } from "./parts.ts";

/** Those that search and read, where it can; `ofPlugins` are offered as well. */
export const memoryToolsOf = (
  parts: HostParts,
  session: HostSession,
  { plugins, ofPlugins }: { plugins: PluginsInUse | undefined; ofPlugins: readonly OwnedTool[] },
): Promise<Tool[]> =>
  toolsOfMemory(plugins?.memory ?? NO_MEMORY, ofPlugins, {
    session,
    ...{ runAs: runAsOf(parts), cfg: parts.loaded.raw, log: parts.log },
    citations: parts.loaded.config.memory.citations,
  });

/** What it says in the system prompt of this turn. */
export function memoryOfTurn(
  parts: HostParts,
  { transcript: { session }, signal }: TurnSetup,
  {
    plugins,
    engineId,
    model,
    tools,
  }: { plugins: PluginsInUse | undefined; engineId: string; model: ModelRef; tools: ToolPort },
): Promise<TurnMemory> {
  const { gateway, memory } = parts.loaded.config;
  return prepareMemory({
    memory: plugins?.memory ?? NO_MEMORY,
    ...{ session, signal, runAs: runAsOf(parts), log: parts.log, citations: memory.citations },
    tools: tools.list(session).map(({ name }) => name),
    isShownByHost: engineId === FALLBACK_ENGINE_ID,
    // Text of a quarter of the window is as much as a prompt can bear.
    limitBytes: Math.min(gateway.limits.hookBytes, model.contextWindow),
  });
}

/** A memory that stores before a compaction is told of it like the plugins' hooks. */
export function hooksOf(
  { plugins, flushes }: HostParts,
  { hooks, subject }: { hooks: HookPort | undefined; subject: () => FlushSubject },
): { hooks?: HookPort } {
  if (plugins?.memory().chosen?.capability.flushPlanResolver !== undefined)
    return { hooks: withFlush(hooks, { flushes, subject }) };
  return hooks === undefined ? {} : { hooks };
}

const runAsOf = ({ plugins }: HostParts): RunAs => plugins?.runAs ?? ((_pluginId, work) => work());
