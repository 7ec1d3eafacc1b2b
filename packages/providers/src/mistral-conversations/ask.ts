// What a call asks of the model, in the fields of Mistral's chat.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";

/** Fields beside messages; none for what a call leaves to the provider. */
export function askFields(call: ModelCall, profile: ModelProfile): Record<string, unknown> {
  const { tools, toolChoice, parallelToolCalls, responseFormat, serviceTier } = call;
  const { maxOutputTokens, temperature, sessionId, cache, reasoning } = call;
  return {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
      ...(toolChoice !== undefined && { tool_choice: choice(toolChoice, profile) }),
      ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    }),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    // It knows thinking and not thinking, nothing between.
    ...(reasoning?.effort !== undefined &&
      profile.reasoning.ask === "effort" && {
        reasoning_effort: reasoning.effort === "off" ? "none" : "high",
      }),
    ...(responseFormat !== undefined && { response_format: format(responseFormat) }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...(sessionId !== undefined && cache?.retention !== "none" && { prompt_cache_key: sessionId }),
  };
}

function choice(
  toolChoice: NonNullable<ModelCall["toolChoice"]>,
  { calls }: ModelProfile,
): unknown {
  if (toolChoice === "none" || toolChoice === "auto" || !calls.canForce)
    return toolChoice === "none" ? "none" : "auto";
  return toolChoice === "required"
    ? "any"
    : { type: "function", function: { name: toolChoice.name } };
}

function format(responseFormat: NonNullable<ModelCall["responseFormat"]>): unknown {
  if (responseFormat.type !== "json_schema")
    return { type: responseFormat.type === "json" ? "json_object" : "text" };
  const { name, schema } = responseFormat;
  return { type: "json_schema", json_schema: { name, schema } };
}
