// The checked configuration that a plugin gets, with defaults applied.
import { isDeepStrictEqual } from "node:util";
import type { PluginManifest, PluginsConfig } from "@clew/plugin-sdk/host";
import type { PluginFiles } from "../find/manifest.ts";
import { invalidPlugin, messageOf } from "../invalid.ts";
import { compileSchema, type SchemaCheck } from "./json-schema.ts";

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

/** What a change of settings comes to for one plugin; null: nothing to be told of. */
export type SettingsVerdict = { isRefused: boolean; text: string } | null;

/**
 * Pure. A change is refused for what it makes wrong itself; of what was wrong or missing before,
 * which may be mended in any order, it is only told. `path`: of the setting that was changed.
 */
export function judgeSettings(
  { manifest, entries }: PluginFiles,
  { path, before, after }: SettingsChange,
): SettingsVerdict {
  for (const { pluginId } of entries) {
    const [was, now] = [before, after].map((plugins) => configIn(plugins, pluginId, manifest));
    if (isDeepStrictEqual(was, now)) continue;
    const known = problemsOf(manifest, was).problems;
    const { problems, paths } = problemsOf(manifest, now);
    const own = path.slice(4).join(".");
    const fresh = problems.filter(
      (problem, index) => !known.includes(problem) || (own !== "" && paths[index] === own),
    );
    if (fresh.length > 0)
      return {
        isRefused: true,
        text: `plugin "${manifest.id}" does not take it: ${fresh.join("; ")}`,
      };
    if (problems.length > 0)
      return {
        isRefused: false,
        text: `plugin "${manifest.id}" stays off: ${problems.join("; ")}.`,
      };
  }
  return null;
}

export interface SettingsChange {
  path: readonly (string | number)[];
  before: PluginsConfig;
  after: PluginsConfig;
}

const configIn = ({ entries = {} }: PluginsConfig, pluginId: string, { id }: PluginManifest) =>
  (entries[pluginId] ?? entries[id])?.config;

/** Without a usable schema nothing is known to be wrong: its load will tell. */
function problemsOf({ id, configSchema }: PluginManifest, config: unknown): Problems {
  const none = { problems: [], paths: [] };
  try {
    const result = compiled(id, configSchema).check(config ?? {});
    return result.ok ? none : result;
  } catch {
    return none;
  }
}

/** Each with the path of the setting that it is about. */
type Problems = Pick<Extract<SchemaCheck, { ok: false }>, "problems" | "paths">;

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
