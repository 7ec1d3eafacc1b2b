// Rules of the Converse wire that depend on which model is asked.
import { isRecord } from "@clew/plugin-sdk/host";
import { record, text, words } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import type { ConverseView } from "../view.ts";

const MODEL_SAYS = "The model returned the following errors: ";
const LEAST_BUDGET = 1024;
const THINKS = words("enabled adaptive");

const own = ({ body }: ConverseView) => record(body.additionalModelRequestFields);
const limits = ({ body }: ConverseView) => record(body.inferenceConfig);
const choice = ({ body }: ConverseView) => record(record(body.toolConfig).toolChoice);
const budget = (view: ConverseView) => Number(record(own(view).thinking).budget_tokens ?? 0);
const isMark = ({ value }: { value: object }) => "cachePoint" in value;
const isNova = ({ model }: ConverseView) => model.includes("amazon.nova-");
const extraneous = (path: string) =>
  `Malformed input request: #/${path}: extraneous key [cachePoint] is not permitted, please reformat your input and try again.`;

export const ASK_RULES: readonly WireRule<ConverseView>[] = [
  rejects("cachePoint.model", misplacedMark),
  rejects("toolConfig.streaming", (view) =>
    view.streams && view.tools.length > 0 && /meta\.llama|writer\.palmyra/.test(view.model)
      ? "This model doesn't support tool use in streaming mode."
      : undefined,
  ),
  rejects("toolChoice.model", (view) => {
    const [kind] = Object.keys(choice(view));
    if (kind === undefined || kind === "auto") return undefined;
    if (view.isClaude ? !view.traits.bindsPrefix : /nova|mistral-large/.test(view.model))
      return undefined;
    return `This model doesn't support the toolConfig.toolChoice.${kind} field. Remove toolConfig.toolChoice.${kind} and try again.`;
  }),
  rejects("thinking.model", (view) => {
    const { thinking, isClaude, traits } = view;
    if (thinking === undefined) return undefined;
    if (!isClaude)
      return "Malformed input request: #: extraneous key [thinking] is not permitted, please reformat your input and try again.";
    if (thinking === "enabled" && traits.adaptiveOnly)
      return `${MODEL_SAYS}"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
    return thinking === "disabled" && traits.alwaysThinks
      ? `${MODEL_SAYS}"thinking.type.disabled" is not supported for this model.`
      : undefined;
  }),
  rejects("thinking.budget", (view) => {
    const { maxTokens } = limits(view);
    if (!view.isClaude || view.thinking !== "enabled") return undefined;
    if (budget(view) < LEAST_BUDGET)
      return `${MODEL_SAYS}thinking.enabled.budget_tokens: Input should be greater than or equal to ${LEAST_BUDGET}`;
    return maxTokens !== undefined && budget(view) >= Number(maxTokens)
      ? `${MODEL_SAYS}\`max_tokens\` must be greater than \`thinking.budget_tokens\``
      : undefined;
  }),
  rejects("thinking.temperature", (view) => {
    const { temperature } = limits(view);
    return view.isClaude &&
      THINKS.has(view.thinking ?? "") &&
      temperature !== undefined &&
      temperature !== 1
      ? `${MODEL_SAYS}\`temperature\` may only be set to 1 when thinking is enabled.`
      : undefined;
  }),
  rejects("thinking.tool_choice", (view) => {
    const isForced = isRecord(choice(view).any) || isRecord(choice(view).tool);
    return view.isClaude && isForced && THINKS.has(view.thinking ?? "")
      ? `${MODEL_SAYS}Thinking may not be enabled when tool_choice forces tool use.`
      : undefined;
  }),
  rejects("toolChoice.twice", (view) =>
    Object.keys(choice(view)).length > 0 && own(view).tool_choice !== undefined
      ? "The additional field tool_choice conflicts with an existing field."
      : undefined,
  ),
  rejects("reasoningConfig.high", (view) => {
    const { maxReasoningEffort } = record(own(view).reasoningConfig);
    return text(maxReasoningEffort) === "high" && Object.keys(limits(view)).length > 0
      ? "Malformed input request: inferenceConfig must be unset when maxReasoningEffort is high"
      : undefined;
  }),
];

/** Only some models keep prompts by marks, and not all of them everywhere. */
function misplacedMark(view: ConverseView): string | undefined {
  const { isClaude, tools, system, messages } = view;
  if (isClaude) return undefined;
  if (tools.some(isMark)) return extraneous(`toolConfig/tools/${tools.findIndex(isMark)}`);
  const isUsed = ({ value }: { value: object }) => "toolUse" in value || "toolResult" in value;
  const beside = messages.find(({ blocks }) => blocks.some(isMark) && blocks.some(isUsed));
  if (beside !== undefined) return extraneous(`messages/${beside.index}`);
  const isMarked = system.some(isMark) || messages.some(({ blocks }) => blocks.some(isMark));
  return isMarked && !isNova(view)
    ? "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information."
    : undefined;
}
