// What a plugin is, and the api that its `register` receives.
import type { ContextEngineFactory } from "./engine.ts";
import type { PluginHooks, PluginInternalEvent } from "./hooks.ts";
import type { PluginLogger } from "./logger.ts";
import type {
  MemoryCapability,
  MemoryFlushPlanResolver,
  MemoryPromptBuilder,
  MemoryRuntime,
} from "./memory.ts";
import type {
  PluginHttpRoute,
  PluginMethod,
  PluginProgram,
  PluginProgramContext,
  PluginProgramOptions,
  PluginService,
} from "./offers.ts";
import type { LlmCompleteParams, LlmCompleteResult } from "./runtime.ts";
import type { PluginSubagents } from "./subagent.ts";

/**
 * Why `register` runs: "full" for real · "discovery" to see what there is · "tool-discovery" and
 * "cli-metadata" to see tools or commands only · "setup-only" and "setup-runtime" to set the plugin
 * up. What a mode does not take is ignored in silence.
 */
export type RegistrationMode =
  | "full"
  | "discovery"
  | "tool-discovery"
  | "setup-only"
  | "setup-runtime"
  | "cli-metadata";

/** What a tool of a plugin returns. */
export interface PluginToolResult {
  /** What the model is shown. */
  content: { type: "text"; text: string }[];
  /** Outcome for people and plugins, never sent to a model. Absent: `content` is all there is. */
  details?: unknown;
}

/**
 * A tool that a plugin offers to the agent; its name must stand in the manifest's
 * `contracts.tools`.
 */
export interface PluginTool {
  /** What the model calls it by; the host's own tools keep their names. */
  name: string;
  /** What people see. Absent: `name`. */
  label?: string;
  /** What the model decides by. */
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  /** What it does to the world. Absent: nobody knows, so a person is asked before each call. */
  annotations?: {
    /** True: it changes nothing, and runs unasked. Absent: it may change something. */
    readOnlyHint?: boolean;
  };
  /**
   * Does the work; `params` were checked against `parameters`. A throw becomes a failed result.
   * `signal` absent: an older host, the work cannot be ended.
   */
  execute(
    toolCallId: string,
    params: unknown,
    signal?: AbortSignal,
  ): Promise<PluginToolResult> | PluginToolResult;
}

/** Makes a plugin's tools for one session; nothing means that it offers none there. */
export type PluginToolFactory = (context: {
  /** The session's current transcript. Absent: there is no session, as while tools are listed. */
  sessionId?: string;
  /** Its stable name. Absent: there is no session. */
  sessionKey?: string;
  /** Whose session it is. Absent: there is none, or the host does not tell. */
  agentId?: string;
  /** The folder that the agent's engine is made with, too. Absent: the host does not tell. */
  agentDir?: string;
}) => PluginTool | PluginTool[] | null | undefined;

/** A word people type behind a slash; the host's own words come first. */
export interface PluginCommand {
  /** The word, without the slash. */
  name: string;
  /** The word by channel; "default" for all others. Absent: `name` everywhere. */
  nativeNames?: Record<string, string>;
  /** One line for `/help`. */
  description: string;
  /** True: text may follow the word. Absent: false, and text is refused. */
  acceptsArgs?: boolean;
  /** Runs the command; what it answers is shown to the person. */
  handler(context: {
    /** What followed the word, trimmed. Absent or "": nothing did. */
    args?: string;
    /** The host's whole configuration, unchecked. Absent: the host does not show it. */
    config?: unknown;
    /** Stable name of the session it was typed in. Absent: in none. */
    sessionKey?: string;
    /** Current transcript of that session. Absent: there is none yet. */
    sessionId?: string;
    /** The agent of that session. Absent: not known. */
    agentId?: string;
    /** True: the person owns the host. Absent: not known, treat it as false. */
    senderIsOwner?: boolean;
    /** Helpers of the run. Absent: there is none. */
    runtimeContext?: unknown;
  }): Promise<{ text: string }> | { text: string };
}

/** For whom a tool of the memory is made. */
export interface MemoryToolOptions {
  /** The configuration. Absent, or whatever it is: the host's own. */
  config?: unknown;
  /** Stable name of the session. Absent: the one that the tool is made for. */
  agentSessionKey?: string;
  /** Whose memory it is. Absent: that of the session's agent. */
  agentId?: string;
}

/** What of its host a plugin may use at any time; a bag, hosts add keys. */
export interface PluginRuntime {
  /** The configuration as it is now. Absent: use `api.config`, as it was. */
  config?: { current(): unknown };
  /** Model calls under the operator's policy. Absent: this host makes none for plugins. */
  llm?: { complete(params: LlmCompleteParams): Promise<LlmCompleteResult> };
  /** Loggers by name. Absent: use `api.logger`. */
  logging?: {
    getChildLogger(context: { plugin: string }): PluginLogger;
    shouldLogVerbose(): boolean;
  };
  /** Sessions of the plugin's own. Absent: this host has none for plugins. */
  subagent?: PluginSubagents;
  /** Tools that plugins offer as their own. Absent: this host makes none. */
  tools?: {
    /** Searches the chosen memory. Null: none is chosen, or it has nothing to be searched by. */
    createMemorySearchTool(options?: MemoryToolOptions): PluginTool | null;
    /** Reads it. Null: the same. */
    createMemoryGetTool(options?: MemoryToolOptions): PluginTool | null;
  };
  /** Which Clew this is. Absent: another host. */
  clew?: { version: string };
  /** Check before use: hosts differ. */
  [key: string]: unknown;
}

/**
 * What `register` receives (contract §4.3). Registration methods do nothing after `register`
 * returned.
 */
export interface PluginApi {
  /** The plugin's id, as its manifest says it. */
  id: string;
  /** For display; the id when the manifest has no name. */
  name: string;
  /** Absolute path of the module that is running. */
  source: string;
  /** Why `register` runs this time. */
  registrationMode: RegistrationMode;
  /** The host's whole configuration, unchecked. */
  config: unknown;
  /**
   * `plugins.entries.<id>.config`, checked against the manifest's configSchema, defaults applied.
   */
  pluginConfig: unknown;
  /** Where the plugin reports to its operator. */
  logger: PluginLogger;
  /** What the plugin may use of its host, now and later. */
  runtime: PluginRuntime;
  /** Offers an engine; `plugins.slots.contextEngine` selects it by this id. "legacy" is refused. */
  registerContextEngine(id: string, factory: ContextEngineFactory): void;
  /** Offers a tool, or a factory of tools that is asked once per session. */
  registerTool(
    tool: PluginTool | PluginToolFactory,
    options?: {
      /** The tools that a factory makes. Absent: any that the manifest names. */
      names?: string[];
    },
  ): void;
  /** Offers a word people can type. */
  registerCommand(command: PluginCommand): void;
  /** Asks to be told of something that happens in the host. */
  on<Name extends keyof PluginHooks>(
    hook: Name,
    handler: PluginHooks[Name],
    options?: {
      /** Higher is told earlier. Absent: 0. */
      priority?: number;
    },
  ): void;
  /** The same of hooks that other hosts have. */
  on(
    hook: string,
    handler: (event: never, context: never) => unknown,
    options?: {
      /** Higher is told earlier. Absent: 0. */
      priority?: number;
    },
  ): void;
  /** The same under older names: "command:new", "command:reset", "gateway:startup". */
  registerHook(
    events: string | string[],
    handler: (event: PluginInternalEvent) => unknown,
    options?: {
      /** What the hook is called; OpenClaw wants one. Absent: nothing. */
      name?: string;
      /** For display. Absent: nothing. */
      description?: string;
      /** Higher is told earlier. Absent: 0. */
      priority?: number;
    },
  ): void;
  /** Offers work that goes on as long as a gateway runs. */
  registerService(service: PluginService): void;
  /** Offers an address of the gateway's HTTP server. */
  registerHttpRoute(route: PluginHttpRoute): void;
  /** Offers something that others may ask by name, as in "tally.words". */
  registerGatewayMethod(name: string, handler: PluginMethod): void;
  /**
   * Offers commands of the command line. They run in a process of their own, in which `register`
   * runs with the mode "cli-metadata" and no service is started.
   */
  registerCli<Program = PluginProgram>(
    register: (context: PluginProgramContext<Program>) => unknown,
    options: PluginProgramOptions,
  ): void;
  /** Offers a memory; `plugins.slots.memory` selects it by the plugin's id. */
  registerMemoryCapability(capability: MemoryCapability): void;
  /** Older: the capability's `promptBuilder` alone. */
  registerMemoryPromptSection(builder: MemoryPromptBuilder): void;
  /** Older: the capability's `flushPlanResolver` alone. */
  registerMemoryFlushPlan(resolver: MemoryFlushPlanResolver): void;
  /** Older: the capability's `runtime` alone. */
  registerMemoryRuntime(runtime: MemoryRuntime): void;
  /** Offers more lines behind those of the selected memory, whichever plugin that is. */
  registerMemoryPromptSupplement(builder: MemoryPromptBuilder): void;
  /** Makes a path absolute: "~" is the person's home, all else starts at the plugin's folder. */
  resolvePath(path: string): string;
  /** Hosts add members; check before use. */
  [key: string]: unknown;
}

/**
 * What a plugin module exports by default. `register` must be synchronous and may run more than
 * once.
 */
export interface PluginEntry {
  /** Equals the manifest's id, or the plugin is not loaded. */
  id: string;
  /** For display. */
  name: string;
  /** For display, one sentence. Absent: the manifest's. */
  description?: string;
  /** As in the manifest, which is what hosts read. Absent: the manifest's. */
  kind?: string | string[];
  /** As in the manifest, which is what hosts check by. Absent: the manifest's. */
  configSchema?: unknown;
  /** Takes what the host offers and registers what the plugin offers. */
  register(api: PluginApi): void;
}
