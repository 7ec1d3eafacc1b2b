// Decides which model answers in a session that a plugin starts.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { z } from "zod";

/** The model that a plugin may have, or why not. */
export type OverridePlan =
  | { kind: "agents" }
  | { kind: "override"; model: string }
  | { kind: "refused"; reason: string };

const PolicySchema = z.looseObject({
  allowModelOverride: z.boolean().default(false),
  allowedModels: z.array(z.string()).optional(),
});

/** `plugins.entries.<id>.subagent` decides; plugins know these sentences by their words. */
export function planOverride(
  asked: { provider?: string | undefined; model?: string | undefined },
  { pluginId, plugins }: { pluginId: string; plugins: PluginsConfig },
): OverridePlan {
  const provider = asked.provider?.trim() ?? "";
  const model = asked.model?.trim() ?? "";
  if (provider === "" && model === "") return { kind: "agents" };
  const setting = (name: string) => `plugins.entries.${pluginId}.subagent.${name}`;
  const refused = (reason: string): OverridePlan => ({ kind: "refused", reason });
  const policy = PolicySchema.safeParse(plugins.entries?.[pluginId]?.subagent).data;
  if (policy?.allowModelOverride !== true)
    return refused(
      `provider/model override is not authorized for this plugin subagent run: ${setting("allowModelOverride")} is not true.`,
    );
  if (model === "")
    return refused(`A provider alone names no model; plugin "${pluginId}" has to name one.`);
  const name = provider === "" || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
  const { allowedModels = ["*"] } = policy;
  return allowedModels.includes("*") || allowedModels.includes(name)
    ? { kind: "override", model: name }
    : refused(
        `model override "${name}" is not allowlisted for plugin "${pluginId}" (${setting("allowedModels")}).`,
      );
}
