// Has a thread watch whether the event loop still turns.
import { randomUUID } from "node:crypto";
import { url as debuggerUrl } from "node:inspector";
import { createRequire } from "node:module";
import { isAbsolute } from "node:path";
import { Worker } from "node:worker_threads";
import type { LogPort } from "@clew/engine-core";
import { bundledIds } from "../find/bundled.ts";
import { messageOf } from "../invalid.ts";
import { pluginOfStack } from "../load/module-hooks.ts";
import { runningPlugin, watchRunning } from "../load/running.ts";
import { LOOKS_EVERY_MS } from "./plan-look.ts";
import { mendShared } from "./shared-watch.ts";

/** What the thread is given. */
export interface WatchdogOrder {
  home: string;
  limitMs: number;
  /** By `CELL`. */
  cells: Int32Array;
  /** Of a process that a plugin blocks. */
  exitCode: number;
  /** Without it `BlockedProcess.end` does nothing. */
  token: string;
}

/** What `CELL.running` says while a plugin works that comes with Clew. */
export const OURS = -1;

/** `last` is who ran last that does not come with Clew. */
export const CELL = { beats: 0, running: 1, held: 2, last: 3, count: 4 } as const;

/** Sent to the thread before the plugin runs for the first time. */
export interface NamedPlugin {
  /** What `CELL.running` says while its code is called. */
  number: number;
  pluginId: string;
}

/** Sent to the thread when the gateway begins to answer there, and when it no longer means to. */
export interface AskedPort {
  port: number | null;
}

/** What the thread asks for in the process that it watches, while nothing else runs there. */
export interface BlockedProcess {
  who(stack: string): string | null;
  end(token: string, exitCode: number): void;
}
export const BLOCKED_PROCESS = "clew.blocked-process";

export interface Watchdog {
  /** From now on the gateway is to answer at this port; null: it need not any more. */
  asksAt(port: number | null): void;
  stop(): Promise<void>;
}

/**
 * From now on a plugin that keeps the loop from turning for `seconds` is put into safe mode, and
 * the process ends; so is the one that ran last where the loop turns and nobody is answered; what
 * comes with Clew is trusted to end by itself. 0: nothing is watched.
 */
export function startWatchdog({
  home,
  seconds,
  exitCode,
  log,
}: {
  home: string;
  seconds: number;
  exitCode: number;
  log: Pick<LogPort, "warn">;
}): Watchdog {
  if (seconds === 0) return { asksAt: () => {}, stop: async () => {} };
  const ours = bundledIds();
  const cells = new Int32Array(new SharedArrayBuffer(4 * CELL.count));
  const token = randomUUID();
  // As it is for us: a plugin reads another.
  const { reallyExit } = process as unknown as { reallyExit(exitCode: number): void };
  const slots = globalThis as unknown as Record<symbol, BlockedProcess>;
  slots[Symbol.for(BLOCKED_PROCESS)] = {
    who(stack) {
      // As with errors: whose code it is counts first, whoever began it.
      const innermost = stack.split("\n").find((path) => isAbsolute(path)) ?? "";
      const plugin = pluginOfStack(innermost) ?? runningPlugin() ?? pluginOfStack(stack);
      const pluginId = plugin?.pluginId ?? mendShared();
      return pluginId === undefined || ours.has(pluginId) ? null : pluginId;
    },
    end: (given, exitCode) => {
      if (given === token) reallyExit.call(process, exitCode);
    },
  };
  const program = createRequire(import.meta.url).resolve("#watchdog-thread");
  const workerData: WatchdogOrder = { home, limitMs: seconds * 1000, cells, exitCode, token };
  const thread = new Worker(program, {
    workerData,
    name: "watchdog",
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  thread.unref();
  thread.on("error", (error) => log.warn(`the event loop is not watched: ${messageOf(error)}`));
  const beat = setInterval(() => {
    // What answers nobody may depend on it, and no call of a plugin may come that is looked after.
    mendShared();
    Atomics.add(cells, CELL.beats, 1);
    Atomics.store(cells, CELL.held, debuggerUrl() === undefined ? 0 : 1);
  }, LOOKS_EVERY_MS);
  beat.unref();
  const numbers = new Map<string, number>();
  const numberOf = (pluginId: string) => {
    const known = numbers.get(pluginId);
    if (known !== undefined) return known;
    const number = numbers.size + 1;
    numbers.set(pluginId, number);
    thread.postMessage({ number, pluginId } satisfies NamedPlugin);
    return number;
  };
  const unwatch = watchRunning((pluginId, work) => {
    const number = ours.has(pluginId) ? OURS : numberOf(pluginId);
    const before = Atomics.exchange(cells, CELL.running, number);
    if (number !== OURS) Atomics.store(cells, CELL.last, number);
    try {
      return work();
    } finally {
      Atomics.store(cells, CELL.running, before);
    }
  });
  return {
    asksAt: (port) => thread.postMessage({ port } satisfies AskedPort),
    async stop() {
      clearInterval(beat);
      unwatch();
      await thread.terminate();
    },
  };
}
