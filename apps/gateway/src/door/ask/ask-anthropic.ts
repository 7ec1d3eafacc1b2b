// Reads what requests of Anthropic's Messages ask besides their messages.
import type { ReasoningRequest, ToolChoice } from "@clew/plugin-sdk/host";
import type { JsonObject } from "../wires/door-wire.ts";
import { objectsOf, recordOf, textOf } from "../wires/json.ts";
import { chatText } from "../wires/openai-completions.ts";
import { effortOf, schemaFormat, toolOf, type WireAsk } from "./client-ask.ts";

export function askOfMessages(body: JsonObject): WireAsk {
  const choice = recordOf(body.tool_choice);
  const { effort, format } = recordOf(body.output_config);
  const { type: formatType, schema } = recordOf(format ?? body.output_format);
  return {
    system: chatText(body.system),
    tools: objectsOf(body.tools).flatMap((tool) =>
      tool.type === undefined || tool.type === "custom" ? toolOf(tool, tool.input_schema) : [],
    ),
    temperature: body.temperature,
    reasoning: reasoningOf(recordOf(body.thinking), effort),
    toolChoice: toolChoiceOf(choice),
    parallelToolCalls: choice.disable_parallel_tool_use === true ? false : undefined,
    responseFormat: formatType === "json_schema" ? schemaFormat(schema, undefined) : undefined,
  };
}

function reasoningOf({ type, budget_tokens }: JsonObject, word: unknown) {
  const effort = type === "disabled" ? "off" : effortOf(word);
  const reasoning: ReasoningRequest = {
    ...(effort !== undefined && { effort }),
    ...(type === "enabled" && typeof budget_tokens === "number" && { budgetTokens: budget_tokens }),
  };
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}

function toolChoiceOf({ type, name }: JsonObject): ToolChoice | undefined {
  if (type === "auto" || type === "none") return type;
  if (type === "any") return "required";
  return type === "tool" && textOf(name) !== "" ? { name: textOf(name) } : undefined;
}
