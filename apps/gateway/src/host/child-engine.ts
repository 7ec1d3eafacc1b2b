// Tells the engine that answers a session about those that it starts.
import {
  assertHostSupport,
  needsPreparation,
  notifySubagentEnded,
  prepareSubagentSpawn,
} from "@clew/engine-core";
import { inPluginScope } from "../plugins/load/scope.ts";
import type { HostParts } from "./parts.ts";
import type { EndedChild, PreparedChild, SpawnRequest } from "./spawn-request.ts";
import { hostOfAgent } from "./turn-harness.ts";

/** Throws when the engine cannot prepare: then the child must not start. */
export function prepareChild(parts: HostParts, request: SpawnRequest): Promise<PreparedChild> {
  const { parent, contextMode, lightContext, boundMs, signal, begin } = request;
  return inPluginScope(parent, async () => {
    const { agentId, sessionKey, sessionFile } = parent;
    const engine = await parts.engines.resolve(agentId, { sessionKey, signal });
    const host = await hostOfAgent(parts, agentId);
    if (contextMode === "fork") assertHostSupport(engine.guard.info(), "subagent-spawn", host);
    const child = await begin();
    const prepared = await prepareSubagentSpawn({
      ...{ engine, lightContext, signal, host, log: parts.log },
      params: {
        ...{ parentSessionKey: sessionKey, parentSessionId: parent.sessionId },
        ...{ childSessionKey: request.childSessionKey, childSessionId: child.sessionId },
        ...(sessionFile !== undefined && { parentSessionFile: sessionFile }),
        ...(child.sessionFile !== undefined && { childSessionFile: child.sessionFile }),
        ...{ contextMode, ttlMs: boundMs },
      },
    });
    const wasAsked = needsPreparation({ contextMode, lightContext });
    const { engineId } = engine.guard;
    return { preparedBy: wasAsked ? engineId : null, rollback: prepared.rollback };
  });
}

/** Best effort: what the engine says to it is a line in the log. */
export function childEnded(
  parts: HostParts,
  { parent, preparedBy, childSessionKey, reason }: EndedChild,
): Promise<void> {
  return inPluginScope(parent, async () => {
    const { agentId, sessionKey } = parent;
    const slot = preparedBy ?? undefined;
    const engine = await parts.engines.resolve(agentId, { sessionKey, slot });
    await notifySubagentEnded({ engine, params: { childSessionKey, reason }, log: parts.log });
  });
}
