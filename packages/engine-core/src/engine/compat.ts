// Which of a host's parameters an engine is called with, as it declares or as was learned.
import { declaredParams, type EngineMethod } from "@clew/plugin-sdk/host";
import { isFrozenWrite, withOwnCopies } from "./frozen-write.ts";
import { rejectedKeys } from "./rejected-keys.ts";

/** What hosts added to the first contract (§1.2); an engine may be called without any of it. */
const HOST_ADDED: ReadonlySet<string> = new Set([
  "sessionKey",
  "sessionTarget",
  "runtimeSettings",
  "runtimeContext",
  "prompt",
  "agentId",
  "abortSignal",
]);
/** Only engines that ask for these are given them: strict ones were written without. */
const ON_REQUEST: Partial<Record<EngineMethod, readonly string[]>> = {
  assemble: ["sessionTarget", "runtimeContext"],
};

/** What was learned of one engine instance, across all its methods. */
export interface Learned {
  /** Parameters it refuses. */
  readonly rejected: Set<string>;
  /** It changes what it is given, so it gets copies. */
  changesParams: boolean;
}

export const nothingLearned = (): Learned => ({ rejected: new Set(), changesParams: false });

/**
 * Calls with the parameters the engine accepts. Those it does not declare (`declared`, its
 * `acceptedHostParams`) are left out at once. A call that rejects others of the host's is made
 * again without them, one that changes frozen data is made again with copies, until the engine
 * answers or nothing new is learned (contract §2.4).
 */
export async function callCompatibly(request: {
  method: EngineMethod;
  params: object;
  declared: readonly string[] | undefined;
  learned: Learned;
  call: (params: object) => unknown;
}): Promise<unknown> {
  const { method, declared, learned, call } = request;
  const params = planParams(method, request.params, declared);
  for (;;) {
    const given = withOwnLists(without(params, learned.rejected));
    try {
      return await call(learned.changesParams ? withOwnCopies(given) : given);
    } catch (error) {
      if (!learn(learned, error, given)) throw error;
    }
  }
}

/** Pure: what an engine of this declaration is given at the first try. */
export function planParams(
  method: EngineMethod,
  params: object,
  declared: readonly string[] | undefined,
): object {
  if (declared !== undefined) return declaredParams(method, params, declared);
  const withheld = ON_REQUEST[method];
  return withheld === undefined ? params : without(params, new Set(withheld));
}

/** True when the error taught something that makes another call worth while. */
function learn(learned: Learned, error: unknown, given: object): boolean {
  if (!learned.changesParams && isFrozenWrite(error)) {
    learned.changesParams = true;
    return true;
  }
  const rejected = rejectedKeys(error);
  const fresh = Object.keys(given).filter((key) => HOST_ADDED.has(key) && rejected.has(key));
  for (const key of fresh) learned.rejected.add(key);
  return fresh.length > 0;
}

function without(params: object, keys: ReadonlySet<string>): object {
  if (keys.size === 0) return params;
  return Object.fromEntries(Object.entries(params).filter(([key]) => !keys.has(key)));
}

/** The list is the engine's own (contract §3.1 step 4), at each call anew. */
function withOwnLists(params: object): object {
  const { messages } = params as { messages?: unknown };
  return Array.isArray(messages) ? { ...params, messages: messages.slice() } : params;
}
