// What a call asks of the model, in the fields of Chat Completions.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { serverAt } from "../shared/flavor.ts";
import { toolChoiceOf } from "../shared/tool-choice.ts";

/** Fields beside messages and tools; none for what a call leaves to the provider. */
export function askFields(
  call: ModelCall,
  endpoint: Endpoint,
  profile: ModelProfile,
): Record<string, unknown> {
  const { tools, toolChoice, parallelToolCalls, responseFormat, serviceTier } = call;
  return {
    ...reasoningAsk(call, endpoint, profile),
    ...(tools.length > 0 && {
      ...(toolChoice !== undefined && {
        tool_choice: toolChoiceOf(toolChoice, profile, (name) => ({
          type: "function",
          function: { name },
        })),
      }),
      ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    }),
    ...(responseFormat !== undefined && { response_format: format(responseFormat) }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
  };
}

/** A router takes one object for every maker's setting; others take OpenAI's word for it. */
function reasoningAsk(
  { reasoning }: ModelCall,
  endpoint: Endpoint,
  { reasoning: { ask, canStop } }: ModelProfile,
): Record<string, unknown> {
  if (reasoning === undefined) return {};
  const { effort, budgetTokens, display } = reasoning;
  if (isRouter(endpoint)) {
    const settings = {
      ...(budgetTokens !== undefined
        ? { max_tokens: budgetTokens }
        : effort !== undefined && (effort === "off" ? { enabled: false } : { effort })),
      ...(display === "none" && { exclude: true }),
    };
    return Object.keys(settings).length === 0 ? {} : { reasoning: settings };
  }
  if (ask !== "effort" || effort === undefined) return {};
  if (effort === "off") return { reasoning_effort: canStop ? "none" : "low" };
  return { reasoning_effort: effort === "max" ? "xhigh" : effort };
}

const isRouter = (endpoint: Endpoint): boolean => serverAt(endpoint)?.isRouter === true;

function format(responseFormat: NonNullable<ModelCall["responseFormat"]>): unknown {
  switch (responseFormat.type) {
    case "text":
      return { type: "text" };
    case "json":
      return { type: "json_object" };
    case "json_schema":
      return {
        type: "json_schema",
        json_schema: { name: responseFormat.name, schema: responseFormat.schema },
      };
  }
}

/**
 * The messages without answers at the end, where a router certainly hands the call to a server that
 * refuses to go on with one while it thinks.
 */
export function withoutPrefill(
  { messages, reasoning }: ModelCall,
  endpoint: Endpoint,
  { turns }: ModelProfile,
): readonly AgentMessage[] {
  const thinks =
    reasoning?.budgetTokens !== undefined || !["off", undefined].includes(reasoning?.effort);
  if (!thinks || !turns.thinkingForbidsPrefill || !isRouter(endpoint)) return messages;
  const end = messages.findLastIndex((message) => !isPrefill(message)) + 1;
  return end === messages.length ? messages : messages.slice(0, end);
}

const isPrefill = (message: AgentMessage): boolean =>
  message.role === "assistant" && !message.content.some(({ type }) => type === "toolCall");
