// What a plugin says about itself before any of its code runs.
import { z } from "zod";

const kind = z.union([z.string(), z.array(z.string())]);

/**
 * `openclaw.plugin.json` (contract §4.1): read without running any code of the
 * plugin. Unknown keys are kept.
 */
export const PluginManifestSchema = z.looseObject({
  id: z.string().trim().min(1).describe("Plugin id; the entry's id must equal it."),
  configSchema: z
    .record(z.string(), z.unknown())
    .describe("JSON Schema of plugins.entries.<id>.config."),
  name: z.string().optional(),
  description: z.string().optional(),
  version: z.string().optional(),
  kind: kind.optional().describe('"context-engine" takes the engine slot on install.'),
  requiresPlugins: z.array(z.string()).optional(),
  enabledByDefault: z.boolean().optional(),
  legacyPluginIds: z.array(z.string()).optional(),
  activation: z.looseObject({ onStartup: z.boolean().optional() }).optional(),
  contracts: z
    .looseObject({
      tools: z.array(z.string()).optional(),
      sessionActions: z.array(z.string()).optional(),
    })
    .optional()
    .describe("Tools and session actions the plugin may register; undeclared ones are refused."),
  commandAliases: z
    .array(z.looseObject({ name: z.string(), kind: z.string().optional() }))
    .optional(),
  skills: z.array(z.string()).optional(),
});
export type PluginManifest = z.infer<typeof PluginManifestSchema>;
