// The one way a plugin is refused: PLUGIN_INVALID with a sentence that names the plugin or its folder.
import { ContextEngineError } from "@clew/plugin-sdk/core";

export function invalidPlugin(message: string, cause?: unknown): ContextEngineError {
  return new ContextEngineError("PLUGIN_INVALID", message, cause === undefined ? {} : { cause });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
