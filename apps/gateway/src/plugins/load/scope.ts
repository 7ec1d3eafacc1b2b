// Which session plugin code is running for.
import { AsyncLocalStorage } from "node:async_hooks";

export interface PluginScope {
  agentId: string;
  sessionId?: string;
  sessionKey?: string;
  sessionFile?: string;
  /** Tells whoever waits for the reply that is being made; absent = nobody waits. */
  notice?: (text: string) => void;
}

const storage = new AsyncLocalStorage<PluginScope>();

/** Runs `work`, and everything it starts, for one session; whoever waited already still waits. */
export function inPluginScope<Result>(scope: PluginScope, work: () => Result): Result {
  const notice = scope.notice ?? storage.getStore()?.notice;
  return storage.run({ ...scope, ...(notice !== undefined && { notice }) }, work);
}

/** Undefined outside any session, e.g. in a timer of a plugin. */
export function currentPluginScope(): PluginScope | undefined {
  return storage.getStore();
}
