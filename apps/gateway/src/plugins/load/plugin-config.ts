// The checked configuration that a plugin gets, with defaults applied.
import type { PluginManifest } from "@clew/plugin-sdk/host";
import { invalidPlugin, messageOf } from "../invalid.ts";
import { compileSchema } from "./json-schema.ts";

/** Runs before any code of the plugin. Throws PLUGIN_INVALID with every problem and its path. */
export function checkPluginConfig(manifest: PluginManifest, config: unknown): unknown {
  const { id, configSchema } = manifest;
  const result = compiled(id, configSchema).check(config ?? {});
  if (result.ok) return result.value;
  const problems = result.problems.join("; ");
  throw invalidPlugin(
    `[plugins] ${id} invalid config: ${problems}; correct plugins.entries.${id}.config.`,
  );
}

function compiled(id: string, schema: Record<string, unknown>) {
  try {
    return compileSchema(schema, { defaults: true });
  } catch (error) {
    throw invalidPlugin(
      `The manifest of plugin "${id}" is invalid: its configSchema is not a usable JSON Schema: ${messageOf(error)}.`,
      error,
    );
  }
}
