// Names the sessions of a home as a database is to know them.
import { completeIndex, labelIn } from "../../sessions/index-file.ts";
import { isArchivedKey } from "../../sessions/keys.ts";
import type { Names } from "./plan-session.ts";
import type { CopyResult } from "./result.ts";
import type { AgentHome } from "./walk-home.ts";

/** By session id; what has no name gets the one that a list would show. */
export async function namesIn(
  home: string,
  agent: AgentHome,
  result?: CopyResult,
): Promise<Map<string, Names>> {
  const ids = [...agent.sessions]
    .filter(([, { transcript }]) => transcript !== undefined)
    .map(([id]) => id);
  const index = await completeIndex(home, agent.agentId, agent.index ?? {}, ids);
  const named = new Map<string, Names>();
  // A name that people use comes before one that the gateway gave.
  const keys = Object.keys(index).sort(
    (a, b) => Number(isArchivedKey(a)) - Number(isArchivedKey(b)),
  );
  for (const key of keys) {
    const { sessionId } = index[key]!;
    const other = named.get(sessionId);
    const label = labelIn(index[key])?.replaceAll("\0", "") ?? null;
    if (other === undefined) named.set(sessionId, { key, label });
    else
      result?.left.push({
        what: key,
        why: `it stands for the same transcript as ${other.key}, and a database knows one name of each`,
      });
  }
  return named;
}
