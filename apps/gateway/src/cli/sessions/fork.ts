// Runs `clew sessions fork`, which begins a session with all that was said in another one.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { agentIds } from "../../config/agent.ts";
import { loadConfig } from "../../config/load.ts";
import { keyOfFork } from "../../sessions/fork-name.ts";
import { parseSessionName, sessionWord, shortName } from "../../sessions/keys.ts";
import { listAgents } from "../../sessions/list-sessions.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { sessionsToChange, storedSessions } from "../stored-sessions.ts";

/** Reads the old one's file, so it may be in use. Throws SESSION_NOT_FOUND, REQUEST_INVALID. */
export async function forkSession(
  name: string,
  wanted: string | undefined,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { sessions: store } = await storedSessions(environment);
  const { key, agentId } = requireSessionName(name);
  const found = await store.read(key);
  if (found === null) throw await store.notFound(name);
  if (found.branch.length === 0) throw refused(`Nothing was said in session "${name}" yet.`);
  const isTaken = async (each: string) => (await store.find(each)) !== null;
  const forked =
    wanted === undefined ? await keyOfFork(key, isTaken) : requireSessionName(wanted, agentId).key;
  await refuseUnknownAgent(parseSessionName(forked)!.agentId, agentId, environment);
  if (await isTaken(forked))
    throw refused(`There is a session "${shortName(forked)}" already; choose another name.`);
  const { sessions, close } = await sessionsToChange(environment);
  try {
    const session = await sessions.open({ key: forked, cwd: found.header.cwd ?? environment.home });
    try {
      await session.compaction.graft({ keep: 0, leafId: null, entries: found.branch });
    } finally {
      await session.close();
    }
  } finally {
    await close();
  }
  if (json) output.json({ session: forked, from: key });
  else
    output.line(
      printable(
        `Session "${shortName(forked)}" begins with all that was said in "${shortName(key)}"; go on in it with: clew chat --session ${sessionWord(forked)}`,
      ),
    );
  return EXIT.done;
}

/** A session is forked to its own agent, or to one that is there. */
async function refuseUnknownAgent(
  wanted: string,
  own: string,
  { home, configFile }: Shell["environment"],
): Promise<void> {
  if (wanted === own) return;
  const { config } = await loadConfig(configFile);
  const known = [...new Set([...agentIds(config), ...(await listAgents(home))])];
  if (known.includes(wanted)) return;
  throw refused(
    `There is no agent "${wanted}", only ${known.join(", ")}; name a session of one that is there.`,
  );
}

const refused = (text: string) => new ContextEngineError("REQUEST_INVALID", text);
