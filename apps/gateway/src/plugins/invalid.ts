// The one way a plugin is refused: PLUGIN_INVALID with a sentence that names the plugin or its folder.
import { ContextEngineError } from "@clew/plugin-sdk/core";

export function invalidPlugin(message: string, cause?: unknown): ContextEngineError {
  return new ContextEngineError("PLUGIN_INVALID", message, cause === undefined ? {} : { cause });
}

/** No plugin of that name, or nothing of that name in it. */
export const pluginNotFound = (message: string): ContextEngineError =>
  new ContextEngineError("PLUGIN_NOT_FOUND", message);

/** An install, update or removal that cannot be made; nothing was changed. */
export const installFailed = (message: string, cause?: unknown): ContextEngineError =>
  new ContextEngineError("PLUGIN_INSTALL_FAILED", message, { cause });

/** What was asked for cannot be meant. */
export const requestInvalid = (message: string): ContextEngineError =>
  new ContextEngineError("REQUEST_INVALID", message);

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
