// Copies what a home holds of sessions into a database, one session at a time.
import { counted } from "../../text/number.ts";
import { copyCostsIn } from "./costs.ts";
import { copyLoose, copyParts, copyWaiting, whereReadable } from "./files-in.ts";
import { copyJobsIn } from "./jobs-in.ts";
import { knownIn } from "./known.ts";
import { namesIn } from "./names-in.ts";
import { type CopyIn, type CopyResult, nothingYet } from "./result.ts";
import { copySession } from "./session-in.ts";
import { type AgentHome, agentsIn, walkAgent } from "./walk-home.ts";

/** Throws what the file system and the database say; what was copied until then is whole. */
export async function copyIn(request: CopyIn): Promise<CopyResult> {
  const { home, homeId, copy, signal } = request;
  const result = nothingYet();
  const agents: AgentHome[] = [];
  for (const agentId of await agentsIn(home)) agents.push(await walkAgent(home, agentId));
  const total = agents.reduce((sum, { sessions }) => sum + sessions.size, 0);
  const known = await knownIn(copy, homeId);
  let done = 0;
  for (const agent of agents) {
    signal.throwIfAborted();
    result.stays.push(...agent.stays);
    result.left.push(...agent.unread);
    await copyParts(request, agent, known, result);
    const loose = [...agent.files, ...(await copyWaiting(request, agent, known, result))];
    const named = await namesIn(home, agent, result);
    for (const [sessionId, { transcript, files }] of agent.sessions) {
      signal.throwIfAborted();
      request.says(`${done++} of ${counted(total, "session")}, ${named.get(sessionId)?.key ?? ""}`);
      const given = { agentId: agent.agentId, sessionId, transcript, files };
      const names = named.get(sessionId);
      const what = names?.key ?? transcript?.place ?? sessionId;
      const copied = await whereReadable(result, what, () =>
        copySession(request, known, given, names, result),
      );
      const isSession = copied ?? true;
      if (!isSession) loose.push(...files, ...(transcript === undefined ? [] : [transcript]));
    }
    for (const [sessionId, names] of named)
      if (!agent.sessions.has(sessionId) && names.label !== null) {
        const given = { agentId: agent.agentId, sessionId, transcript: undefined, files: [] };
        await copySession(request, known, given, names, result);
      }
    await copyLoose(request, agent.agentId, loose, known, result);
  }
  await copyJobsIn(request, result);
  await copyCostsIn(request, result);
  result.left.push(...request.engines.problems());
  return result;
}
