// What a request asks of the model besides its messages, whichever wire it came by.
import type {
  ModelCall,
  ReasoningEffort,
  ReasoningRequest,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from "@clew/plugin-sdk/host";
import type { DoorRequest, JsonObject } from "../wires/door-wire.ts";
import { recordOf, textOf } from "../wires/json.ts";

export interface ClientAsk
  extends Pick<
    ModelCall,
    | "maxOutputTokens"
    | "temperature"
    | "reasoning"
    | "toolChoice"
    | "parallelToolCalls"
    | "responseFormat"
  > {
  /** Said beside the messages; "" when nothing is. */
  system: string;
  /** Functions of the client. What a provider would run itself is not among them. */
  tools: readonly ToolDefinition[];
}

/** What each wire says in its own way. */
export interface WireAsk {
  system: string;
  tools: readonly ToolDefinition[];
  temperature: unknown;
  reasoning: ReasoningRequest | undefined;
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
  responseFormat: ResponseFormat | undefined;
}

/** Members that are not known are left out, so that the settings of Clew hold. */
export function clientAsk(wire: WireAsk, { maxTokens }: Pick<DoorRequest, "maxTokens">): ClientAsk {
  const { system, tools, temperature, reasoning, toolChoice, parallelToolCalls, responseFormat } =
    wire;
  const named = typeof toolChoice === "object" ? toolChoice.name : undefined;
  const isKnown = named === undefined || tools.some(({ name }) => name === named);
  return {
    system,
    tools,
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(typeof temperature === "number" && { temperature }),
    ...(reasoning !== undefined && { reasoning }),
    ...(toolChoice !== undefined && isKnown && { toolChoice }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(responseFormat !== undefined && { responseFormat }),
  };
}

/** A function, as far as it has a name. */
export function toolOf(given: JsonObject, schema: unknown): ToolDefinition[] {
  const name = textOf(given.name);
  if (name === "") return [];
  const parameters = { type: "object", properties: {}, ...recordOf(schema) };
  return [{ name, description: textOf(given.description), parameters }];
}

const EFFORTS: Readonly<Record<string, ReasoningEffort>> = {
  none: "off",
  off: "off",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

/** Undefined: a word that nobody knows. */
export const effortOf = (word: unknown): ReasoningEffort | undefined =>
  EFFORTS[textOf(word).toLowerCase()];

/** The form of a reply that fits a schema; some wires give it no name. */
export const schemaFormat = (schema: unknown, name: unknown): ResponseFormat => ({
  type: "json_schema",
  name: textOf(name) || "reply",
  schema: recordOf(schema),
});
