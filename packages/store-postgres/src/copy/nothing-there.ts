// What whoever only looks finds in a database that has no tables yet.
import type { ClusterNode } from "../node.ts";

/** Joined nothing, and claims nothing. */
export const ONLOOKER: ClusterNode = {
  ...{ id: "", alive: new AbortController().signal, lives: () => true, requireAlive() {} },
  ...{ settle: async () => {}, leave: async () => {} },
};

const none = async (): Promise<never[]> => [];
const nothing = async () => {};
const no = async () => false;

/** Holds nothing, and keeps nothing that it is given. */
export const nothingThere = (close: () => Promise<void>) => ({
  ...{ clusterId: "", alive: ONLOOKER.alive, close },
  ...{ sessions: none, records: none, hashes: none, lines: none, laterReports: none },
  ...{ partsOf: none, deliveries: none, engineRows: none, rowEngines: none, inbox: none },
  ...{ files: none, filesOf: none, removeEmpty: no },
  ...{ note: nothing, putParts: nothing, keepNumbers: nothing, keep: nothing },
  claim: async () => ({ kind: "held" as const, owner: null }),
  missingParts: async (_agentId: string, hashes: readonly string[]) => [...hashes],
  parts: async () => ({}),
  engineRowsOfMany: async () => new Map<string, never[]>(),
  reserveNumbers: async () => 1,
  async *bytesOf() {},
  async *costsOfOthers() {},
  jobs: {
    ...{ allProgress: none, runs: none, put: nothing, addRuns: nothing, remove: no, advance: no },
    list: async () => ({ jobs: [], now: Date.now() }),
    find: async () => null,
    progress: async () => null,
  },
  costs: () => ({ kept: async () => new Map<string, number>(), put: nothing, drop: nothing }),
  forgetting: {
    ...{ living: none, blobsOf: none, remove: no },
    ...{ dropBlobs: nothing, dropParts: nothing, dropFile: nothing },
    ...{ dropWaiting: nothing, dropRuns: nothing, dropCosts: nothing },
  },
});
