// By what the next request of a session is measured.
import type { HostSession } from "@clew/engine-core";
import { type ContextSizeInput, fixedTokensOf } from "@clew/plugin-sdk/host";
import { createMcpPort } from "../mcp/client/mcp-port.ts";
import type { PluginsInUse } from "../plugins/live-generation.ts";
import { engineRecalls } from "../plugins/offer/engine-recall.ts";
import { windowLeft } from "./harness-window.ts";
import { type HostParts, modelsOf } from "./parts.ts";
import { systemPromptOf } from "./turn-prompt.ts";
import { sizeSettings } from "./turn-settings.ts";
import { toolsAdded, withRecall } from "./turn-tools.ts";

/** By what a session's next request is measured; it may have no transcript yet. */
export async function sizingOf(
  parts: HostParts,
  session: HostSession,
  plugins: PluginsInUse | undefined,
): Promise<Omit<ContextSizeInput, "messages">> {
  const { answering } = modelsOf(parts, session.agentId, session.sessionKey);
  const { model } = answering;
  const { guard } = await parts.engines.resolve(session.agentId, {
    sessionKey: session.sessionKey,
  });
  const { owner } = guard;
  const ofPlugins = plugins?.toolsBeside(owner) ?? [];
  const skills = plugins?.skillsBeside(owner) ?? [];
  const added = await toolsAdded(parts, session, { plugins, ofPlugins, skills });
  const hostTools = parts.tools(undefined, added);
  const sources = parts.mcp?.(session) ?? [];
  const base = parts.pluginTools({
    base: sources.length === 0 ? hostTools : createMcpPort({ base: hostTools, sources }),
    tools: ofPlugins,
  });
  const contextWindow = await windowLeft(parts, session, answering);
  const recalls = engineRecalls({ owner, tools: ofPlugins, offered: base.list(session) });
  const tools = withRecall(parts, recalls, { base, branch: () => [], contextWindow });
  const systemPrompt = await systemPromptOf(parts, session, { tools, skills });
  return {
    contextWindow,
    fixedTokens: fixedTokensOf(systemPrompt, tools.list(session)),
    ...(await sizeSettings(parts, session.agentId, model)),
  };
}
