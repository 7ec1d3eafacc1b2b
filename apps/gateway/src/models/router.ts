// Sends each model call to the server that its model belongs to.
import type { LogPort, ModelPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelRef } from "@clew/plugin-sdk/host";
import { completeModel, type Endpoint, streamModel } from "@clew/providers";
import type { LimitsConfig } from "../config/limits.ts";
import { limitReply } from "../limits/reply.ts";
import type { ResolvedModel } from "./resolve.ts";

/** `resolve` throws CONFIG_INVALID for a name it does not know. */
export function createModelPort({
  resolve,
  log,
  limits: { replyBytes, answerBytes },
}: {
  resolve: (name: string) => ResolvedModel;
  log: LogPort;
  limits: Pick<LimitsConfig, "replyBytes" | "answerBytes">;
}): ModelPort {
  const answerLimit = { bytes: answerBytes, setting: "gateway.limits.answerBytes" };
  const optionsFor = (call: ModelCall) => {
    const name = `${call.model.provider}/${call.model.id}`;
    const endpoint: Endpoint = resolve(name).endpoint;
    const onRetry = ({
      error,
      retry,
      delayMs,
    }: {
      error: { kind: string };
      retry: number;
      delayMs: number;
    }) => log.warn(`model ${name}: ${error.kind}, retry ${retry} in ${Math.round(delayMs)} ms`);
    return { call, endpoint, onRetry, answerLimit };
  };
  return {
    stream: (call) => limitReply((each) => streamModel(optionsFor(each)), call, replyBytes),
    complete: (call) => completeModel(optionsFor(call)),
    resolve: (name) => resolveOrNothing(resolve, name),
  };
}

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
