// Runs the session actions of plugins, each with a checked payload.
import { notOffered, requestInvalid } from "../invalid.ts";
import type { SessionAction } from "../load/registrations.ts";
import type { RunAs } from "../load/running.ts";
import { inRequest, type PluginScope } from "../load/scope.ts";

export type OwnedAction = SessionAction & { pluginId: string };

export interface SessionActionRequest {
  pluginId: string;
  actionId: string;
  payload: unknown;
  scope: PluginScope;
  runAs: RunAs;
}

/** Throws when there is no such action or the payload does not fit its schema. */
export async function runSessionAction(
  actions: readonly OwnedAction[],
  { pluginId, actionId, payload, scope, runAs }: SessionActionRequest,
): Promise<unknown> {
  const action = actions.find((each) => each.pluginId === pluginId && each.id === actionId);
  if (action === undefined)
    throw notOffered(
      `Plugin "${pluginId}" offers no session action "${actionId}"; "clew plugins inspect ${pluginId}" lists those it has.`,
    );
  const checked = action.schema?.check(payload);
  if (checked?.ok === false)
    throw requestInvalid(
      `Session action "${actionId}" of plugin "${pluginId}" does not take this payload: ${checked.problems.join("; ")}.`,
    );
  const { sessionKey, sessionId, agentId } = scope;
  return inRequest(scope, () =>
    runAs(pluginId, async () =>
      action.handler({ payload, pluginId, actionId, sessionKey, sessionId, agentId }),
    ),
  );
}
