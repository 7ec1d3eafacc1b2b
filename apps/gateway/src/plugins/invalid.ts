// Makes the error with which a plugin is refused.
import { ContextEngineError } from "@clew/plugin-sdk/core";

export function invalidPlugin(message: string, cause?: unknown): ContextEngineError {
  return new ContextEngineError("PLUGIN_INVALID", message, cause === undefined ? {} : { cause });
}

export const pluginNotFound = (pluginId: string): ContextEngineError =>
  notOffered(`There is no plugin "${pluginId}"; "clew plugins list" lists the existing ones.`);

/** Nothing of that name among plugins, or in one. */
export const notOffered = (message: string): ContextEngineError =>
  new ContextEngineError("PLUGIN_NOT_FOUND", message);

/** An install, update or removal that cannot be made; nothing was changed. */
export const installFailed = (message: string, cause?: unknown): ContextEngineError =>
  new ContextEngineError("PLUGIN_INSTALL_FAILED", message, { cause });

/** What was asked for cannot be meant. */
export const requestInvalid = (message: string): ContextEngineError =>
  new ContextEngineError("REQUEST_INVALID", message);

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.message}` : String(error);
  } catch {
    return "an error that cannot be described";
  }
}
