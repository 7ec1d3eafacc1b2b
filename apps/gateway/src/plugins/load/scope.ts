// Which session plugin code is running for.
import { AsyncLocalStorage } from "node:async_hooks";

export interface PluginScope {
  agentId: string;
  sessionId?: string;
  sessionKey?: string;
  sessionFile?: string;
}

const storage = new AsyncLocalStorage<PluginScope>();

/** Runs `work`, and everything it starts, for one session. */
export function inPluginScope<Result>(scope: PluginScope, work: () => Result): Result {
  return storage.run(scope, work);
}

/** Undefined outside any session, e.g. in a timer of a plugin. */
export function currentPluginScope(): PluginScope | undefined {
  return storage.getStore();
}
