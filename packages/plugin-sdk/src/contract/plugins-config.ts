// The `plugins` section of the configuration.
import { z } from "zod";

/**
 * `plugins` section of the configuration, shared by host, gateway and plugin
 * authors (contract §2.2).
 */
export const PluginsConfigSchema = z.looseObject({
  enabled: z.boolean().optional().describe("False: no plugin runs; the slots keep their values."),
  allow: z.array(z.string()).optional(),
  deny: z.array(z.string()).optional(),
  load: z.looseObject({ paths: z.array(z.string()).optional() }).optional(),
  slots: z
    .looseObject({ contextEngine: z.string().optional(), memory: z.string().optional() })
    .optional()
    .describe('Exclusive choices. contextEngine is an engine id; unset or "none" = legacy.'),
  entries: z
    .record(
      z.string(),
      z.looseObject({
        enabled: z.boolean().optional(),
        config: z.unknown().optional(),
        timeoutSeconds: z.number().positive().optional(),
        failurePolicy: z.enum(["quarantine", "retry-next-turn", "strict"]).optional(),
      }),
    )
    .optional()
    .describe(
      "Per plugin id: enabled, config, llm and hook permissions; timeoutSeconds and failurePolicy of its engines.",
    ),
});
export type PluginsConfig = z.infer<typeof PluginsConfigSchema>;
