// How much of a model's window the program that runs a session's turns leaves to them.
import type { HostSession } from "@clew/engine-core";
import type { ResolvedModel } from "../models/resolve.ts";
import { agentOf, type HostParts } from "./parts.ts";

/** Tokens, never more than the model holds; without a program all of them. */
export async function windowLeft(
  parts: HostParts,
  session: HostSession,
  model: ResolvedModel,
): Promise<number> {
  const { contextWindow } = model.model;
  const harness = await parts.harnesses.find(agentOf(parts, session.agentId).harness);
  if (harness == null) return contextWindow;
  // Nothing is begun: it is only asked for its window.
  const port = harness.port({
    ...{ session, model, workspace: parts.environment.home, readOnly: true },
    signInHeaders: () => Promise.resolve({}),
  });
  return Math.min(contextWindow, port.windowTokens?.(session, model.model) ?? contextWindow);
}
