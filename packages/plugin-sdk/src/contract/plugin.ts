// What a plugin is, and the api that its `register` receives.
import type { ContextEngineFactory } from "./engine.ts";
import type { LlmCompleteParams, LlmCompleteResult } from "./runtime.ts";

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

/**
 * What `register` receives (contract §4.3). Registration methods do nothing
 * after `register` returned.
 */
export interface PluginApi {
  id: string;
  name: string;
  source: string;
  registrationMode: RegistrationMode;
  config: unknown;
  /**
   * `plugins.entries.<id>.config`, checked against the manifest's configSchema, defaults applied.
   */
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

/**
 * What a plugin module exports by default. `register` must be synchronous
 * and may run more than once.
 */
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
