// Runs `clew engine retry`, which gives engines another chance in one session.
import { retrySession } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describeRetry } from "../../commands/engine.ts";
import { defaultAgentId } from "../../config/agent.ts";
import type { Environment } from "../../config/environment.ts";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { describeMissing, findOwnGateway, type OwnGateway } from "../../gateway-client.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { answerOf } from "../running-gateway.ts";
import { sessionsToChange, storedSessions } from "../stored-sessions.ts";

/** A reply under way is refused at once, so nothing takes long. */
const RETRY_MS = 30_000;

interface Retried {
  text: string;
  data?: unknown;
}

/**
 * What is set aside is known to the running gateway alone; without one only parked turns are left
 * to be offered again. Throws SESSION_NOT_FOUND, SESSION_LOCKED, GATEWAY_UNREACHABLE.
 */
export async function engineRetry(
  name: string,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { config } = await loadConfig(environment.configFile);
  const { key } = requireSessionName(name, defaultAgentId(config));
  const lookup = await findOwnGateway({ home, port: config.gateway.port });
  const retried = await retryWhere(lookup, { environment, key, name, config });
  if (json) output.json(retried);
  else output.line(printable(retried.text));
  return EXIT.done;
}

interface RetryRequest {
  environment: Environment;
  key: string;
  /** As it was typed. */
  name: string;
  config: LoadedConfig["config"];
}

function retryWhere(
  lookup: Awaited<ReturnType<typeof findOwnGateway>>,
  request: RetryRequest,
): Promise<Retried> {
  switch (lookup.kind) {
    case "running":
      return askGateway(lookup.gateway, request);
    case "none":
    case "stranger":
      return retryHere(request);
    default:
      throw new ContextEngineError(
        "GATEWAY_UNREACHABLE",
        `Nothing was retried: ${describeMissing(lookup)}.`,
      );
  }
}

function askGateway(gateway: OwnGateway, { key }: RetryRequest): Promise<Retried> {
  const path = `/api/sessions/${encodeURIComponent(key)}/engine/retry`;
  return answerOf(gateway, path, { method: "POST", timeoutMs: RETRY_MS });
}

async function retryHere({ environment, key, name }: RetryRequest): Promise<Retried> {
  const { sessions: store } = await storedSessions(environment);
  const found = await store.read(key);
  if (found === null) throw await store.notFound(name);
  const { sessions, close } = await sessionsToChange(environment);
  try {
    const transcript = await sessions.open({ key, cwd: found.header.cwd ?? environment.home });
    try {
      const data = { ...(await retrySession({ transcript })), stillAside: [] };
      return { text: describeRetry(data), data };
    } finally {
      await transcript.close();
    }
  } finally {
    await close();
  }
}
