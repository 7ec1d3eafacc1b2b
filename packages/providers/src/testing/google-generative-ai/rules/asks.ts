// Rules of the Gemini wire about what a request asks for beside its contents.
import { first, type JsonObject, record, text, words } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import { type GeminiView, generationOf, thinkingOf } from "../view.ts";

const IN_GENERATION = words(
  `audioTimestamp candidateCount enableAffectiveDialog enableEnhancedCivicAnswers frequencyPenalty
  imageConfig logprobs maxOutputTokens mediaResolution modelSelectionConfig presencePenalty
  responseFormat responseJsonSchema responseLogprobs responseMimeType responseModalities
  responseSchema routingConfig seed speechConfig stopSequences temperature thinkingConfig topK topP
  translationConfig`,
);
const IN_THINKING = words("includeThoughts thinkingBudget thinkingLevel");

/** Budgets by model: -1 lets it decide. Names that are not here are not looked at. */
const BUDGETS: readonly [model: RegExp, least: number, most: number, canStop: boolean][] = [
  [/^gemini-2\.5-pro/, 128, 32_768, false],
  [/^gemini-2\.5-flash-lite/, 512, 24_576, true],
  [/^gemini-2\.5-flash/, 0, 24_576, true],
];

const unknownIn = (value: JsonObject, known: ReadonlySet<string>, at: string) =>
  first(
    Object.keys(value),
    (key) => !known.has(key),
    (key) => `Invalid JSON payload received. Unknown name "${key}" at '${at}': Cannot find field.`,
  );

export const ASK_RULES: readonly WireRule<GeminiView>[] = [
  rejects("generation.unknown_field", (view) =>
    unknownIn(generationOf(view), IN_GENERATION, "generation_config"),
  ),
  rejects("thinking.unknown_field", (view) =>
    unknownIn(thinkingOf(view), IN_THINKING, "generation_config.thinking_config"),
  ),
  rejects("thinking.both", (view) => {
    const { thinkingBudget, thinkingLevel } = thinkingOf(view);
    return thinkingBudget != null && thinkingLevel != null
      ? "You can only set only one of thinking budget and thinking level."
      : undefined;
  }),
  rejects("thinking.unsupported", (view) =>
    /^gemini-(?:1|2\.0)/.test(view.model) && Object.keys(thinkingOf(view)).length > 0
      ? "Thinking is not supported by this model."
      : undefined,
  ),
  rejects("thinking.level", (view) => {
    const { thinkingLevel: given } = thinkingOf(view);
    if (given == null) return undefined;
    if (/^gemini-2/.test(view.model)) return "Thinking level is not supported for this model.";
    const level = text(given).toUpperCase();
    return isLevelOf(view.model, level)
      ? undefined
      : `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`;
  }),
  rejects("thinking.budget", (view) => {
    const { thinkingBudget: given } = thinkingOf(view);
    const limits = BUDGETS.find(([pattern]) => pattern.test(view.model));
    if (typeof given !== "number" || limits === undefined || given === -1) return undefined;
    const [, least, most, canStop] = limits;
    if (given === 0)
      return canStop ? undefined : "Budget 0 is invalid. This model only works in thinking mode.";
    return given >= least && given <= most
      ? undefined
      : `The thinking budget ${given} is invalid. Please choose a value between ${least} and ${most}.`;
  }),
  rejects("format.json_schema", (view) => {
    const { responseSchema, responseJsonSchema, responseMimeType } = generationOf(view);
    const hasSchema = responseSchema !== undefined || responseJsonSchema !== undefined;
    return hasSchema && responseMimeType !== "application/json"
      ? `response_schema requires response_mime_type "application/json", not "${text(responseMimeType)}".`
      : undefined;
  }),
  rejects("format.tools", (view) =>
    /^gemini-[12](?!\d)/.test(view.model) &&
    view.declarations.length > 0 &&
    generationOf(view).responseMimeType === "application/json"
      ? "Function calling with a response mime type: 'application/json' is unsupported"
      : undefined,
  ),
  rejects("choice.names", ({ body, declarations }) => {
    const config = record(record(body.toolConfig).functionCallingConfig);
    const allowed = Array.isArray(config.allowedFunctionNames) ? config.allowedFunctionNames : [];
    if (allowed.length > 0 && config.mode !== "ANY")
      return "Allowed function names should be set only when function calling mode is ANY.";
    const names = new Set(declarations.map(({ value }) => value.name));
    return first(
      allowed,
      (name) => !names.has(name),
      (name) => `Allowed function name ${text(name)} is not among the declared functions.`,
    );
  }),
];

/** The third generation's first Pro knew two words; none of the Pros knows the least. */
function isLevelOf(model: string, level: string): boolean {
  if (!["MINIMAL", "LOW", "MEDIUM", "HIGH"].includes(level)) return false;
  if (!/-pro/.test(model)) return true;
  return level !== "MINIMAL" && (level !== "MEDIUM" || !/^gemini-3-pro/.test(model));
}
