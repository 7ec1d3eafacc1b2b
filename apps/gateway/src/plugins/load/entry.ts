// Finds `register` in what a plugin module exports.
import { invalidPlugin } from "../invalid.ts";

export interface PluginDefinition {
  /** What the export calls itself; undefined when it is only a function. */
  id: string | undefined;
  register: (api: unknown) => unknown;
}

/** Throws PLUGIN_INVALID when there is no register, or the export's id is not the manifest's. */
export function findDefinition(
  exported: unknown,
  expected: { pluginId: string; manifestId: string },
): PluginDefinition {
  const { pluginId, manifestId } = expected;
  const definition = search(exported);
  if (definition === undefined)
    throw invalidPlugin(
      `Plugin "${pluginId}" exports no register function; its entry must export one, or an object with one, by default.`,
    );
  if (definition.id !== undefined && definition.id !== manifestId && definition.id !== pluginId)
    throw invalidPlugin(
      `Plugin "${manifestId}" calls itself "${definition.id}" in its code and "${manifestId}" in its manifest; its author has to make them the same.`,
    );
  return definition;
}

/** Breadth first; each object once, so that an export that contains itself ends. */
function search(exported: unknown): PluginDefinition | undefined {
  const candidates = new Set<unknown>([exported]);
  for (const candidate of candidates) {
    if (typeof candidate === "function")
      return { id: undefined, register: (api) => (candidate as (given: unknown) => unknown)(api) };
    if (typeof candidate !== "object" || candidate === null) continue;
    const { id, register, default: inner, module } = candidate as Record<string, unknown>;
    // Called on its object: definitions may be class instances.
    if (typeof register === "function")
      return {
        id: typeof id === "string" ? id.trim() : undefined,
        register: (api) => register.call(candidate, api) as unknown,
      };
    candidates.add(inner).add(module);
  }
  return undefined;
}
