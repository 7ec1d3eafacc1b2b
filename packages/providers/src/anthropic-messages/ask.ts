// What a call asks of the model, in the fields of the Messages wire.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { thinkingBudget } from "../shared/effort.ts";
import { serverAt } from "../shared/flavor.ts";
import { assistantBlocks } from "./blocks.ts";
import { forcesCall } from "./tools.ts";

/** Fields beside messages, tools and system prompt, and the betas that they need. */
export interface Ask {
  fields: Record<string, unknown>;
  betas: readonly string[];
}

const BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";
const CONTEXT_MANAGEMENT = "context-management-2025-06-27";
const COMPACT = "compact-2026-01-12";
// Below this it is refused: https://platform.claude.com/docs/en/build-with-claude/compaction
const LEAST_TO_COMPACT = 50_000;
const CACHE_DIAGNOSIS = "cache-diagnosis-2026-04-07";
/** The provider takes no budget below it. */
const LEAST_BUDGET = 1024;

export function planAsk(call: ModelCall, endpoint: Endpoint, profile: ModelProfile): Ask {
  const { temperature, serviceTier, responseFormat } = call;
  const { thinking, effort, thinks } = planThinking(call, profile);
  const binds =
    thinking?.type === "adaptive" &&
    profile.reasoning.boundToPrefix &&
    isFirstParty(call, endpoint);
  const isMaker = isFirstParty(call, endpoint);
  const compared = isMaker ? call.previousResponseId : undefined;
  const edits = isMaker ? contextEdits(call) : [];
  const output = {
    ...(effort !== undefined && { effort }),
    ...(responseFormat?.type === "json_schema" && {
      format: { type: "json_schema", schema: responseFormat.schema },
    }),
  };
  return {
    fields: {
      ...(thinking !== undefined && {
        thinking: binds
          ? { ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } }
          : thinking,
      }),
      ...(Object.keys(output).length > 0 && { output_config: output }),
      // A model that thinks takes only the usual one; none takes more than 1.
      ...(temperature !== undefined && !thinks && { temperature: Math.min(temperature, 1) }),
      ...(serviceTier !== undefined && { service_tier: serviceTier }),
      ...(edits.length > 0 && { context_management: { edits: edits.map(({ edit }) => edit) } }),
      ...(compared !== undefined && { diagnostics: { previous_message_id: compared } }),
    },
    betas: [
      ...(binds ? [BINDING_CONTROLS] : []),
      ...edits.map(({ beta }) => beta),
      ...(compared === undefined ? [] : [CACHE_DIAGNOSIS]),
    ],
  };
}

/** What the provider may do about a long history: the smaller change first, as it wants them. */
function contextEdits({ serverContext = {} }: ModelCall): { edit: object; beta: string }[] {
  const { clearToolResultsAbove, compactAbove } = serverContext;
  const at = (value: number) => ({ type: "input_tokens", value });
  return [
    ...(clearToolResultsAbove === undefined
      ? []
      : [
          {
            edit: { type: "clear_tool_uses_20250919", trigger: at(clearToolResultsAbove) },
            beta: CONTEXT_MANAGEMENT,
          },
        ]),
    ...(compactAbove === undefined
      ? []
      : [
          {
            edit: {
              type: "compact_20260112",
              trigger: at(Math.max(compactAbove, LEAST_TO_COMPACT)),
            },
            beta: COMPACT,
          },
        ]),
  ];
}

/** How a model of this maker is told to think, on whichever wire. */
export interface ThinkingPlan {
  /** Undefined: nothing is said, and the model does what it usually does. */
  thinking: Thinking | undefined;
  /** How hard, where the model decides how long. */
  effort: string | undefined;
  /** True: it will think, or may. */
  thinks: boolean;
}

export function planThinking(call: ModelCall, profile: ModelProfile): ThinkingPlan {
  const thinking = thinkingField(call, profile);
  return {
    thinking,
    effort: thinking?.type === "adaptive" ? effortOf(call) : undefined,
    thinks: thinking === undefined ? !profile.reasoning.canStop : thinking.type !== "disabled",
  };
}

export type Thinking =
  | { type: "disabled" }
  | { type: "adaptive"; display?: string }
  | { type: "enabled"; budget_tokens: number; display?: string };

function thinkingField(call: ModelCall, profile: ModelProfile): Thinking | undefined {
  const {
    reasoning: { ask, canStop },
  } = profile;
  const { effort, budgetTokens, display } = call.reasoning ?? {};
  const isAsked = effort !== undefined || budgetTokens !== undefined;
  const isOff = effort === "off" && budgetTokens === undefined;
  if (isOff && canStop && ask !== "none") return { type: "disabled" };
  // A model that thinks in any case is told how; a forced call forbids to mention it.
  if (ask === "none" || forcesCall(call, profile) || (canStop && (!isAsked || isOff)))
    return undefined;
  const shown = display === undefined ? {} : { display: DISPLAY[display] };
  if (ask !== "budget") return { type: "adaptive", ...shown };
  const budget = thinkingBudget(call, { least: LEAST_BUDGET, most: Number.POSITIVE_INFINITY });
  if (budget === undefined || isInsideUnthoughtStep(call, profile)) return undefined;
  return { type: "enabled", budget_tokens: budget, ...shown };
}

const DISPLAY = { full: "summarized", summary: "summarized", none: "omitted" } as const;

function effortOf({ reasoning }: ModelCall): string | undefined {
  const effort = reasoning?.effort;
  return effort === "off" || effort === "minimal" ? "low" : effort;
}

/**
 * True when results are about to be sent to a step that began without thinking, which another model
 * or a call without it wrote: with a budget the provider refuses to go on there.
 */
function isInsideUnthoughtStep({ messages, model }: ModelCall, profile: ModelProfile): boolean {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const step = messages[at];
  if (step === undefined || !isAssistant(step)) return false;
  if (!messages.slice(at + 1).some(({ role }) => role === "toolResult")) return false;
  const type = assistantBlocks(step, { model, profile })[0]?.type;
  return type !== "thinking" && type !== "redacted_thinking";
}

const isAssistant = (message: AgentMessage): message is AssistantMessage =>
  message.role === "assistant";

/** Others may not know the betas of the maker. */
const isFirstParty = ({ model }: ModelCall, endpoint: Endpoint): boolean =>
  (serverAt(endpoint)?.id ?? model.provider) === "anthropic";
