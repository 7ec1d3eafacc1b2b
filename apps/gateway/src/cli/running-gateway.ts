// Asks the gateway that runs in a home, as whoever holds a session changes it.
import { ContextEngineError, type ErrorCode } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import { findOwnGateway, type OwnGateway } from "../gateway-client.ts";

/** Undefined: none runs that answers; the locks of sessions say what another process holds. */
export async function runningGateway({
  home,
  configFile,
}: Pick<Environment, "home" | "configFile">): Promise<OwnGateway | undefined> {
  const { config } = await loadConfig(configFile);
  const found = await findOwnGateway({ home, port: config.gateway.port });
  return found.kind === "running" ? found.gateway : undefined;
}

/** The body of its answer. Throws what it refuses, and GATEWAY_UNREACHABLE. */
export async function answerOf<Answer>(
  { url, request }: OwnGateway,
  path: string,
  options: { method: string; timeoutMs: number },
): Promise<Answer> {
  const answer = await request(path, options);
  if (answer === null)
    throw new ContextEngineError(
      "GATEWAY_UNREACHABLE",
      `Nobody knows whether it was done: ${url} did not answer in time; see its log.`,
    );
  const { error } = answer.body as { error?: { code: ErrorCode; message: string } };
  if (error !== undefined) throw new ContextEngineError(error.code, error.message);
  return answer.body as Answer;
}
