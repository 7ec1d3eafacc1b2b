// What a call asks of the model, in the fields of the Converse wire.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import { planThinking } from "../anthropic-messages/ask.ts";
import { readsSigned } from "./maker.ts";
import { ownChoice } from "./tools.ts";

/** Fields beside messages, tools and system prompt; none for what a call leaves to the provider. */
export function askFields(call: ModelCall, profile: ModelProfile): Record<string, unknown> {
  const { model, maxOutputTokens, temperature, serviceTier, responseFormat } = call;
  const { own, thinks, isUnlimited = false } = ownFields(call, profile);
  const inference = {
    ...(!isUnlimited && { maxTokens: maxOutputTokens ?? model.maxOutputTokens }),
    // A model that thinks takes only the usual one; none takes more than 1.
    ...(temperature !== undefined && !thinks && { temperature: Math.min(temperature, 1) }),
  };
  return {
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(Object.keys(own).length > 0 && { additionalModelRequestFields: own }),
    ...(serviceTier !== undefined && { serviceTier: { type: serviceTier } }),
    ...(responseFormat?.type === "json_schema" && {
      outputConfig: { textFormat: { type: "json_schema", structure: schemaOf(responseFormat) } },
    }),
  };
}

/** Fields of the model's maker. */
interface OwnFields {
  own: Record<string, unknown>;
  /** True: it takes no temperature now. */
  thinks: boolean;
  /** True: it takes no limit of its reply now. Default: it does. */
  isUnlimited?: boolean;
}

function ownFields(call: ModelCall, profile: ModelProfile): OwnFields {
  if (!readsSigned(profile)) return effortFields(call, profile);
  const { thinking, effort, thinks } = planThinking(call, profile);
  return {
    own: {
      ...(thinking !== undefined && { thinking }),
      ...(effort !== undefined && { output_config: { effort } }),
      ...ownChoice(call, profile),
    },
    thinks,
  };
}

const WORDS = { minimal: "low", low: "low", medium: "medium" } as const;

/** Each maker has a field of its own for the same three words. */
function effortFields({ model, reasoning }: ModelCall, profile: ModelProfile): OwnFields {
  const { effort } = reasoning ?? {};
  if (effort === undefined || profile.reasoning.ask !== "effort") return { own: {}, thinks: false };
  const isNova = model.id.toLowerCase().includes("nova");
  if (effort === "off")
    return { own: isNova ? { reasoningConfig: { type: "disabled" } } : {}, thinks: false };
  const word =
    effort === "minimal" || effort === "low" || effort === "medium" ? WORDS[effort] : "high";
  return isNova
    ? {
        own: { reasoningConfig: { type: "enabled", maxReasoningEffort: word } },
        thinks: word === "high",
        isUnlimited: word === "high",
      }
    : { own: { reasoning_effort: word }, thinks: false };
}

const schemaOf = ({ name, schema }: { name: string; schema: Record<string, unknown> }): object => ({
  jsonSchema: { name, schema: JSON.stringify(schema) },
});
