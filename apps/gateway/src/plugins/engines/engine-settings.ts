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

/**
 * An engine that a plugin would bring if it were on or sound is no slip of the pen:
 * legacy answers, and says so.
 */
export function assertKnownEngine(
  settings: PluginsConfig,
  registry: EngineRegistry,
  plugins: PluginHost | undefined,
): void {
  assertKnown(slotValue(settings), SLOT, registry, plugins);
}

/** The same of the engine that an agent has of its own. */
export function assertKnownAgentEngine(
  { id, engine }: { id: string; engine?: string | undefined },
  registry: EngineRegistry,
  plugins: PluginHost | undefined,
): void {
  if (engine !== undefined) assertKnown(engine, `agents.list, agent "${id}"`, registry, plugins);
}

function assertKnown(
  slot: string | null,
  setting: string,
  registry: EngineRegistry,
  plugins: PluginHost | undefined,
): void {
  const known = registry.list().map(({ engineId }) => engineId);
  if (slot === null || known.includes(slot)) return;
  if (
    plugins?.ownerOf(slot) !== undefined ||
    plugins?.records().some(({ status }) => status !== "loaded")
  )
    return;
  const all = [...new Set([...known, ...bundledIds()])];
  throw new ContextEngineError(
    "ENGINE_NOT_FOUND",
    `There is no context engine "${slot}" (${setting}); known: ${all.join(", ")}. ${setting === SLOT ? `Choose one with "clew config set ${SLOT} ${known[0]}".` : "Choose one of them there."}`,
  );
}
