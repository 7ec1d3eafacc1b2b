// What a call asks of the model, in the fields of the Responses wire.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import { toolChoiceOf } from "../shared/tool-choice.ts";

export interface ResponsesAsk {
  /** Fields beside instructions and items. */
  fields: Record<string, unknown>;
  /** True: the model thinks, and takes no temperature. */
  thinks: boolean;
}

export function askFields(call: ModelCall, profile: ModelProfile): ResponsesAsk {
  const { tools, toolChoice, parallelToolCalls, responseFormat, serviceTier, model } = call;
  const thinks = profile.reasoning.ask !== "none" && model.reasoning !== false;
  const reasoning = thinks ? reasoningField(call, profile) : {};
  return {
    thinks,
    fields: {
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, parameters }) => ({
          type: "function",
          name,
          description,
          parameters,
          // Schemas of tools are anybody's; the strict kind would have to name every property.
          strict: false,
        })),
        ...(toolChoice !== undefined && {
          tool_choice: toolChoiceOf(toolChoice, profile, (name) => ({ type: "function", name })),
        }),
        ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
      }),
      ...(Object.keys(reasoning).length > 0 && { reasoning }),
      // What is not stored must come back to be of use.
      ...(thinks && { include: ["reasoning.encrypted_content"] }),
      ...(responseFormat !== undefined && { text: { format: format(responseFormat) } }),
      ...(serviceTier !== undefined && { service_tier: serviceTier }),
    },
  };
}

function reasoningField(
  { reasoning }: ModelCall,
  { reasoning: { canStop } }: ModelProfile,
): { effort?: string; summary?: string } {
  const { effort, display } = reasoning ?? {};
  const off = canStop ? "none" : "low";
  return {
    ...(effort !== undefined && {
      effort: effort === "off" ? off : effort === "max" ? "xhigh" : effort,
    }),
    ...((display === "full" || display === "summary") && {
      summary: display === "full" ? "detailed" : "auto",
    }),
  };
}

function format(responseFormat: NonNullable<ModelCall["responseFormat"]>): unknown {
  switch (responseFormat.type) {
    case "text":
      return { type: "text" };
    case "json":
      return { type: "json_object" };
    case "json_schema":
      return {
        type: "json_schema",
        name: responseFormat.name,
        schema: responseFormat.schema,
        strict: false,
      };
  }
}
