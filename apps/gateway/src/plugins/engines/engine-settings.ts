// What the settings of a plugin mean for its engines.
import {
  DEFAULT_BOUNDS_MS,
  type EngineRegistry,
  type FailurePolicy,
  type LlmPolicy,
} from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { didYouMean, nearestName } from "../../text/nearest.ts";
import { bundledIds } from "../find/bundled.ts";
import { slotValue } from "../find/enablement.ts";
import type { PluginHost } from "../host.ts";

/**
 * `plugins.entries.<id>.timeoutSeconds` replaces every bound of the plugin's engines but that of
 * dispose (contract §2.4).
 */
export function engineBounds(
  plugins: PluginsConfig,
  pluginId: string | undefined,
  compactMs: number,
): Partial<typeof DEFAULT_BOUNDS_MS> {
  const seconds = pluginId === undefined ? undefined : plugins.entries?.[pluginId]?.timeoutSeconds;
  if (typeof seconds !== "number" || !(seconds > 0)) return { compact: compactMs };
  const { dispose: _kept, ...replaced } = DEFAULT_BOUNDS_MS;
  return Object.fromEntries(Object.keys(replaced).map((method) => [method, seconds * 1000]));
}

/**
 * What a failure of the plugin's engines means: `plugins.entries.<id>.failurePolicy` (contract
 * §2.7); quarantine unless told otherwise.
 */
export function failurePolicyOf(
  plugins: PluginsConfig,
  pluginId: string | undefined,
): FailurePolicy {
  return (
    (pluginId === undefined ? undefined : plugins.entries?.[pluginId]?.failurePolicy) ??
    "quarantine"
  );
}

/**
 * What the operator lets the plugin behind an engine do with models: `plugins.entries.<id>.llm`.
 */
export function llmPolicyOf(plugins: PluginsConfig, pluginId: string | undefined): LlmPolicy {
  const parsed = LlmPolicySchema.safeParse(
    pluginId === undefined ? undefined : plugins.entries?.[pluginId]?.llm,
  );
  return parsed.success ? parsed.data : {};
}

const LlmPolicySchema = z.looseObject({
  allowModelOverride: z.boolean().default(false),
  allowedModels: z.array(z.string()).default(["*"]),
});

const SLOT = "plugins.slots.contextEngine";

/** An engine that is named and not there. */
export interface MissingEngine {
  engineId: string;
  known: readonly string[];
  /** ENGINE_NOT_FOUND. */
  error: ContextEngineError;
}

/**
 * Each engine that the slot or an agent names and nobody has. One that a
 * plugin would bring if it were on or sound is no slip of the pen: legacy answers, and says so.
 */
export function missingEngines(
  settings: PluginsConfig,
  agents: readonly { id: string; engine?: string | undefined }[],
  registry: EngineRegistry,
  plugins: PluginHost | undefined,
): MissingEngine[] {
  const known = [...new Set([...registry.list().map(({ engineId }) => engineId), ...bundledIds()])];
  const named = [
    { engine: slotValue(settings), setting: SLOT },
    ...agents.map(({ id, engine = null }) => ({ engine, setting: `agents.list, agent "${id}"` })),
  ];
  return named.flatMap(({ engine, setting }) =>
    engine !== null && isMissing(engine, registry, plugins)
      ? [{ engineId: engine, known, error: engineNotThere(engine, setting, known) }]
      : [],
  );
}

function isMissing(engine: string, registry: EngineRegistry, plugins: PluginHost | undefined) {
  if (registry.list().some(({ engineId }) => engineId === engine)) return false;
  const mayComeBack =
    plugins?.ownerOf(engine) !== undefined ||
    plugins?.records().some(({ status }) => status !== "loaded");
  return mayComeBack !== true;
}

/** `setting`: where it is named. */
export function engineNotThere(
  engine: string,
  setting: string,
  known: readonly string[],
): ContextEngineError {
  const choice = nearestName(engine, known) ?? known[0];
  const cure =
    setting === SLOT
      ? `Choose one with "clew config set ${SLOT} ${choice}".`
      : "Choose one of them there.";
  return new ContextEngineError(
    "ENGINE_NOT_FOUND",
    `There is no context engine "${engine}" (${setting}); known: ${known.join(", ")}.${didYouMean(engine, known)} ${cure}`,
  );
}
