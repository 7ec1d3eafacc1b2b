// Gives a copy a database that it only reads, so that none of its sessions is claimed.
import type { CopySummary, PostgresCopy } from "@clew/store-postgres";

/** `sessions`: those that are there. Nothing that is copied out is noted. */
export function onlyReading(copy: PostgresCopy, sessions: readonly CopySummary[]): PostgresCopy {
  const nothing = async () => {};
  const known = new Map(sessions.map((each) => [`${each.agentId}\n${each.key}`, each]));
  return {
    ...copy,
    sessions: async () => [...sessions],
    keep: nothing,
    note: nothing,
    async claim({ agentId, key }) {
      const found = known.get(`${agentId}\n${key}`);
      if (found === undefined) return { kind: "held", owner: null };
      const refuse = async () => false;
      return {
        kind: "claimed",
        session: { found, put: refuse, putRows: refuse, release: nothing },
      };
    },
  };
}
