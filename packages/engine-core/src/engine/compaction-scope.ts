// The ambient slot through which engines reach the host's built-in compaction.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  provideRuntimeCompaction,
  type RuntimeCompaction,
  runtimeCompactionSlot,
} from "@clew/plugin-sdk/host";

type Scope = AsyncLocalStorage<RuntimeCompaction | undefined>;

/** Runs `call` with `compaction` as the built-in compaction; undefined hides any outer one. */
export function withRuntimeCompaction<T>(
  compaction: RuntimeCompaction | undefined,
  call: () => T,
): T {
  return scope().run(compaction, call);
}

/**
 * One storage per process, shared with other copies of this package: whoever
 * came first installed it.
 */
function scope(): Scope {
  const installed = runtimeCompactionSlot() as Partial<Scope> | undefined;
  if (typeof installed?.run === "function") return installed as Scope;
  const created: Scope = new AsyncLocalStorage();
  provideRuntimeCompaction(created);
  return created;
}
