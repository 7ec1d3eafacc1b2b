// How tools and the choice among them read on the Messages wire.
import { isRecord, type ModelCall, type ModelProfile } from "@clew/plugin-sdk/host";
import type { CacheMark } from "./cache.ts";

/** None without tools: the wire takes no choice then. */
export function toolFields(
  call: ModelCall,
  profile: ModelProfile,
  mark: CacheMark,
): Record<string, unknown> {
  const { tools } = call;
  if (tools.length === 0) return {};
  const choice = choiceField(call, profile);
  return {
    tools: tools.map(({ name, description, parameters }, index) => ({
      name,
      description,
      input_schema: inputSchema(parameters),
      ...(index === tools.length - 1 && mark),
    })),
    ...(choice !== undefined && { tool_choice: choice }),
  };
}

/** True when the model is told to call something. */
export const forcesCall = ({ toolChoice, tools }: ModelCall, { calls }: ModelProfile): boolean =>
  tools.length > 0 &&
  calls.canForce &&
  (toolChoice === "required" || typeof toolChoice === "object");

function choiceField(call: ModelCall, profile: ModelProfile): object | undefined {
  const { toolChoice, parallelToolCalls } = call;
  if (toolChoice === "none") return { type: "none" };
  const oneByOne = parallelToolCalls === false && { disable_parallel_tool_use: true };
  if (!forcesCall(call, profile))
    return toolChoice === undefined && oneByOne === false
      ? undefined
      : { type: "auto", ...oneByOne };
  return typeof toolChoice === "object"
    ? { type: "tool", name: toolChoice.name, ...oneByOne }
    : { type: "any", ...oneByOne };
}

const UNIONS = ["anyOf", "oneOf", "allOf"] as const;

/**
 * The schema as an object with properties: no choice between several is taken at the root.
 * Of those each property may be given and none must; the tool checks what it gets.
 */
export function inputSchema(parameters: Record<string, unknown>): Record<string, unknown> {
  const { anyOf, oneOf, allOf, ...rest } = parameters;
  const variants = [anyOf, oneOf, allOf].flat().filter(isRecord);
  const isUnion = UNIONS.some((key) => key in parameters);
  const merged = variants.map(({ properties }) => (isRecord(properties) ? properties : {}));
  const own = isRecord(rest.properties) ? rest.properties : {};
  return { ...rest, type: "object", properties: isUnion ? Object.assign({}, ...merged, own) : own };
}
