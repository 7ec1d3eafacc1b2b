// Sends each model call to the server that its model belongs to.
import type { LogPort, ModelPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelError, ModelRef, StreamEvent } from "@clew/plugin-sdk/host";
import { completeModel, streamModel } from "@clew/providers";
import type { LimitsConfig } from "../config/limits.ts";
import { withCost } from "../costs/cost.ts";
import type { KeptCredential } from "../credentials/keep.ts";
import { signIn } from "../credentials/sign-in.ts";
import { limitReply } from "../limits/reply.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { patience } from "./patience.ts";
import type { ResolvedModel } from "./resolve.ts";

/** `resolve` throws CONFIG_INVALID for a name it does not know. */
export function createModelPort({
  resolve,
  credentialFor,
  refused,
  log,
  limits: { replyBytes, answerBytes },
}: {
  resolve: (name: string) => ResolvedModel;
  /** Undefined: the endpoint holds what is needed. */
  credentialFor: (resolved: ResolvedModel) => KeptCredential | undefined;
  /** Told that a provider did not take what it was signed in to with. */
  refused: (resolved: ResolvedModel) => void;
  log: LogPort;
  limits: Pick<LimitsConfig, "replyBytes" | "answerBytes">;
}): ModelPort {
  const answerLimit = { bytes: answerBytes, setting: "gateway.limits.answerBytes" };
  const optionsFor = (call: ModelCall) => {
    const name = `${call.model.provider}/${call.model.id}`;
    const resolved = resolve(name);
    const { endpoint, access } = resolved;
    const kept = credentialFor(resolved);
    const sign = kept && signIn({ call, endpoint, kept, region: access.region, now: Date.now });
    const onRetry = ({
      error,
      retry,
      delayMs,
    }: {
      error: { kind: string };
      retry: number;
      delayMs: number;
    }) => log.warn(`model ${name}: ${error.kind}, retry ${retry} in ${Math.round(delayMs)} ms`);
    const options = {
      ...{ call, endpoint, onRetry, answerLimit },
      ...patience(resolved),
      ...(sign && { sign }),
    };
    return { resolved, options };
  };
  async function* stream(call: ModelCall): AsyncGenerator<StreamEvent> {
    const { resolved, options } = optionsFor(call);
    const { prices } = resolved;
    for await (const event of streamModel(options)) {
      if (event.type === "done") yield { ...event, message: withCost(event.message, call, prices) };
      else if (event.type === "error") {
        const partial = withCost(event.partial, call, prices);
        if (event.error.kind === "auth") refused(resolved);
        yield { ...event, partial, error: await explained(event.error, resolved) };
      } else yield event;
    }
  }
  return {
    stream: (call) => limitReply(stream, call, replyBytes),
    complete: async (call) => {
      const { resolved, options } = optionsFor(call);
      const { prices } = resolved;
      const result = await completeModel(options);
      if (result.ok) return { ...result, message: withCost(result.message, call, prices) };
      const failed = { ...result, partial: withCost(result.partial, call, prices) };
      if (failed.error.kind === "auth") refused(resolved);
      return { ...failed, error: await explained(failed.error, resolved) };
    },
    resolve: (name) => resolveOrNothing(resolve, name),
  };
}

/** A person who reads it learns what is missing, or what the server has instead. */
const explained = async (error: ModelError, resolved: ResolvedModel): Promise<ModelError> =>
  error.kind === "auth" || error.kind === "not_found"
    ? { ...error, message: await explainRefusal(error, resolved) }
    : error;

function resolveOrNothing(
  resolve: (name: string) => ResolvedModel,
  name: string,
): ModelRef | undefined {
  try {
    return resolve(name).model;
  } catch (error) {
    if (ContextEngineError.is(error, "CONFIG_INVALID")) return undefined;
    throw error;
  }
}
