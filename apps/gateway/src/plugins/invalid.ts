// Makes the error with which a plugin is refused.
import { inspect } from "node:util";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { nearestName } from "../text/nearest.ts";

export function invalidPlugin(message: string, cause?: unknown): ContextEngineError {
  return new ContextEngineError("PLUGIN_INVALID", message, cause === undefined ? {} : { cause });
}

export function pluginNotFound(pluginId: string, known: readonly string[]): ContextEngineError {
  const nearest = nearestName(pluginId, known);
  const guess = nearest === null ? "" : ` did you mean "${nearest}"?`;
  return notOffered(
    `There is no plugin "${pluginId}";${guess} "clew plugins list" lists the existing ones.`,
  );
}

/** Nothing of that name among plugins, or in one. */
export const notOffered = (message: string): ContextEngineError =>
  new ContextEngineError("PLUGIN_NOT_FOUND", message);

/** An install, update or removal that cannot be made; nothing was changed. */
export const installFailed = (message: string, cause?: unknown): ContextEngineError =>
  new ContextEngineError("PLUGIN_INSTALL_FAILED", message, { cause });

/** What was asked for cannot be meant. */
export const requestInvalid = (message: string): ContextEngineError =>
  new ContextEngineError("REQUEST_INVALID", message);

const MOST_SHOWN = 200;

/** The message of anything that was thrown; of what is no error, what is in it. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.message}` : describe(error);
  } catch {
    return "an error that cannot be described";
  }
}

function describe(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  if ("message" in thrown && typeof thrown.message === "string") return thrown.message;
  const shown = inspect(thrown, {
    ...{ depth: 1, breakLength: Infinity, compact: true, customInspect: false },
    ...{ maxArrayLength: 10, maxStringLength: MOST_SHOWN },
  });
  return shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}…` : shown;
}
