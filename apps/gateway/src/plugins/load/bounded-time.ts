// Ends a synchronous call that takes too much of the processor.
import { createContext, Script } from "node:vm";

/** Only what runs in a context of its own can be stopped while it runs. */
let shared: { script: Script; context: Shared } | undefined;

interface Shared {
  call: (() => unknown) | undefined;
}

/** How often a call is begun anew that others kept from the processor, with twice the time. */
const MOST_TRIES = 5;

/**
 * Throws what `late` makes when `call` works for longer than `boundMs`. On a busy machine it is
 * made again: it must do the same each time.
 */
export function inTime<T>(boundMs: number, late: () => Error, call: () => T): T {
  for (let tries = 1; ; tries++) {
    const before = process.threadCpuUsage();
    try {
      return once(Math.max(1, boundMs) * 2 ** (tries - 1), call);
    } catch (error) {
      if ((error as NodeJS.ErrnoException | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT")
        throw error;
      const { user, system } = process.threadCpuUsage(before);
      if ((user + system) / 1000 >= boundMs / 2 || tries === MOST_TRIES) throw late();
    }
  }
}

function once<T>(wallMs: number, call: () => T): T {
  shared ??= { script: new Script("call()"), context: createContext({}) as unknown as Shared };
  const before = shared.context.call;
  shared.context.call = call;
  try {
    return shared.script.runInContext(shared.context, { timeout: wallMs }) as T;
  } finally {
    shared.context.call = before;
  }
}
