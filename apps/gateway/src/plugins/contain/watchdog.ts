// Has a thread watch whether the event loop still turns.
import { randomUUID } from "node:crypto";
import { url as debuggerUrl } from "node:inspector";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { LogPort } from "@clew/engine-core";
import { bundledFolders } from "../find/bundled.ts";
import { messageOf } from "../invalid.ts";
import { folderOf, type PluginFolder } from "../load/module-hooks.ts";
import { runningPlugin, watchRunning } from "../load/running.ts";
import { ownFolder } from "./acting-plugin.ts";
import { LOOKS_EVERY_MS } from "./plan-look.ts";
import { mendShared, watchLasting } from "./shared-watch.ts";

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
  /** Where Clew's own code is. */
  ownFolder: string;
}

/** What `CELL.running` says while a plugin works that comes with Clew. */
export const OURS = -1;

/** `turns` is how often all that code waits for had come through. */
export const CELL = { beats: 0, running: 1, held: 2, turns: 3, count: 4 } as const;

/** Sent to the thread before the plugin runs for the first time. */
export interface NamedPlugin extends PluginFolder {
  /** What `CELL.running` says while its code is called; `OURS`: it is trusted. */
  number: number;
}

/** Sent to the thread when a plugin changed what cannot be put back. */
export interface LastingChange {
  changedBy: string;
  name: string;
}

/** Sent to the thread when the gateway begins to answer there, and when it no longer means to. */
export interface AskedPort {
  port: number | null;
}

/** What the thread asks for in the process that it watches, while nothing else runs there. */
export interface BlockedProcess {
  /** In whose async context it is. */
  context(): string | null;
  end(token: string, exitCode: number): void;
}
export const BLOCKED_PROCESS = "clew.blocked-process";

export interface Watchdog {
  /** From now on the gateway is to answer at this port; null: it need not any more. */
  asksAt(port: number | null): void;
  stop(): Promise<void>;
}

// As it is before any plugin.
const { add } = Atomics;

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
  if (seconds === 0) return { asksAt: () => {}, stop: async () => {} };
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
  thread.unref();
  thread.on("error", (error) => log.warn(`the event loop is not watched: ${messageOf(error)}`));
  const beat = setInterval(() => {
    // What answers nobody may depend on it, and no call of a plugin may come that is looked after.
    mendShared();
    add(cells, CELL.beats, 1);
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
  watchLasting((changedBy, name) =>
    thread.postMessage({ changedBy, name } satisfies LastingChange),
  );
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
    async stop() {
      clearInterval(beat);
      unwatch();
      await thread.terminate();
    },
  };
}
