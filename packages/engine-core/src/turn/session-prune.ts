// When old tool results are shortened in every view.
import type { ModelRef } from "@clew/plugin-sdk/host";
import type { SessionPruneSettings } from "@clew/plugin-sdk/transcript";

/**
 * Off unless a mode is set; then the model's own cache time is used, unless a time is set too.
 */
export function sessionPruneSettings(
  model: ModelRef,
  settings: Partial<SessionPruneSettings> = {},
): Partial<SessionPruneSettings> {
  const { cacheTtlMs } = model;
  return { mode: "off", ...(cacheTtlMs !== undefined && { ttlMs: cacheTtlMs }), ...settings };
}
