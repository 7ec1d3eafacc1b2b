// Whose code is running, so that what it leaves behind can be laid at its door.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Strays } from "../strays.ts";

export interface RunningPlugin {
  pluginId: string;
  /** Where errors are noted that nobody could catch. */
  strays: Strays;
}

/** Runs code of the plugin that is named. */
export type RunAs = <Result>(pluginId: string, work: () => Result) => Result;

const storage = new AsyncLocalStorage<RunningPlugin>();

/** Runs `work`, and everything it starts, as code of one plugin. */
export function asPlugin<Result>(plugin: RunningPlugin, work: () => Result): Result {
  return storage.run(plugin, work);
}

/** Undefined: it is the host's own. */
export function runningPlugin(): RunningPlugin | undefined {
  return storage.getStore();
}
