// Keeps the search managers that a memory plugin gave, until the host is done with them.
import type { MemorySearchManager } from "@clew/plugin-sdk/core";
import type { OwnedMemory } from "./choose-memory.ts";

export interface Managers {
  /** Works with an agent's; the one that it had before is done with when nobody works with it. */
  during<Result>(
    agentId: string,
    manager: MemorySearchManager,
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** Those that are still there, with which the host is done now. */
  takeAll(): MemorySearchManager[];
}

const known = new WeakMap<OwnedMemory, Managers>();

/** The same for the same memory; `done` is called once for each manager, and never throws. */
export function managersOf(
  memory: OwnedMemory,
  done: (manager: MemorySearchManager) => void,
): Managers {
  const managers = known.get(memory) ?? createManagers(done);
  known.set(memory, managers);
  return managers;
}

function createManagers(done: (manager: MemorySearchManager) => void): Managers {
  const newest = new Map<string, MemorySearchManager>();
  /** By how many agents and calls each is held. */
  const held = new Map<MemorySearchManager, number>();
  const over = new WeakSet<MemorySearchManager>();
  const hold = (manager: MemorySearchManager) =>
    void held.set(manager, (held.get(manager) ?? 0) + 1);
  const release = (manager: MemorySearchManager) => {
    const left = (held.get(manager) ?? 0) - 1;
    if (left > 0) held.set(manager, left);
    else if (held.delete(manager) && !over.has(manager)) {
      over.add(manager);
      done(manager);
    }
  };
  return {
    async during(agentId, manager, work) {
      const before = newest.get(agentId);
      hold(manager);
      if (before !== manager) {
        hold(manager);
        newest.set(agentId, manager);
        if (before !== undefined) release(before);
      }
      try {
        return await work();
      } finally {
        release(manager);
      }
    },
    takeAll() {
      const all = [...held.keys()].filter((manager) => !over.has(manager));
      for (const manager of all) over.add(manager);
      newest.clear();
      held.clear();
      return all;
    },
  };
}
