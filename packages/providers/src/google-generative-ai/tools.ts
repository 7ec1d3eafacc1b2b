// How tools and the choice among them read on the Gemini wire.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import { openApiSchema, type Schema } from "./openapi-schema.ts";

export interface FunctionDeclaration {
  name: string;
  description: string;
  /** JSON Schema, as the tool has it. */
  parametersJsonSchema?: Readonly<Record<string, unknown>>;
  /** The part of OpenAPI's schema that the wire knows. */
  parameters?: Schema;
}

export interface FunctionCallingConfig {
  mode: "AUTO" | "ANY" | "NONE";
  /** Absent: all. */
  allowedFunctionNames?: string[];
}

export interface ToolFields {
  tools?: { functionDeclarations: FunctionDeclaration[] }[];
  toolConfig?: { functionCallingConfig: FunctionCallingConfig };
}

/** None without tools. */
export function toolFields(
  { tools, toolChoice, model }: ModelCall,
  profile: ModelProfile,
): ToolFields {
  if (tools.length === 0) return {};
  const config = toolChoice === undefined ? undefined : callingConfig(toolChoice, profile);
  // Behind this wire other makers' models are told of tools the older way only.
  const isOwn = /gemini/i.test(model.id);
  return {
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          ...(isOwn
            ? { parametersJsonSchema: parameters }
            : { parameters: openApiSchema(parameters) }),
        })),
      },
    ],
    ...(config !== undefined && { toolConfig: { functionCallingConfig: config } }),
  };
}

function callingConfig(
  choice: NonNullable<ModelCall["toolChoice"]>,
  { calls }: ModelProfile,
): FunctionCallingConfig {
  if (choice === "none") return { mode: "NONE" };
  if (choice === "auto" || !calls.canForce) return { mode: "AUTO" };
  return choice === "required"
    ? { mode: "ANY" }
    : { mode: "ANY", allowedFunctionNames: [choice.name] };
}
