// Runs `clew mcp`, which offers sessions to other agents on its input and output.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { agentIds, defaultAgentId } from "../../config/agent.ts";
import { loadConfig } from "../../config/load.ts";
import { secretsIn } from "../../config/secret-names.ts";
import { hider } from "../../log/log.ts";
import { createLibrary } from "../../mcp/server/library.ts";
import { serveMcp } from "../../mcp/server/serve.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import type { Shell } from "../../terminal/shell.ts";
import { listenForStop } from "../stop.ts";
import { storedSessions } from "../stored-sessions.ts";

export interface ServeOptions {
  agent?: string[];
  session?: string[];
}

/** Whatever else would be written to the output goes to the error output. Throws CONFIG_INVALID. */
export async function mcpServe(
  { agent, session }: ServeOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { raw, config } = await loadConfig(environment.configFile);
  const { home } = environment;
  const { sessions: store } = await storedSessions(environment);
  // Those whose settings are gone have sessions, too.
  const ids = [
    ...new Set([...agentIds(config), ...(await store.list()).map(({ agentId }) => agentId)]),
  ];
  const nobody = agent?.find((id) => !ids.includes(id));
  if (nobody !== undefined)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `There is no agent "${nobody}"; there is: ${ids.join(", ")}.`,
    );
  const defaultAgent = defaultAgentId(config);
  const library = createLibrary({
    ...{ home, store, defaultAgent },
    agents: agent,
    sessions: session?.map((name) => requireSessionName(name, defaultAgent).key),
    hide: hider(secretsIn(raw, environment)),
  });
  const stop = new AbortController();
  const stopped = listenForStop();
  void stopped.ending.then(() => stop.abort());
  if (process.stdin.isTTY)
    output.note(
      "clew: agents start this command and speak MCP with it; docs/mcp.md says how to add it to them. Ctrl-C ends it.",
    );
  await serveMcp({
    ...{ library, input: process.stdin, output: process.stdout, signal: stop.signal },
    note: (text) => output.note(`clew: ${text}`),
  });
  return EXIT.done;
}
