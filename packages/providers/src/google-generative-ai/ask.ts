// What a call asks of the model, in the fields of the Gemini wire.
import type { ModelCall, ModelProfile, ReasoningEffort } from "@clew/plugin-sdk/host";
import { thinkingBudget } from "../shared/effort.ts";
import { formatLeftOut } from "../shared/response-format.ts";
import { type ToolFields, toolFields } from "./tools.ts";

export type ThinkingLevel = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";

/** Either level or budget: the wire takes no two of them. */
export interface ThinkingConfig {
  includeThoughts?: boolean;
  thinkingLevel?: ThinkingLevel;
  /** Tokens; 0 = none. */
  thinkingBudget?: number;
}

export interface GenerationConfig {
  maxOutputTokens?: number;
  temperature?: number;
  responseMimeType?: string;
  responseJsonSchema?: Readonly<Record<string, unknown>>;
  thinkingConfig?: ThinkingConfig;
}

/** Fields beside contents and system instruction. */
export interface AskFields extends ToolFields {
  generationConfig?: GenerationConfig;
  serviceTier?: string;
}

/** None for what a call leaves to the provider. Calls one by one cannot be asked for here. */
export function askFields(call: ModelCall, profile: ModelProfile): AskFields {
  const { maxOutputTokens, temperature, serviceTier } = call;
  const responseFormat = takesFormat(call) ? call.responseFormat : undefined;
  const thinkingConfig = thinkingConfigOf(call, profile);
  const generationConfig: GenerationConfig = {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(responseFormat !== undefined &&
      responseFormat.type !== "text" && { responseMimeType: "application/json" }),
    ...(responseFormat?.type === "json_schema" && { responseJsonSchema: responseFormat.schema }),
    ...(thinkingConfig !== undefined && { thinkingConfig }),
  };
  return {
    ...toolFields(call, profile),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
}

/** The first two generations refuse a format beside tools, which matter more. */
const takesFormat = ({ model, tools }: ModelCall): boolean =>
  tools.length === 0 || !/gemini-[12](?!\d)/i.test(model.id);

/** What of a call is not asked for that reason. */
export const leavesOut = (call: ModelCall): readonly string[] =>
  formatLeftOut(call, {
    takes: takesFormat(call),
    why: `${call.model.id} does not take beside tools`,
  });

/** Undefined: nothing is said, and the model does what it usually does. */
function thinkingConfigOf(
  call: ModelCall,
  { reasoning: { ask, canStop, efforts } }: ModelProfile,
): ThinkingConfig | undefined {
  const { reasoning } = call;
  if (reasoning === undefined || ask === "none") return undefined;
  const { effort, budgetTokens, display } = reasoning;
  const isOff = effort === "off" && budgetTokens === undefined;
  if (isOff && canStop) return { thinkingBudget: 0 };
  return {
    includeThoughts: display === undefined ? !isOff : display !== "none",
    ...(ask === "level"
      ? effort !== undefined && { thinkingLevel: nearestLevel(effort, efforts) }
      : budgetField(call)),
  };
}

function budgetField(call: ModelCall): { thinkingBudget?: number } {
  const { effort, budgetTokens } = call.reasoning ?? {};
  if (effort === undefined && budgetTokens === undefined) return {};
  const budget = thinkingBudget(call, LIMITS);
  return budget === undefined ? {} : { thinkingBudget: budget };
}

/** What all models that take a number take: https://ai.google.dev/gemini-api/docs/thinking */
const LIMITS = { least: 512, most: 24_576 };

const LEVELS: Readonly<Record<ReasoningEffort, number>> = {
  off: 0,
  minimal: 0,
  low: 1,
  medium: 2,
  high: 3,
  xhigh: 3,
  max: 3,
};
const NAMES: readonly ThinkingLevel[] = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];

/** Of two that are as near the higher: it costs more and disappoints less. */
function nearestLevel(
  effort: ReasoningEffort,
  efforts: readonly ReasoningEffort[] = ["minimal", "low", "medium", "high"],
): ThinkingLevel {
  const wanted = LEVELS[effort];
  const [nearest = wanted] = efforts
    .map((known) => LEVELS[known])
    .sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted) || b - a);
  return NAMES[nearest] ?? "HIGH";
}
