// Tells whether a plugin's code is calling, from its async context and from the stack.
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { pluginOfStack } from "../load/module-hooks.ts";
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
  const nearest = nearestFrame(below);
  const isOf = nearest === undefined ? undefined : pluginOfStack(nearest);
  if (nearest !== undefined && isOf === undefined && isOurs(nearest)) return undefined;
  const plugin = running ?? isOf;
  if (plugin === undefined || plugin.mayEndProcess === true) return undefined;
  return { plugin, isCode: nearest !== undefined };
}

/** The innermost line of the stack that is in a file; undefined when Node itself calls. */
function nearestFrame(below: (...given: never[]) => unknown): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, below);
  Error.stackTraceLimit = stackTraceLimit;
  const lines = String(holder.stack).split("\n").slice(1);
  return lines.find((line) => !/\(?node:[\w/]+:\d+:\d+\)?$|<anonymous>\)?$/.test(line));
}

/** What writes our files cleans up after itself at the end of a process. */
function signalExitFolder(): string {
  const { resolve } = createRequire(import.meta.url);
  const writer = createRequire(resolve("write-file-atomic"));
  return dirname(writer.resolve("signal-exit"));
}

/** `src`, or `dist`: where this file is, of which it is two folders below or none. */
function ownFolder(): string {
  const here = import.meta.dirname;
  return here.endsWith(join("plugins", "contain")) ? dirname(dirname(here)) : here;
}

const OWN = [ownFolder(), signalExitFolder()].map((folder) => `${folder}${sep}`);

function isOurs(line: string): boolean {
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
