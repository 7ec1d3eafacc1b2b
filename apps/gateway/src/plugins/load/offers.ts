// What plugins offer beside engines, tools, commands and hooks.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { PluginLogger } from "@clew/plugin-sdk/core";

/** What a service is started and stopped with. */
export interface ServiceContext {
  /** The host's whole configuration, unchecked. */
  config: unknown;
  /** Folder that the default agent works in. */
  workspaceDir: string;
  /** Folder in which the plugin keeps its files; it is there. */
  stateDir: string;
  logger: PluginLogger;
}

/** Work that goes on as long as a gateway runs. */
export interface RegisteredService {
  /** Unique within its plugin. */
  id: string;
  start(context: ServiceContext): unknown;
  /** Absent: there is nothing to end. */
  stop?: ((context: ServiceContext) => unknown) | undefined;
}

/** Words of the command line: `clew <word> …`. */
export interface RegisteredProgram {
  /** Each begins a command; never empty. */
  names: readonly string[];
  /** Says what a word is for before any code runs; absent for words without one. */
  descriptions: ReadonlyMap<string, string>;
  /** Words of the group it hangs below; empty = `clew` itself. */
  parentPath: readonly string[];
  /** Adds the commands to the program it is given. */
  registrar(context: object): unknown;
}

/** An address of the gateway's HTTP server. */
export interface RegisteredRoute {
  path: string;
  /** "prefix": what lies below the path, too. */
  match: "exact" | "prefix";
  /** "gateway": only who may act for the person of this home. "plugin": the handler sees to it. */
  auth: "gateway" | "plugin";
  /** False as its answer: it was not meant. */
  handler(request: IncomingMessage, response: ServerResponse): unknown;
}

/** What others may ask of a plugin by name. */
export interface RegisteredMethod {
  name: string;
  handler(request: MethodRequest): unknown;
}

/** What a method's handler is given. */
export interface MethodRequest {
  params: Record<string, unknown>;
  /** The first answer counts. */
  respond(ok: boolean, payload?: unknown, error?: unknown): void;
}

export interface Offers {
  services: RegisteredService[];
  programs: RegisteredProgram[];
  routes: RegisteredRoute[];
  methods: RegisteredMethod[];
}

export const noOffers = (): Offers => ({ services: [], programs: [], routes: [], methods: [] });
