// Reads what requests of Google's generateContent ask besides their contents.
import { isRecord, type ReasoningRequest, type ToolChoice } from "@clew/plugin-sdk/host";
import type { JsonObject } from "../wires/door-wire.ts";
import { listOf, objectsOf, recordOf, textOf } from "../wires/json.ts";
import { effortOf, schemaFormat, toolOf, type WireAsk } from "./client-ask.ts";

export function askOfGoogle(body: JsonObject): WireAsk {
  const config = recordOf(body.generationConfig);
  return {
    system: partsText(body.systemInstruction ?? body.system_instruction),
    tools: objectsOf(body.tools)
      .flatMap((tool) => objectsOf(tool.functionDeclarations ?? tool.function_declarations))
      .flatMap((declared) =>
        toolOf(declared, declared.parametersJsonSchema ?? jsonSchemaOf(declared.parameters)),
      ),
    temperature: config.temperature,
    reasoning: reasoningOf(recordOf(config.thinkingConfig)),
    toolChoice: toolChoiceOf(recordOf(recordOf(body.toolConfig).functionCallingConfig)),
    parallelToolCalls: undefined,
    responseFormat: formatOf(config),
  };
}

const partsText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : objectsOf(recordOf(content).parts)
        .map(({ text }) => textOf(text))
        .filter(Boolean)
        .join("\n");

function reasoningOf({ thinkingBudget, thinkingLevel }: JsonObject): ReasoningRequest | undefined {
  if (thinkingBudget === 0) return { effort: "off" };
  const effort = effortOf(thinkingLevel);
  if (effort !== undefined) return { effort };
  // −1 leaves it to the model.
  return typeof thinkingBudget === "number" && thinkingBudget > 0
    ? { budgetTokens: thinkingBudget }
    : undefined;
}

function toolChoiceOf({ mode, allowedFunctionNames }: JsonObject): ToolChoice | undefined {
  if (mode === "AUTO") return "auto";
  if (mode === "NONE") return "none";
  if (mode !== "ANY") return undefined;
  const [name, ...others] = listOf(allowedFunctionNames);
  return textOf(name) !== "" && others.length === 0 ? { name: textOf(name) } : "required";
}

function formatOf(config: JsonObject): WireAsk["responseFormat"] {
  if (config.responseMimeType !== "application/json") return undefined;
  const schema = config.responseJsonSchema ?? config.responseSchema;
  return schema === undefined
    ? { type: "json" }
    : schemaFormat(config.responseJsonSchema ?? jsonSchemaOf(schema), undefined);
}

/** Google's own schemas write types in capitals, and say beside them what may be null. */
export function jsonSchemaOf(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(jsonSchemaOf);
  if (!isRecord(schema)) return schema;
  const { type, nullable, properties, items, anyOf, ...rest } = schema;
  const name = typeof type === "string" ? type.toLowerCase() : type;
  return {
    ...(name !== undefined && { type: nullable === true ? [name, "null"] : name }),
    ...rest,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, value]) => [key, jsonSchemaOf(value)]),
      ),
    }),
    ...(items !== undefined && { items: jsonSchemaOf(items) }),
    ...(anyOf !== undefined && { anyOf: jsonSchemaOf(anyOf) }),
  };
}
