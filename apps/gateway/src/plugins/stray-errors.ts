// Catches errors that no caller can, and lays each at the door of whoever caused it.

import { writeSync } from "node:fs";
import { isAbort } from "@clew/plugin-sdk/core";
import { RefusedAct } from "./contain/guard-process.ts";
import { mendShared } from "./contain/shared-watch.ts";
import { messageOf } from "./invalid.ts";
import { messageAndPlace } from "./load/error-place.ts";
import { pluginOfStack } from "./load/module-hooks.ts";
import { type RunningPlugin, runningPlugin } from "./load/running.ts";
import { currentPluginScope } from "./load/scope.ts";

export interface StrayErrors {
  /**
   * From now on `answer` is told of the host's own, each once, or of how many came that nobody
   * looked at; by default they end the process.
   */
  onHostError(answer: (error: unknown, times: number) => void): void;
}

type Kind = "rejection" | "exception";

const WHAT: Record<Kind, string> = {
  rejection: "a promise was rejected and nothing handled it",
  exception: "an error was thrown where nothing could catch it",
};

const LOOKED_AT = 50;
/** More that come at once are counted, and nobody looks at what they are. */
const TAKEN_AT_ONCE = 200;
// As it is before any plugin.
const nextTick = process.nextTick.bind(process);

/**
 * For the life of the process. What a plugin did is noted with it and told in the reply that it
 * worked for; nothing else happens to it.
 */
export function catchStrayErrors(endProcess: (error: unknown) => void): StrayErrors {
  let answer: (error: unknown, times: number) => void = endProcess;
  let inBurst = 0;
  /** Those at once that were only counted. */
  let uncounted: { plugin: RunningPlugin | undefined; count: number }[] = [];
  const endBurst = () => {
    inBurst = 0;
    const counted = uncounted;
    uncounted = [];
    for (const { plugin, count } of counted) {
      const message = `${count} more errors came at once, which nothing looked at`;
      if (plugin === undefined) answer(message, count);
      else plugin.strays.note(plugin.pluginId, message);
    }
  };
  const countOnly = () => {
    const plugin = runningPlugin();
    const known = uncounted.find((each) => each.plugin?.pluginId === plugin?.pluginId);
    if (known === undefined) uncounted.push({ plugin, count: 1 });
    else known.count += 1;
  };
  const take = (kind: Kind, error: unknown) => {
    // Of rejections thousands may come with nothing between.
    if (inBurst++ === 0) nextTick(endBurst);
    if (inBurst <= LOOKED_AT) mendShared(true);
    if (inBurst > TAKEN_AT_ONCE) return countOnly();
    const plugin = whoseError(error);
    if (plugin === undefined) answer(error, 1);
    else noteStray(plugin, kind, error);
  };
  const survive = (kind: Kind) => (error: unknown) => {
    try {
      take(kind, error);
    } catch {
      sayAtLeast();
    }
  };
  process.on("unhandledRejection", survive("rejection"));
  // Not as a listener: nobody can take it away, and no other module decides about errors.
  process.setUncaughtExceptionCaptureCallback(survive("exception"));
  return {
    onHostError(given) {
      answer = given;
    },
  };
}

// As it is before any plugin.
const write = writeSync;

/** What throws where errors are answered ends the process. Nothing that can be changed is used. */
function sayAtLeast(): void {
  try {
    const who = runningPlugin()?.pluginId;
    const of = who === undefined ? "nobody known" : `plugin "${who}"`;
    write(2, `clew: an error of ${of} could not be told, because what tells it is broken\n`);
  } catch {}
}

/** Never throws. */
export function noteStray({ pluginId, strays }: RunningPlugin, kind: Kind, error: unknown): void {
  if (isToldOrNobodys(error)) return;
  const message = `${WHAT[kind]}: ${describeThrown(error)}`;
  if (strays.note(pluginId, message))
    currentPluginScope()?.notice?.(`Plugin "${pluginId}": ${message}`);
}

/** A call that was given up leaves such behind: an abort is nobody's failure. */
function isToldOrNobodys(error: unknown): boolean {
  try {
    return error instanceof RefusedAct || isAbort(error);
  } catch {
    return false;
  }
}

/**
 * Whose code threw it, if that is a plugin's: one may have put it into what another one began. Else
 * in whose context that was, or, as an error that is thrown again may have lost that, whose code is
 * in the stack at all.
 */
export function whoseError(error: unknown): RunningPlugin | undefined {
  const stack = stackOf(error) ?? "";
  const innermost = stack.split("\n").find(isInFile);
  return pluginOfStack(innermost ?? "") ?? runningPlugin() ?? pluginOfStack(stack);
}

/** A line of a stack. */
const isInFile = (line: string) => /^\s+at\b.*(file:\/\/|[(\s]\/|[A-Z]:\\)/.test(line);

/**
 * Whether code that is no plugin's had anything to do with it: what Node tells of by itself, such
 * as a file that was never closed, has a stack without a file.
 */
export const isOwnStack = (stack: string | undefined): boolean =>
  stack?.split("\n").some(isInFile) === true;

/** Never throws. */
export function stackOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? String(error.stack) : undefined;
  } catch {
    return undefined;
  }
}

/** It goes into logs, reports and replies. */
const MAX_TOLD = 2000;

/** Never throws: whatever was thrown, it must not end the process after all. */
export function describeThrown(error: unknown): string {
  try {
    const { cause } = (error ?? {}) as { cause?: unknown };
    const because = cause instanceof Error ? ` (${messageOf(cause)})` : "";
    const described = `${messageAndPlace(error)}${because}`;
    if (described.length <= MAX_TOLD) return described;
    return `${described.slice(0, MAX_TOLD)}… (${described.length} characters)`;
  } catch {
    return "an error that cannot be described";
  }
}
