// What a plugin is: its manifest, its entry, and the api that `register` receives.
import { z } from "zod";
import type { ContextEngineFactory } from "./engine.ts";
import type { LlmCompleteParams, LlmCompleteResult } from "./runtime.ts";

const kind = z.union([z.string(), z.array(z.string())]);

/** `openclaw.plugin.json` (contract §4.1): read without running any code of the plugin. Unknown keys are kept. */
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

/** `plugins` section of the configuration, shared by host, gateway and plugin authors (contract §2.2). */
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

export type RegistrationMode =
  | "full"
  | "discovery"
  | "tool-discovery"
  | "setup-only"
  | "setup-runtime"
  | "cli-metadata";

export interface PluginLogger {
  info(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
  debug?(message: string, ...details: unknown[]): void;
}

export interface PluginToolResult {
  content: { type: "text"; text: string }[];
  details?: unknown;
}

export interface PluginTool {
  name: string;
  label?: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  execute(
    toolCallId: string,
    params: unknown,
    signal?: AbortSignal,
  ): Promise<PluginToolResult> | PluginToolResult;
}

export type PluginToolFactory = (context: {
  sessionId?: string;
  sessionKey?: string;
}) => PluginTool | PluginTool[] | null | undefined;

export interface PluginCommand {
  name: string;
  nativeNames?: Record<string, string>;
  description: string;
  acceptsArgs?: boolean;
  handler(context: {
    args?: string;
    config?: unknown;
    sessionKey?: string;
    sessionId?: string;
    agentId?: string;
    senderIsOwner?: boolean;
    runtimeContext?: unknown;
  }): Promise<{ text: string }> | { text: string };
}

export interface PluginRuntime {
  config?: { current(): unknown };
  llm?: { complete(params: LlmCompleteParams): Promise<LlmCompleteResult> };
  logging?: {
    getChildLogger(context: { plugin: string }): PluginLogger;
    shouldLogVerbose(): boolean;
  };
  [key: string]: unknown;
}

/** What `register` receives (contract §4.3). Registration methods do nothing after `register` returned. */
export interface PluginApi {
  id: string;
  name: string;
  source: string;
  registrationMode: RegistrationMode;
  config: unknown;
  /** `plugins.entries.<id>.config`, checked against the manifest's configSchema, defaults applied. */
  pluginConfig: unknown;
  logger: PluginLogger;
  runtime: PluginRuntime;
  registerContextEngine(id: string, factory: ContextEngineFactory): void;
  registerTool(tool: PluginTool | PluginToolFactory, options?: { names?: string[] }): void;
  registerCommand(command: PluginCommand): void;
  on(
    hook: string,
    handler: (event: never, context: never) => unknown,
    options?: { priority?: number },
  ): void;
  resolvePath(path: string): string;
  [key: string]: unknown;
}

/** What a plugin module exports by default. `register` must be synchronous and may run more than once. */
export interface PluginEntry {
  id: string;
  name: string;
  description?: string;
  kind?: string | string[];
  configSchema?: unknown;
  register(api: PluginApi): void;
}

/** Returns `entry` as it is: gives editors the types and hosts the shape. */
export function definePluginEntry<Entry extends PluginEntry>(entry: Entry): Entry {
  return entry;
}
