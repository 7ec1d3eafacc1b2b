// Which parameters a host leaves out for an engine that says what it accepts.
import type { EngineMethod } from "./contract/engine.ts";
import type { HostAddedParam } from "./contract/info.ts";

const HOST_ADDED = [
  "sessionKey",
  "prompt",
  "runtimeSettings",
  "sessionTarget",
  "runtimeContext",
  "abortSignal",
] as const satisfies readonly HostAddedParam[];

/**
 * `params` without the host-added keys that are not in `declared`, an engine's
 * `acceptedHostParams`. `compact` keeps its abortSignal; other keys always pass.
 */
export function declaredParams(
  method: EngineMethod,
  params: object,
  declared: readonly string[],
): object {
  const dropped = new Set<string>(
    HOST_ADDED.filter(
      (key) => !declared.includes(key) && !(method === "compact" && key === "abortSignal"),
    ),
  );
  return Object.fromEntries(Object.entries(params).filter(([key]) => !dropped.has(key)));
}
