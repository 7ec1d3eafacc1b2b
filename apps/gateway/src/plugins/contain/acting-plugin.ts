// Tells whether a plugin's code is calling, from its async context and from the stack.
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { getCallSites } from "node:util";
import { arePluginsLoaded, pluginOfStack } from "../load/module-hooks.ts";
import { type RunningPlugin, runningPlugin } from "../load/running.ts";

export interface Caller {
  plugin: RunningPlugin;
  /** False: Node itself calls, in the context of what the plugin began. */
  isCode: boolean;
}

/**
 * Undefined: it is the gateway's own code, also where it does something for a plugin. `below`: the
 * function whose caller is meant.
 */
export function callingPlugin(below: (...given: never[]) => unknown): Caller | undefined {
  const running = runningPlugin();
  // Nobody to be found in a stack: to write one down is what takes time.
  if (running === undefined && !arePluginsLoaded()) return undefined;
  const nearest = nearestFrame(below);
  const isOf = nearest === undefined ? undefined : pluginOfStack(nearest);
  if (nearest !== undefined && isOf === undefined && isOurs(nearest)) return undefined;
  // One may have put what it does into what another one began.
  const plugin = isOf ?? running;
  if (plugin === undefined) return undefined;
  // A command of the plugin's own has the process to itself.
  const mayEnd = [plugin, running].some(
    (one) => one?.mayEndProcess === true && one.pluginId === plugin.pluginId,
  );
  if (mayEnd) return undefined;
  return { plugin, isCode: nearest !== undefined };
}

/** The innermost line of the stack that is in a file; undefined when Node itself calls. */
function nearestFrame(below: (...given: never[]) => unknown): string | undefined {
  return (linesOf(below) ?? plainLines()).find(
    (line) => !/\(?node:[\w/]+:\d+:\d+\)?$|<anonymous>\)?$/.test(line),
  );
}

// As they were before any plugin, one of which may have put a function there that throws.
const { prepareStackTrace } = Error;
const callSites = getCallSites;

/** Undefined: stack traces are not what they were, and do not become so. */
function linesOf(below: (...given: never[]) => unknown): string[] | undefined {
  try {
    const { prepareStackTrace: set, stackTraceLimit } = Error;
    const holder: { stack?: unknown } = {};
    try {
      Error.prepareStackTrace = prepareStackTrace;
      Error.stackTraceLimit = 30;
      Error.captureStackTrace(holder, below);
      const { stack } = holder;
      return typeof stack === "string" ? stack.split("\n").slice(1) : undefined;
    } finally {
      Error.prepareStackTrace = set;
      Error.stackTraceLimit = stackTraceLimit;
    }
  } catch {
    return undefined;
  }
}

/** `plainLines`, `nearestFrame`, `callingPlugin`, and the function that is asked about. */
const CALLS_WITHIN = 4;

/** Nothing that a plugin can change is asked; code that was made from text has no file here. */
const plainLines = (): string[] =>
  callSites(30)
    .slice(CALLS_WITHIN)
    .map(({ scriptName }) => scriptName)
    .filter((name) => name !== "" && !name.startsWith("node:"));

/** Whether Node itself reads what `below` answers: cheaper than to ask who calls. */
export function isReadByNode(): boolean {
  // This one, what asks, and what reads.
  const reader = callSites(3)[2]?.scriptName;
  return reader?.startsWith("node:internal/process/") === true;
}

/** What writes our files cleans up after itself at the end of a process. */
function signalExitFolder(): string {
  const { resolve } = createRequire(import.meta.url);
  const writer = createRequire(resolve("write-file-atomic"));
  return dirname(writer.resolve("signal-exit"));
}

/** `src`, or `dist`: where this file is, of which it is two folders below or none. */
export function ownFolder(): string {
  const here = import.meta.dirname;
  return here.endsWith(join("plugins", "contain")) ? dirname(dirname(here)) : here;
}

const OWN = [ownFolder(), signalExitFolder()].map((folder) => `${folder}${sep}`);

/** `line`: of a stack. Libraries that the gateway uses are not meant. */
export function isOurs(line: string): boolean {
  const at = line.indexOf("file://");
  const path = at === -1 ? line : pathOf(line.slice(at));
  return OWN.some((folder) => path.includes(folder));
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url.replace(/(:\d+)*\)?$/, ""));
  } catch {
    return url;
  }
}
