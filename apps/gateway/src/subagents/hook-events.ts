// What hooks of plugins are told of a child session that begins or ends.
import { type Child, childId } from "./child.ts";

type Told = [event: object, context: object];

const runIdOf = ({ key, plugin }: Child) => plugin?.runId ?? childId(key) ?? key;

const contextOf = (child: Child) => ({
  runId: runIdOf(child),
  childSessionKey: child.key,
  requesterSessionKey: child.parent.key,
});

/** Pure. */
export function spawnedEvent(child: Child): Told {
  const { key: childSessionKey, agentId, label, contextMode, parent } = child;
  const event = {
    ...{ runId: runIdOf(child), childSessionKey, agentId, contextMode },
    ...{ mode: "run", threadRequested: false, requester: { sessionKey: parent.key } },
    ...(label !== null && { label }),
  };
  return [event, contextOf(child)];
}

/** In the words of plugins. */
const OUTCOMES = {
  completed: "ok",
  failed: "error",
  cancelled: "killed",
  timeout: "timeout",
  lost: "error",
} as const;

/** Pure. Of a child that has ended. */
export function endedEvent(child: Child): Told {
  const { key: targetSessionKey, end } = child;
  const reason = end?.reason ?? null;
  const event = {
    ...{ runId: runIdOf(child), targetSessionKey, targetKind: "subagent" },
    ...{ reason: end?.notice ?? "completed", outcome: OUTCOMES[end?.outcome ?? "completed"] },
    ...{ endedAt: end?.at ?? child.startedAt },
    ...(reason !== null && { error: reason }),
  };
  return [event, contextOf(child)];
}
