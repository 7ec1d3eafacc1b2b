// Whose code is running, so that what it leaves behind can be laid at its door.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Strays } from "../strays.ts";
import type { SessionTranscripts } from "./session-transcripts.ts";

export interface RunningPlugin {
  pluginId: string;
  /** Where errors are noted that nobody could catch. */
  strays: Strays;
  /** What it may read of sessions. Absent: nothing, no gateway runs here. */
  transcripts?: SessionTranscripts | undefined;
  /** True: it is a command that is being run. Absent: the process is the gateway's to end. */
  mayEndProcess?: boolean;
}

/** Runs code of the plugin that is named. */
export type RunAs = <Result>(pluginId: string, work: () => Result) => Result;

const SLOT = Symbol.for("clew.running-plugin");
type Slots = { [SLOT]?: AsyncLocalStorage<RunningPlugin> };
/** One for the process: modules that plugins import may be another copy of this file. */
const slots = globalThis as Slots;
slots[SLOT] ??= new AsyncLocalStorage();
const storage = slots[SLOT];

let watching: readonly RunAs[] = [];
let watchingLoads: readonly WatchLoads[] = [];

/** Told whose code is being loaded, and null when it is. */
export type WatchLoads = (pluginId: string | null) => void;

/** From now on every call of a plugin's code goes through `runAs`; what it gives ends that. */
export function watchRunning(runAs: RunAs, watchLoads: WatchLoads = () => {}): () => void {
  watching = [...watching, runAs];
  watchingLoads = [...watchingLoads, watchLoads];
  return () => {
    watching = watching.filter((each) => each !== runAs);
    watchingLoads = watchingLoads.filter((each) => each !== watchLoads);
  };
}

/** Runs what loads a plugin: until it has ended, code runs by which nobody is called. */
export async function whileLoading<Result>(
  pluginId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  for (const watch of watchingLoads) watch(pluginId);
  try {
    return await work();
  } finally {
    for (const watch of watchingLoads) watch(null);
  }
}

/** Runs `work`, and everything it starts, as code of one plugin. */
export function asPlugin<Result>(plugin: RunningPlugin, work: () => Result): Result {
  let run = () => storage.run(plugin, work);
  for (let at = 0; at < watching.length; at++) {
    const runAs = watching[at]!;
    const inner = run;
    run = () => runAs(plugin.pluginId, inner);
  }
  return run();
}

/** Undefined: it is the host's own. */
export function runningPlugin(): RunningPlugin | undefined {
  return storage.getStore();
}
