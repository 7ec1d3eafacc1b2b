// Reads what requests of the two wires of OpenAI ask besides their messages.
import type { ReasoningRequest, ResponseFormat, ToolChoice } from "@clew/plugin-sdk/host";
import type { DoorRequest, JsonObject } from "../wires/door-wire.ts";
import { objectsOf, recordOf, textOf } from "../wires/json.ts";
import { chatText } from "../wires/openai-completions.ts";
import { effortOf, schemaFormat, toolOf, type WireAsk } from "./client-ask.ts";

export const askOfCompletions = (body: JsonObject, request: DoorRequest): WireAsk => ({
  system: leadingText(request),
  tools: objectsOf(body.tools).flatMap((tool) => {
    const given = recordOf(tool.function);
    return toolOf(given, given.parameters);
  }),
  temperature: body.temperature,
  reasoning: reasoningOf(body.reasoning_effort),
  toolChoice: toolChoiceOf(body.tool_choice, (choice) => recordOf(choice.function).name),
  parallelToolCalls: flag(body.parallel_tool_calls),
  responseFormat: formatOf(recordOf(body.response_format), ({ json_schema: given }) =>
    recordOf(given),
  ),
});

export const askOfResponses = (body: JsonObject, request: DoorRequest): WireAsk => ({
  system: [textOf(body.instructions), leadingText(request)].filter(Boolean).join("\n\n"),
  tools: objectsOf(body.tools).flatMap((tool) =>
    tool.type === "function" ? toolOf(tool, tool.parameters) : [],
  ),
  temperature: body.temperature,
  reasoning: reasoningOf(recordOf(body.reasoning).effort),
  toolChoice: toolChoiceOf(body.tool_choice, (choice) =>
    choice.type === "function" ? choice.name : undefined,
  ),
  parallelToolCalls: flag(body.parallel_tool_calls),
  responseFormat: formatOf(recordOf(recordOf(body.text).format), (format) => format),
});

const leadingText = ({ messages, leading }: DoorRequest): string =>
  messages
    .slice(0, leading)
    .map(({ content }) => chatText(content))
    .filter(Boolean)
    .join("\n\n");

function reasoningOf(word: unknown): ReasoningRequest | undefined {
  const effort = effortOf(word);
  return effort && { effort };
}

function toolChoiceOf(
  choice: unknown,
  nameIn: (choice: JsonObject) => unknown,
): ToolChoice | undefined {
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  const name = textOf(nameIn(recordOf(choice)));
  return name === "" ? undefined : { name };
}

const flag = (value: unknown) => (typeof value === "boolean" ? value : undefined);

function formatOf(
  format: JsonObject,
  schemaIn: (format: JsonObject) => JsonObject,
): ResponseFormat | undefined {
  if (format.type === "json_object") return { type: "json" };
  if (format.type !== "json_schema") return undefined;
  const { name, schema } = schemaIn(format);
  return schemaFormat(schema, name);
}
