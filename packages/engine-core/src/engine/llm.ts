// The model calls that an engine may make through `runtimeContext.llm`.
import type { AgentMessage, LlmCompleteParams, LlmCompleteResult } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import { textOf } from "@clew/plugin-sdk/transcript";
import type { ModelPort } from "../ports.ts";
import type { HostSession } from "../transcript-port.ts";

/** `plugins.entries.<id>.llm`. */
export interface LlmPolicy {
  /** True: another model than the session's may be named. Absent: false. */
  allowModelOverride?: boolean;
  /** "provider/model" references; "*" = any. Absent: any, once overriding is allowed. */
  allowedModels?: readonly string[];
}

/** On whose behalf a model call of an engine is made, and within which limits. */
export interface LlmBinding {
  /** Makes the call. */
  model: ModelPort;
  /** Used when the call names no model. */
  sessionModel: ModelRef;
  /** Undefined: not bound to an agent. */
  session: HostSession | undefined;
  /** The plugin on whose behalf the call is made. */
  pluginId: string | undefined;
  /** What the operator allows. */
  policy: LlmPolicy;
  /** Stands in the audit when the call names none. */
  purpose: string;
  /** Ends the call with its run; undefined = only its own signal does. */
  signal: AbortSignal | undefined;
}

/**
 * Contract §1.5. Throws what the policy forbids and what the model did wrong; plugins match
 * the wording of the former.
 */
export async function completeForEngine(
  binding: LlmBinding,
  params: LlmCompleteParams,
): Promise<LlmCompleteResult> {
  const { session } = binding;
  if (session === undefined)
    throw new Error("Plugin LLM completion is not bound to an active session agent.");
  if (params.agentId !== undefined && params.agentId !== session.agentId)
    throw new Error("Plugin LLM completion cannot override the active session agent.");
  const model = chooseModel(binding, params.model);
  const signals = [params.signal, binding.signal].filter((signal) => signal !== undefined);
  const outcome = await binding.model.complete({
    model,
    systemPrompt: [
      params.systemPrompt,
      ...params.messages.filter(({ role }) => role === "system").map(({ content }) => content),
    ]
      .filter(Boolean)
      .join("\n\n"),
    messages: params.messages.flatMap(toMessage),
    tools: [],
    ...(params.maxTokens !== undefined && { maxOutputTokens: params.maxTokens }),
    ...(params.temperature !== undefined && { temperature: params.temperature }),
    signal: AbortSignal.any(signals),
  });
  if (!outcome.ok) {
    for (const signal of signals) signal.throwIfAborted();
    throw new Error(outcome.error.message);
  }
  const { usage } = outcome.message;
  return {
    text: textOf(outcome.message),
    provider: model.provider,
    model: model.id,
    agentId: session.agentId,
    usage: {
      inputTokens: usage?.input ?? 0,
      outputTokens: usage?.output ?? 0,
      cacheReadTokens: usage?.cacheRead ?? 0,
      cacheWriteTokens: usage?.cacheWrite ?? 0,
      totalTokens: usage?.totalTokens ?? 0,
      costUsd: usage?.cost?.total ?? 0,
    },
    audit: {
      caller: { kind: "context-engine", id: binding.pluginId ?? "core" },
      purpose: params.purpose ?? binding.purpose,
      sessionKey: session.sessionKey,
    },
    stopReason: outcome.message.stopReason,
  };
}

/** System messages went into the system prompt. */
function toMessage({ role, content }: LlmCompleteParams["messages"][number]): AgentMessage[] {
  if (role === "system") return [];
  if (role === "user") return [{ role, content }];
  return [{ role, content: [{ type: "text", text: content }], stopReason: "stop" }];
}

function chooseModel(
  { model, sessionModel, policy }: LlmBinding,
  wanted: string | undefined,
): ModelRef {
  if (wanted === undefined || wanted === `${sessionModel.provider}/${sessionModel.id}`)
    return sessionModel;
  if (policy.allowModelOverride !== true)
    throw new Error("Plugin LLM completion cannot override the target model.");
  const { allowedModels } = policy;
  if (
    allowedModels !== undefined &&
    !allowedModels.includes("*") &&
    !allowedModels.includes(wanted)
  )
    throw new Error(`Plugin LLM completion model override "${wanted}" is not allowlisted.`);
  const found = model.resolve?.(wanted);
  if (found === undefined)
    throw new Error(`Plugin LLM completion model "${wanted}" is not known to this host.`);
  return found;
}
