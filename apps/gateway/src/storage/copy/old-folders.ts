// Says which folders of a home still have what was copied from it into a database.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Of each agent, what a copy into files writes again. */
const OF_AGENTS = ["sessions", "reports", "waiting"] as const;
const OF_HOME = "cron";

export interface OldFolders {
  /** Names below folders of agents; of one of them at least. */
  ofAgents: string[];
  hasJobs: boolean;
}

export async function oldFolders(home: string): Promise<OldFolders> {
  const agents = await readdir(join(home, "agents")).catch(() => []);
  const isThere = (...path: string[]) =>
    stat(join(home, ...path)).then(
      (found) => found.isDirectory(),
      () => false,
    );
  const ofAgents: string[] = [];
  for (const name of OF_AGENTS)
    for (const agent of agents)
      if (!ofAgents.includes(name) && (await isThere("agents", agent, name))) ofAgents.push(name);
  return { ofAgents, hasJobs: await isThere(OF_HOME) };
}

/** Pure. Undefined: there are none. */
export function describeOldFolders(
  { ofAgents, hasJobs }: OldFolders,
  home: string,
): string | undefined {
  if (ofAgents.length === 0 && !hasJobs) return undefined;
  const agents = ofAgents.length === 0 ? [] : [`${ofAgents.join(", ")} of each agents/AGENT`];
  const folders = [...agents, ...(hasJobs ? [OF_HOME] : [])].join(", and ");
  return `The files stay in ${home}, for the way back, also those of sessions that are deleted in the database later. When gateways run on the database and nobody wants to go back, stop the gateway of that home and delete there ${folders}.`;
}
