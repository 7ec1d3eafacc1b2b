// Has a thread watch whether the event loop still turns.
import { randomUUID } from "node:crypto";
import { url as debuggerUrl } from "node:inspector";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import type { LogPort } from "@clew/engine-core";
import { bundledFolders } from "../find/bundled.ts";
import { messageOf } from "../invalid.ts";
import { folderOf } from "../load/module-hooks.ts";
import { runningPlugin, watchRunning } from "../load/running.ts";
import { ownFolder } from "./acting-plugin.ts";
import { LOOKS_EVERY_MS } from "./plan-look.ts";
import { mendShared, tellBusy, watchLasting } from "./shared-watch.ts";
import { watchTurns } from "./turn-ends.ts";
import {
  type AskedPort,
  BLOCKED_PROCESS,
  type BlockedProcess,
  type BusyPlugin,
  CELL,
  type EndingSoon,
  type LastingChange,
  type NamedPlugin,
  OURS,
  type WatchdogOrder,
} from "./watchdog-order.ts";

/** As long as a service has to stop. */
const ENDING_MS = 5000;

export interface Watchdog {
  /** From now on the gateway is to answer at this port; null: it need not any more. */
  asksAt(port: number | null): void;
  /** From now on nobody waits for what takes long. */
  isEnding(): void;
  stop(): Promise<void>;
}

/** Of a process that nothing watches. */
export const UNWATCHED: Watchdog = { asksAt() {}, isEnding() {}, stop: async () => {} };

// As it is before any plugin.
const { add, store } = Atomics;
const { eventLoopUtilization } = performance;

/** Calls `done` after all that code waits with, as it is now: what does not come through hangs. */
function turnOnce(done: () => void): void {
  try {
    process.nextTick(() => {
      void Promise.resolve().then(() => setTimeout(() => setImmediate(done).unref(), 0).unref());
    });
  } catch {}
}

/** What is looked up by others may be replaced by them, so it is made once and only asks this. */
let blocked: BlockedProcess | undefined;
Object.defineProperty(globalThis, Symbol.for(BLOCKED_PROCESS), {
  value: Object.freeze<BlockedProcess>({
    context: () => blocked?.context() ?? null,
    end: (token, exitCode) => blocked?.end(token, exitCode),
  }),
});

/**
 * From now on a plugin that keeps the loop from turning for `seconds` is put into safe mode, and
 * the process ends; where the loop turns and nobody is answered, or nothing shows who it was, all
 * are that may be at fault. What comes with Clew is trusted to end by itself. 0: nothing is
 * watched.
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
  if (seconds === 0) return UNWATCHED;
  const isOurs = bundledFolders();
  const cells = new Int32Array(new SharedArrayBuffer(4 * CELL.count));
  const token = randomUUID();
  // As it is for us: a plugin reads another.
  const { reallyExit } = process as unknown as { reallyExit(exitCode: number): void };
  blocked = {
    context: () => runningPlugin()?.pluginId ?? null,
    end: (given, exitCode) => {
      if (given === token) reallyExit.call(process, exitCode);
    },
  };
  const program = createRequire(import.meta.url).resolve("#watchdog-thread");
  const workerData: WatchdogOrder = {
    ...{ home, limitMs: seconds * 1000, cells, exitCode, token },
    ownFolder: ownFolder(),
  };
  const thread = new Worker(program, {
    workerData,
    name: "watchdog",
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  thread.on("error", (error) => log.warn(`the event loop is not watched: ${messageOf(error)}`));
  thread.on("message", ({ busy, message }: BusyPlugin) => tellBusy(busy, message));
  // After the listeners, for whoever listens to a thread waits for it.
  thread.unref();
  watchTurns((end) => {
    if (end === "broken") add(cells, CELL.broken, 1);
    else store(cells, CELL.broken, 0);
  });
  let used = eventLoopUtilization();
  const beat = setInterval(() => {
    // What answers nobody may depend on it, and no call of a plugin may come that is looked after.
    mendShared();
    add(cells, CELL.beats, 1);
    const now = eventLoopUtilization();
    store(cells, CELL.load, Math.round(eventLoopUtilization(now, used).utilization * 100));
    used = now;
    turnOnce(() => add(cells, CELL.turns, 1));
    Atomics.store(cells, CELL.held, debuggerUrl() === undefined ? 0 : 1);
  }, LOOKS_EVERY_MS);
  beat.unref();
  const numbers = new Map<string, number>();
  const numberOf = (pluginId: string) => {
    const known = numbers.get(pluginId);
    if (known !== undefined) return known;
    const folder = folderOf(pluginId);
    // It runs in a process of its own.
    if (folder === undefined) return OURS;
    const number = isOurs(folder.root) ? OURS : numbers.size + 1;
    numbers.set(pluginId, number);
    thread.postMessage({ number, ...folder } satisfies NamedPlugin);
    return number;
  };
  watchLasting((change) => thread.postMessage(change satisfies LastingChange));
  const unwatch = watchRunning((pluginId, work) => {
    const before = Atomics.exchange(cells, CELL.running, numberOf(pluginId));
    try {
      return work();
    } finally {
      Atomics.store(cells, CELL.running, before);
    }
  });
  return {
    asksAt: (port) => thread.postMessage({ port } satisfies AskedPort),
    isEnding: () => thread.postMessage({ endingMs: ENDING_MS } satisfies EndingSoon),
    async stop() {
      clearInterval(beat);
      unwatch();
      await thread.terminate();
    },
  };
}
