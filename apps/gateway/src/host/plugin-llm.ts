// A plugin's own model calls, bound to the agent it runs for.
import { completeForEngine } from "@clew/engine-core";
import { defaultAgentId } from "../config/agent.ts";
import { llmPolicyOf } from "../plugins/engines/engine-settings.ts";
import type { PluginConnection } from "../plugins/host.ts";
import { type HostParts, modelOf } from "./parts.ts";

export function completeForPlugins(parts: HostParts): PluginConnection["complete"] {
  const { engines, loaded, models, costs } = parts;
  return ({ pluginId, scope, params }) => {
    const agentId = scope?.agentId ?? defaultAgentId(loaded.config);
    const { sessionId = "", sessionKey = "", notice } = scope ?? {};
    const subject = { agentId, sessionKey, engine: null, plugin: pluginId };
    const told = { tell: scope?.sideCall, notice, for: "plugin" as const };
    const binding = {
      model: costs?.meter(models.port, subject, told) ?? models.port,
      sessionModel: modelOf(parts, agentId).model,
      session: { agentId, sessionId, sessionKey },
      ...{ pluginId, purpose: "plugin", signal: undefined },
      policy: llmPolicyOf(engines.settings(), pluginId),
    };
    return completeForEngine(binding, params);
  };
}
