// Decides whose the sessions of a backup are where it is restored.
import { basename } from "node:path";

/** An agent whose sessions are to be kept in a database. */
export interface OwningAgent {
  /** Its folder. */
  readonly agentDir: string;
  /** As seen from the database; see `ownerOf`. */
  readonly owner: string;
}

/** Which sessions change hands. */
export interface OwnerPlan {
  readonly moves: readonly { readonly from: string; readonly to: string }[];
  /** Owners that are nobody here: their sessions are found by `allConversations` only. */
  readonly strangers: readonly string[];
}

/**
 * Pure. Owners are paths, which another home or another place of the database makes others. Where
 * one agent is restored from the backup of one, its sessions are that agent's. Else the names of
 * their folders tell.
 */
export function planOwners(owners: readonly string[], agents: readonly OwningAgent[]): OwnerPlan {
  const known = new Set(agents.map(({ owner }) => owner));
  // Hosts that name no folder share one owner, wherever they are.
  const elsewhere = owners.filter((owner) => owner !== "" && !known.has(owner));
  const free = agents.filter(({ owner }) => !owners.includes(owner));
  const [only, ...others] = free;
  if (elsewhere.length === 1 && only !== undefined && others.length === 0)
    return { moves: [{ from: elsewhere[0]!, to: only.owner }], strangers: [] };
  const moves = elsewhere.flatMap((from) => {
    const named = free.filter(({ agentDir }) => basename(agentDir) === basename(from));
    return named.length === 1 ? [{ from, to: named[0]!.owner }] : [];
  });
  const moved = new Set(moves.map(({ from }) => from));
  return { moves, strangers: elsewhere.filter((owner) => !moved.has(owner)) };
}
