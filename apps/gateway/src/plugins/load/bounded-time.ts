// Ends a synchronous call that takes too long.
import { createContext, Script } from "node:vm";

/** Only what runs in a context of its own can be stopped while it runs. */
let shared: { script: Script; context: Shared } | undefined;

interface Shared {
  call: (() => unknown) | undefined;
}

/** Throws what `late` makes when `call` takes longer than `boundMs`. */
export function inTime<T>(boundMs: number, late: () => Error, call: () => T): T {
  shared ??= { script: new Script("call()"), context: createContext({}) as unknown as Shared };
  const before = shared.context.call;
  shared.context.call = call;
  try {
    return shared.script.runInContext(shared.context, { timeout: Math.max(1, boundMs) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw error;
    throw late();
  } finally {
    shared.context.call = before;
  }
}
