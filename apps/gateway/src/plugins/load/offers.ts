// What plugins offer beside engines, tools, commands and hooks.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { PluginMethodRequest, PluginServiceContext } from "@clew/plugin-sdk/core";

/** Work that goes on as long as a gateway runs. */
export interface RegisteredService {
  /** Unique within its plugin. */
  id: string;
  start(context: PluginServiceContext): unknown;
  /** Absent: there is nothing to end. */
  stop?: ((context: PluginServiceContext) => unknown) | undefined;
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
  handler(request: PluginMethodRequest): unknown;
}

export interface Offers {
  services: RegisteredService[];
  programs: RegisteredProgram[];
  routes: RegisteredRoute[];
  methods: RegisteredMethod[];
}

export const noOffers = (): Offers => ({ services: [], programs: [], routes: [], methods: [] });
