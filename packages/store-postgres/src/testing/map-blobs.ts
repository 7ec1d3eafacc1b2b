// A place for large bodies in this process, which can be watched and made to fail.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Blobs } from "../blob-place.ts";

export interface MapBlobs {
  /** By "agent/hash". */
  readonly kept: Map<string, Uint8Array>;
  /** Awaited when something was put, and before something is dropped. */
  afterPut: () => Promise<void>;
  beforeDrop: () => Promise<void>;
  isAway: boolean;
  /** What a store is given. */
  open(clusterId: string): Blobs;
}

export function mapBlobs(): MapBlobs {
  const kept = new Map<string, Uint8Array>();
  const requireThere = () => {
    if (place.isAway) throw new ContextEngineError("STORAGE_FAILED", "The map is away.");
  };
  const keyOf = (agentId: string, hash: string) => `${agentId}/${hash}`;
  const place: MapBlobs = {
    ...{ kept, isAway: false },
    afterPut: async () => {},
    beforeDrop: async () => {},
    open: () => ({
      place: "a map",
      async put({ agentId, hash }, bytes) {
        requireThere();
        kept.set(keyOf(agentId, hash), bytes);
        await place.afterPut();
      },
      async get({ agentId, hash }, range) {
        requireThere();
        const bytes = kept.get(keyOf(agentId, hash));
        return bytes?.slice(...(range ?? [])) ?? null;
      },
      async list(agentId, after) {
        const own = [...kept.keys()].filter((key) => key.startsWith(`${agentId}/`)).sort();
        return own
          .map((key) => key.slice(agentId.length + 1))
          .filter((hash) => after === null || hash > after);
      },
      async drop(agentId, hashes) {
        await place.beforeDrop();
        requireThere();
        for (const hash of hashes) kept.delete(keyOf(agentId, hash));
      },
    }),
  };
  return place;
}
