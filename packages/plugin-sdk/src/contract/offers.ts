// What a plugin offers beside engines, tools and commands of a chat.
import type { PluginLogger } from "./logger.ts";

/** What a service is started and stopped with. */
export interface PluginServiceContext {
  /** The host's whole configuration, unchecked. */
  config: unknown;
  /** Folder that the default agent works in. Absent: there is none. */
  workspaceDir?: string;
  /** Folder in which the plugin keeps its files; it is there. */
  stateDir: string;
  /** Where the service reports. */
  logger: PluginLogger;
}

/** Work that goes on as long as a gateway runs, from when it takes requests. */
export interface PluginService {
  /** Unique within the plugin. */
  id: string;
  /** Begins it; nobody waits for what it does. */
  start(context: PluginServiceContext): unknown;
  /** Ends it, within five seconds. Absent: there is nothing to end. */
  stop?(context: PluginServiceContext): unknown;
}

/** What is asked of an HTTP route: Node's `IncomingMessage`, or as much of it as is needed here. */
export interface PluginHttpRequest extends AsyncIterable<Uint8Array> {
  /** "GET". Absent: not known. */
  method?: string;
  /** Path and query, as in "/plugins/tally?day=1". Absent: not known. */
  url?: string;
  /** By name, in lower case. */
  headers: Record<string, string | string[] | undefined>;
}

/** What a route answers by: Node's `ServerResponse`, or as much of it as is needed here. */
export interface PluginHttpResponse {
  /** 200 until it is set. */
  statusCode: number;
  /** True: no header can be set any more. */
  readonly headersSent: boolean;
  /** Says status and headers at once. */
  writeHead(
    statusCode: number,
    headers?: Record<string, string | number | readonly string[]>,
  ): unknown;
  /** Sets one header. */
  setHeader(name: string, value: string | number | readonly string[]): unknown;
  /** Sends a piece of the answer. */
  write(chunk: string | Uint8Array): boolean;
  /** Sends the rest, and ends it; without this whoever asks waits. */
  end(chunk?: string | Uint8Array): unknown;
}

/** An address of the gateway's HTTP server. */
export interface PluginHttpRoute {
  /** Begins with "/" and is none of the host's own; begin with "/plugins/<id>". */
  path: string;
  /** "gateway": only who may act for the host's person. "plugin": the handler sees to it. */
  auth: "gateway" | "plugin";
  /** "prefix": what lies below the path, too. Absent: "exact". */
  match?: "exact" | "prefix";
  /** Answers a request. False: it is none of the plugin's. */
  handler(request: PluginHttpRequest, response: PluginHttpResponse): unknown;
}

/** What a gateway method is asked. */
export interface PluginMethodRequest {
  /** As they were given. */
  params: Record<string, unknown>;
  /** Answers; the first answer counts. */
  respond(ok: boolean, payload?: unknown, error?: unknown): void;
}

/** Answers what others ask of the plugin by name; a host waits a minute for it. */
export type PluginMethod = (request: PluginMethodRequest) => unknown;

/** A command of the command line: commander's `Command`, or as much of it as is needed here. */
export interface PluginProgram {
  /** Makes a command below this one; what it gives is that command. */
  command(nameAndArguments: string): PluginProgram;
  /** Says what it is for. */
  description(text: string): PluginProgram;
  /** Takes a word: "<place>", or "[place]" where it may be left out. */
  argument(name: string, description?: string): PluginProgram;
  /** Takes an option, as in "--days <n>". */
  option(flags: string, description?: string): PluginProgram;
  /** What it does; given its words, then its options. */
  action(run: PluginAction): PluginProgram;
}

/** What a command of the command line does. */
export type PluginAction = {
  /** Named only so that handlers may say which types they expect. */
  run(...given: unknown[]): unknown;
}["run"];

/** What a function that adds commands is given. */
export interface PluginProgramContext<Program = PluginProgram> {
  /** What the commands are added to: `clew` itself, or the group of `parentPath`. */
  program: Program;
  /** Words of the group; empty = `clew` itself. Absent: the host has no groups. */
  parentPath?: readonly string[];
  /** The host's whole configuration, unchecked. */
  config: unknown;
  /** Folder that the default agent works in. Absent: there is none. */
  workspaceDir?: string;
  /** Where the plugin reports. */
  logger: PluginLogger;
}

/** Which words a plugin adds to the command line: they are known before its function runs. */
export interface PluginProgramOptions {
  /** The words. Absent: those of `descriptors`. */
  commands?: string[];
  /** The words, and what they are for. Absent: `commands` is all there is. */
  descriptors?: {
    /** The word. */
    name: string;
    /** One line for the list of commands. */
    description: string;
    /** True: there are words below it. Absent: there are none. */
    hasSubcommands?: boolean;
  }[];
  /** Words of the group that they hang below. Absent: none, they are words of `clew`. */
  parentPath?: string[];
}
