// What a plugin's own process is told, and what it tells of the plugin.
import type {
  EngineFactoryContext,
  PluginToolFactory,
  RegistrationMode,
} from "@clew/plugin-sdk/core";
import type { PluginFiles } from "../find/manifest.ts";
import type { LoadContext } from "../load/load-plugin.ts";
import type { Diagnostic, Registrations } from "../load/registrations.ts";
import type { Peer } from "./peer.ts";

/** A process in which the plugin is loaded. */
export interface PluginProcess {
  peer: Peer;
  offer: IsolatedOffer;
}

/** Thrown at who asks for a process while it is being started again. */
export class NotRunning extends Error {}

/** What it is told to load. */
export interface IsolatedOrder {
  files: PluginFiles;
  entry: PluginFiles["entries"][number];
  home: string;
  mode: RegistrationMode;
  /** The whole configuration. */
  config: unknown;
  entryConfig: LoadContext["entryConfig"];
  /** A session of each agent, for which tools are listed; the default agent's comes first. */
  listedFor: readonly ToolContext[];
}

/** What a factory of tools is told. */
export type ToolContext = Parameters<PluginToolFactory>[0];

/** What the plugin offers; functions stay where they are. */
export interface IsolatedOffer {
  engines: string[];
  tools: ListedTools[];
  commands: { [field: string]: unknown; name: string; description: string }[];
  diagnostics: Diagnostic[];
}

/** One registration of tools. */
export interface ListedTools {
  names: readonly string[] | undefined;
  /** As they are in a session of each agent, but for their functions. */
  tools: { agentId: string | undefined; made: { [field: string]: unknown; name: string }[] }[];
}

/** An engine, as it is right after it was made. */
export interface MadeEngine {
  /** By which it is called. */
  number: number;
  info: SaidInfo;
  /** Of the contract, and others: all functions that it has. */
  methods: string[];
}

export type SaidInfo = { ok: true; info: unknown } | { ok: false; reason: string };

/** What an engine's call needs of the host besides its parameters. */
export interface CallHelp {
  /** The built-in compaction. Absent: there is none. */
  compaction?: unknown;
  /** The memory section of the run. Absent: it has none. */
  memory?: unknown;
}

/** What an engine's call comes to. */
export interface EngineAnswer {
  value: unknown;
  /** Absent: it says what it said before. */
  info?: SaidInfo;
}

export interface ToolRequest {
  /** Among the registrations of tools. */
  place: number;
  name: string;
  /** What the factory is given. */
  context: ToolContext;
  callId: string;
  params: unknown;
  /** Absent: the call cannot be ended. */
  signal?: AbortSignal;
}

export interface MakeRequest {
  engineId: string;
  context: EngineFactoryContext | undefined;
}

/** Pure. What it used of the api that only a plugin in the gateway's process has. */
export function usedBeyond({
  hooks,
  actions,
  memory,
  memorySupplements,
  offers,
  members,
}: Registrations): string[] {
  const { services, programs, routes, methods } = offers;
  // What its author wrote, where several members do the same.
  const memories = [...members].filter((member) => member.startsWith("registerMemory"));
  const uses: [used: boolean, names: readonly string[]][] = [
    [hooks.length > 0, ["on", "registerHook"].filter((member) => members.has(member))],
    [actions.length > 0, ["session.controls.registerSessionAction"]],
    [memory !== undefined, memories],
    [memorySupplements.length > 0, ["registerMemoryPromptSupplement"]],
    [services.length > 0, ["registerService"]],
    [programs.length > 0, ["registerCli"]],
    [routes.length > 0, ["registerHttpRoute"]],
    [methods.length > 0, ["registerGatewayMethod"]],
  ];
  return uses.flatMap(([used, names]) => (used ? names.map((name) => `api.${name}`) : []));
}

/** Pure. How long to wait before a process is started again; `deaths`: when they ended, ms. */
export function planRestart(deaths: readonly number[], now: number): { pauseMs: number } {
  const lately = deaths.filter((at) => now - at < 60_000).length;
  return { pauseMs: lately <= 3 ? 0 : Math.min(60_000, 1000 * 2 ** (lately - 4)) };
}

/** How long a process has owed an answer. */
export interface Silence {
  silentMs: number;
  /** On a clock that only goes forward, ms. */
  lookedAt: number;
  /** How long until then it would have run and others had the processor. */
  queuedMs: number;
}

/**
 * Pure. Time in which it could not have answered does not count: others had the processor, or who
 * asks did not come to look, for which the answer may have been waiting.
 */
export function planSilence(
  before: Silence,
  { now, queuedMs }: { now: number; queuedMs: number },
  everyMs: number,
): Silence {
  const waited = Math.max(0, queuedMs - before.queuedMs);
  const passed = Math.min(now - before.lookedAt - waited, 2 * everyMs);
  return { silentMs: before.silentMs + Math.max(0, passed), lookedAt: now, queuedMs };
}
