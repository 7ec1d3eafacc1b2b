// The hooks of the plugins that a turn runs with.
import { randomUUID } from "node:crypto";
import type { PluginsInUse } from "../plugins/live-generation.ts";
import { hookContext } from "../plugins/offer/hook-context.ts";
import { type TurnHooks, turnHooks } from "../plugins/offer/turn-hooks.ts";
import type { TurnSetup } from "./host.ts";
import { type HostParts, workspaceOf } from "./parts.ts";

export function pluginHooks(
  parts: HostParts,
  { transcript, signal, kind }: TurnSetup,
  plugins: PluginsInUse,
): TurnHooks {
  const { session } = transcript;
  const { log, loaded } = parts;
  const workspaceDir = workspaceOf(parts, session);
  const context = hookContext(session, { workspaceDir, trigger: kind, runId: randomUUID() });
  const limitBytes = loaded.config.gateway.limits.hookBytes;
  return turnHooks(plugins.hooks, { context, session, log, signal, limitBytes });
}
