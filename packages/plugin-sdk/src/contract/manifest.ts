// What a plugin says about itself before any of its code runs.
import { z } from "zod";

const kind = z.union([z.string(), z.array(z.string())]);

/**
 * `openclaw.plugin.json` (contract §4.1): read without running any code of the plugin. Unknown keys
 * are kept.
 */
export const PluginManifestSchema = z.looseObject({
  id: z.string().trim().min(1).describe("Plugin id; the entry's id must equal it."),
  configSchema: z
    .record(z.string(), z.unknown())
    .describe("JSON Schema of plugins.entries.<id>.config."),
  name: z.string().optional().describe("For display. Absent: the id."),
  description: z.string().optional().describe("For display, one sentence. Absent: none is shown."),
  version: z.string().optional().describe("For display. Absent: the version of package.json."),
  kind: kind
    .optional()
    .describe('"context-engine" takes the engine slot on install. Absent: no slot is taken.'),
  requiresPlugins: z
    .array(z.string())
    .optional()
    .describe("Ids of plugins that are loaded before this one, or it is not. Absent: none."),
  enabledByDefault: z
    .boolean()
    .optional()
    .describe("True: a plugin that comes with the host runs unasked. Absent: false."),
  legacyPluginIds: z
    .array(z.string())
    .optional()
    .describe("Ids it went by before. Absent: none. Kept, not read."),
  activation: z
    .looseObject({
      onStartup: z
        .boolean()
        .optional()
        .describe("True: it wants to be loaded when the host starts. Absent: when it is needed."),
    })
    .optional()
    .describe("When to load it. Absent: when it is needed. Kept, not read: all load at the start."),
  contracts: z
    .looseObject({
      tools: z
        .array(z.string())
        .optional()
        .describe("Names of the tools it may register. Absent: none."),
      sessionActions: z
        .array(z.string())
        .optional()
        .describe("Ids of the session actions it may register. Absent: none."),
    })
    .optional()
    .describe("Tools and session actions the plugin may register; undeclared ones are refused."),
  commandAliases: z
    .array(
      z.looseObject({
        name: z.string(),
        kind: z
          .string()
          .optional()
          .describe('"runtime-slash" or absent: a word for its first chat command.'),
      }),
    )
    .optional()
    .describe("More words for its first command. Absent: none."),
  backupResources: z
    .array(
      z.looseObject({
        disposition: z.string().optional().describe('"exclude": leave it out. Absent: "include".'),
        scope: z.string().optional().describe('"agent": in the folder of each agent.'),
        relativePath: z.string().optional().describe("Below the scope's folder."),
      }),
    )
    .optional()
    .describe("Files it keeps outside its own folder, for backups and rollbacks. Absent: none."),
  skills: z
    .array(z.string())
    .optional()
    .describe("Folders of skills: a SKILL.md each, or folders that have one. Absent: none."),
});

/** A manifest once it was checked; keys this version does not know are kept. */
export type PluginManifest = z.infer<typeof PluginManifestSchema>;
