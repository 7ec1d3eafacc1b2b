// The schema of the whole configuration, put together from its sections.
import { PluginsConfigSchema } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { AgentsConfigSchema } from "./agents.ts";
import { DiagnosticsConfigSchema } from "./diagnostics.ts";
import { DoorConfigSchema } from "./door.ts";
import { GatewayConfigSchema } from "./gateway.ts";
import { HarnessConfigSchema } from "./harness.ts";
import { LoggingConfigSchema } from "./logging.ts";
import { McpConfigSchema } from "./mcp.ts";
import { MemoryConfigSchema } from "./memory.ts";
import { ModelsConfigSchema } from "./models.ts";
import { SessionConfigSchema } from "./session.ts";
import { StorageConfigSchema } from "./storage.ts";
import { ToolsConfigSchema } from "./tools.ts";

/**
 * The shape of `openclaw.json` wherever both have the thing. Unknown keys are warned about
 * (unknown-keys.ts), not refused.
 */
export const ConfigSchema = z.object({
  $schema: z.string().optional(),
  agents: AgentsConfigSchema.prefault({}).describe("Who answers."),
  models: ModelsConfigSchema.prefault({}).describe("Where models are."),
  plugins: PluginsConfigSchema.prefault({}).describe("Context engines and other plugins."),
  harness: HarnessConfigSchema.prefault({}).describe("Programs that run agents' turns."),
  memory: MemoryConfigSchema.prefault({}).describe("What is remembered across sessions."),
  session: SessionConfigSchema.prefault({}).describe("Sessions."),
  storage: StorageConfigSchema.prefault({}).describe("Where sessions are kept."),
  tools: ToolsConfigSchema.prefault({}).describe("Tools that change something."),
  mcp: McpConfigSchema.prefault({}).describe("Servers whose tools agents may use."),
  gateway: GatewayConfigSchema.prefault({}).describe("The HTTP server."),
  door: DoorConfigSchema.prefault({}).describe("What other clients may ask for."),
  logging: LoggingConfigSchema.prefault({}).describe("The log."),
  diagnostics: DiagnosticsConfigSchema.prefault({}).describe("What others are told of turns."),
});
export type Config = z.infer<typeof ConfigSchema>;

/** JSON Schema of the file, for editors. */
export function configJsonSchema(): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(ConfigSchema, { io: "input" });
}
