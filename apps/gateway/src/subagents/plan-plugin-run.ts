// Decides whether a plugin may start a run in a session, and what that session is.
import { childId } from "./child.ts";
import { planSpawn, type SpawnFacts, type SpawnPlan } from "./plan-spawn.ts";

/** What a plugin asks for, of which the model was decided. */
export interface PluginRunAsk {
  pluginId: string;
  runId: string;
  /** Canonical. */
  key: string;
  agentId: string;
  task: string;
  /** "provider/model". Undefined: the agent's. */
  model: string | undefined;
  lightContext: boolean;
  /** True: whoever it runs for is told of its end. */
  delivers: boolean;
}

export function planPluginRun(ask: PluginRunAsk, facts: SpawnFacts): SpawnPlan {
  const { pluginId, runId, key, agentId, task, model, lightContext, delivers } = ask;
  const reason = whyNotThere(ask, facts);
  if (reason !== undefined) return { kind: "refused", reason };
  const plan = planSpawn({ task, agentId, model, lightContext }, facts);
  if (plan.kind === "refused") return plan;
  const plugin = { id: pluginId, runId };
  return { kind: "spawn", child: { ...plan.child, key, plugin, isAnnounced: !delivers } };
}

/** Sessions that a plugin may not run in; undefined = it may. */
function whyNotThere(
  { pluginId, key }: PluginRunAsk,
  { children }: SpawnFacts,
): string | undefined {
  if (childId(key) === undefined)
    return `Plugin "${pluginId}" may run only in sessions of its own, whose keys are "agent:<agent>:subagent:<id>" with an id of up to 200 letters, digits, ".", "_" and "-", not in "${key}".`;
  const before = children.find((child) => child.key === key);
  if (before === undefined) return undefined;
  if (before.plugin?.id !== pluginId) return notItsOwn(pluginId, key);
  return before.state === "ended"
    ? undefined
    : `A run of plugin "${pluginId}" in session "${key}" is not over; wait for ${before.plugin.runId} first.`;
}

export const notItsOwn = (pluginId: string, key: string): string =>
  `Plugin "${pluginId}" reaches only sessions that it started and did not delete, and "${key}" is none of them.`;
