// The `plugins` section of the configuration.
import { z } from "zod";

/** Which models a plugin may name. */
const modelPermissions = () => ({
  allowModelOverride: z
    .boolean()
    .optional()
    .describe("True: it may name another model than the session's. Absent: it may not."),
  allowedModels: z
    .array(z.string())
    .optional()
    .describe('Models it may name then, as "provider/model". Absent, or with "*": any.'),
});

/**
 * `plugins` section of the configuration, shared by host, gateway and plugin authors (contract
 * §2.2).
 */
export const PluginsConfigSchema = z.looseObject({
  enabled: z
    .boolean()
    .optional()
    .describe("False: no plugin runs; the slots keep their values. Absent: true."),
  allow: z
    .array(z.string())
    .optional()
    .describe("Ids of the only plugins that may run, beside selected ones. Absent or empty: all."),
  deny: z
    .array(z.string())
    .optional()
    .describe("Ids of plugins that never run, selected or not. Absent: none."),
  load: z
    .looseObject({
      paths: z
        .array(z.string())
        .optional()
        .describe("Folders of plugins that are used where they are. Absent: none."),
    })
    .optional()
    .describe("Where else plugins are looked for. Absent: where they are installed only."),
  slots: z
    .looseObject({
      contextEngine: z
        .string()
        .optional()
        .describe('An engine id. Absent, blank or "none": legacy.'),
      memory: z
        .string()
        .optional()
        .describe("Id of the plugin that remembers for the agent. Absent: none does."),
    })
    .optional()
    .describe('Exclusive choices. contextEngine is an engine id; unset or "none" = legacy.'),
  entries: z
    .record(
      z.string(),
      z.looseObject({
        enabled: z
          .boolean()
          .optional()
          .describe("False: the plugin never runs. Absent: true for installed plugins."),
        config: z
          .unknown()
          .optional()
          .describe("Checked by the manifest's configSchema. Absent: its defaults."),
        ownHome: z
          .boolean()
          .optional()
          .describe(
            "False: what the plugin finds as the home folder is the person's. Absent: true, its own folder below plugin-data.",
          ),
        timeoutSeconds: z
          .number()
          .positive()
          .optional()
          .describe(
            "Longest call of one of its engines, but for dispose. Absent: 30 for most methods, 120 for bootstrap; compact follows agents.defaults.compaction.timeoutSeconds.",
          ),
        failurePolicy: z
          .enum(["quarantine", "retry-next-turn", "strict"])
          .optional()
          .describe('What a failure of one of its engines means. Absent: "quarantine".'),
        llm: z
          .looseObject(modelPermissions())
          .optional()
          .describe("What its own model calls may do. Absent: they use the session's model."),
        subagent: z
          .looseObject(modelPermissions())
          .optional()
          .describe("What sessions that it starts may do. Absent: they use the agent's model."),
        hooks: z
          .looseObject({
            allowPromptInjection: z
              .boolean()
              .optional()
              .describe("False: its hooks add nothing to prompts. Absent: they may."),
            allowConversationAccess: z
              .boolean()
              .optional()
              .describe(
                "True: its hooks see the conversation. Absent: those of an engine's plugin do.",
              ),
          })
          .optional()
          .describe("What its hooks may do. Absent: as their own defaults say."),
        tools: z
          .looseObject({
            allow: z
              .array(z.string())
              .optional()
              .describe("Tools of it that run without a question. Absent: those that only read."),
            deny: z
              .array(z.string())
              .optional()
              .describe("Tools of it that no model is offered. Absent: none."),
          })
          .optional()
          .describe(
            "Which of its tools are offered, and which ask. Absent: all; most of them ask.",
          ),
        isolation: z
          .literal("process")
          .optional()
          .describe(
            '"process": its engines, tools and commands run in a process of their own. Absent: in the host\'s.',
          ),
      }),
    )
    .optional()
    .describe(
      "Per plugin id: enabled, config, ownHome, llm and hook permissions; timeoutSeconds and failurePolicy of its engines.",
    ),
});

/** The section once it was checked; keys this version does not know are kept. */
export type PluginsConfig = z.infer<typeof PluginsConfigSchema>;
