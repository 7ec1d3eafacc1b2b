// Says whether the default agent's model answers a question, by asking it one.
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { askOnce } from "../models/ask-once.ts";
import { explainRefusal } from "../models/explain-refusal.ts";
import { modelRequest } from "../models/model-request.ts";
import { resolveModel } from "../models/resolve.ts";
import type { Finding } from "./finding.ts";

/** A server on this machine may have to read the model from its disk first, ms. */
const PATIENCE_MS = 60_000;

/** Costs one short call. Nothing is said of a model that needs no network. */
export async function checkReply(
  environment: Environment,
  { config }: LoadedConfig,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { model: name } = agentSettings(config, environment.home, defaultAgentId(config));
  const resolved = resolveModel({ ...modelRequest(config, environment), name });
  if (resolved.endpoint.baseUrl === "") return [];
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const error = await askOnce(resolved, {
    readText: environment.readText,
    signal: AbortSignal.any([signal, patience]),
  });
  signal.throwIfAborted();
  const subject = "model";
  if (error === null)
    return [{ level: "ok", code: "model-answers", subject, text: `${name} answered a question` }];
  const text = patience.aborted
    ? `${name} had not answered a question after ${PATIENCE_MS / 1000} s; "clew models test" asks it again`
    : await explainRefusal(error, resolved);
  const level = patience.aborted ? "warning" : "failure";
  return [{ level, code: "model-no-answer", subject, text }];
}
