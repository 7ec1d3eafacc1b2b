// Runs `clew engine status`, which says which engine answers an agent or a session, and why.
import { ContextEngineError, type ErrorCode } from "@clew/plugin-sdk/core";
import { composeHost } from "../../compose.ts";
import { defaultAgentId } from "../../config/agent.ts";
import { loadConfig } from "../../config/load.ts";
import { describeMissing, findOwnGateway, type OwnGateway } from "../../gateway-client.ts";
import { describeEngine, pluginProblem } from "../../plugins/engines/describe-engine.ts";
import type { EngineStatus } from "../../plugins/engines/engine-status.ts";
import { startPlugins } from "../../plugins/start.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { setUp } from "../setup.ts";
import { storedSessions } from "../stored-sessions.ts";

const ASK_MS = 10_000;

interface Told {
  status: EngineStatus;
  /** For people. */
  text: string;
  /** How it is known. */
  source: string;
}

/** A running gateway is asked; else plugins are loaded as a start would. */
export async function engineStatus(
  name: string | undefined,
  { json = false }: { json?: boolean },
  shell: Shell,
): Promise<number> {
  const { environment, output } = shell;
  const { home } = environment;
  const { config } = await loadConfig(environment.configFile);
  const agent = defaultAgentId(config);
  const session = name === undefined ? undefined : requireSessionName(name, agent);
  if (session !== undefined && name !== undefined) {
    const { sessions: store } = await storedSessions(environment);
    if ((await store.find(session.key)) === null) throw await store.notFound(name);
  }
  const lookup = await findOwnGateway({ home, port: config.gateway.port });
  const told =
    lookup.kind === "running"
      ? await ask(lookup.gateway, session?.key)
      : await load(session?.agentId ?? agent, describeMissing(lookup), shell);
  if (json) output.json({ ...told.status, text: told.text });
  else {
    output.line(printable(told.text));
    output.note(`(${told.source})`);
  }
  return EXIT.done;
}

async function ask({ url, request }: OwnGateway, key: string | undefined): Promise<Told> {
  const path = `/api/engine${key === undefined ? "" : `?session=${encodeURIComponent(key)}`}`;
  const answer = await request(path, { timeoutMs: ASK_MS });
  const { error } = (answer?.body ?? {}) as { error?: { code: ErrorCode; message: string } };
  if (error !== undefined) throw new ContextEngineError(error.code, error.message);
  if (answer?.status !== 200)
    throw new ContextEngineError(
      "GATEWAY_UNREACHABLE",
      `The gateway at ${url} did not say in time which engine answers; see its log.`,
    );
  const { text, ...status } = answer.body as unknown as EngineStatus & { text: string };
  return { status, text, source: `as told by the gateway at ${url}` };
}

async function load(agentId: string, why: string, shell: Shell): Promise<Told> {
  const { environment, loaded, log } = await setUp(shell, {}, { showProblems: false });
  const plugins = await startPlugins({ environment, loaded, log });
  try {
    const host = composeHost({ environment, loaded, log, plugins, onMissingEngine: () => {} });
    const status = await host.engineStatus(agentId);
    await host.close();
    const text = describeEngine(status, pluginProblem(status, plugins));
    return { status, text, source: `${why}; this is how a start would have it` };
  } finally {
    await plugins.close("the command is over");
    log.close();
  }
}
