// Which session plugin code is running for.
import { AsyncLocalStorage } from "node:async_hooks";
import type { SideCallReport } from "@clew/engine-core";

/** What a plugin asked its host for, and why it did not get it. */
export interface Refusal {
  plugin: string;
  /** What it called, as in "subagent.run". */
  asked: string;
  reason: string;
}

export interface PluginScope {
  agentId: string;
  sessionId?: string;
  sessionKey?: string;
  sessionFile?: string;
  /** Tells whoever waits for the reply that is being made; absent = nobody waits. */
  notice?: (text: string) => void;
  /** Takes note of it for the turn's report; absent = there is no turn. */
  refused?: (refusal: Refusal) => void;
  /** Takes note of a model call for the turn's report; absent = there is no turn. */
  sideCall?: (call: Omit<SideCallReport, "afterCalls">) => void;
  /** Aborted once the request that this stands for is over; absent = it is none. */
  over?: AbortSignal;
}

const storage = new AsyncLocalStorage<PluginScope>();

/** Runs `work`, and everything it starts, for one session; whoever waited already still waits. */
export function inPluginScope<Result>(scope: PluginScope, work: () => Result): Result {
  const { notice, refused, sideCall, over } = storage.getStore() ?? {};
  const inherited = {
    ...(sideCall !== undefined && { sideCall }),
    ...(notice !== undefined && { notice }),
    ...(refused !== undefined && { refused }),
    ...(over !== undefined && { over }),
  };
  return storage.run({ ...inherited, ...scope }, work);
}

/** One for all requests: making one takes longer than what it ends. */
const REQUEST_OVER = new DOMException("The request is over.", "AbortError");

/** The same for one request: what outlives it runs for nobody any more. */
export async function inRequest<Result>(
  scope: Omit<PluginScope, "over">,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = new AbortController();
  try {
    return await inPluginScope({ ...scope, over: over.signal }, work);
  } finally {
    over.abort(REQUEST_OVER);
  }
}

/** What plugins were refused while `work` ran. */
export async function refusedDuring(
  scope: PluginScope,
  work: () => Promise<void>,
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  await inPluginScope({ ...scope, refused: (refusal) => void refusals.push(refusal) }, work);
  return [...refusals];
}

/** Undefined outside any session, e.g. in a timer of a plugin. */
export function currentPluginScope(): PluginScope | undefined {
  return storage.getStore();
}

/** The same; undefined also in what a request left behind. */
export function liveScope(): PluginScope | undefined {
  const scope = storage.getStore();
  return scope?.over?.aborted === true ? undefined : scope;
}
