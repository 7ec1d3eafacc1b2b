// The order of the passes, before a replay and before each model call.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { PolicyChange } from "@clew/plugin-sdk/host";
import type { Clock, PassResult } from "./pass.ts";
import { toContractShape } from "./passes/contract-shape.ts";
import { fitToolCalls } from "./passes/fit-calls.ts";
import { fitText, fitThinking, settleContentForWire } from "./passes/fit-wire.ts";
import { annotateInterSessionUserMessages } from "./passes/inter-session.ts";
import { sanitizeToolUseResultPairing } from "./passes/pair-tool-results.ts";
import { stripTrailingAssistants } from "./passes/prefill.ts";
import {
  dropTrailingFailures,
  normalizeAssistantReplayContent,
  type ReplayContentOptions,
} from "./passes/replay-content.ts";
import {
  canonicalizeResponsesIds,
  downgradeReasoningItems,
  dropRepeatedItems,
  dropUnbackedItemIds,
} from "./passes/responses.ts";
import {
  dropReasoningFromHistory,
  dropThinkingBlocks,
  sanitizeAntigravityThinkingBlocks,
  stripInvalidThinkingSignatures,
  stripStaleThinkingSignatures,
} from "./passes/thinking.ts";
import { sanitizeThoughtSignatures } from "./passes/thought-signatures.ts";
import { sanitizeToolCallInputs } from "./passes/tool-calls.ts";
import { clearStaleUsage, stripToolResultDetails } from "./passes/tool-details.ts";
import { sanitizeToolCallIds } from "./passes/tool-ids.ts";
import {
  bootstrapFirstTurn,
  dropForeignToolResultBlocks,
  validateAnthropicTurns,
  validateGeminiTurns,
} from "./passes/turns.ts";
import type { TranscriptPolicy } from "./policies.ts";
import type { DerivedFlags } from "./select.ts";
import type { WireRules } from "./wires.ts";

/** Everything the passes may ask about: no pass knows a provider. */
export interface PassFlags {
  policy: TranscriptPolicy;
  derived: DerivedFlags;
  clock: Clock;
  modelChanged?: boolean;
  allowedToolNames?: readonly string[];
  silentReplies?: NonNullable<ReplayContentOptions["silentReplies"]>;
}

export type Step = (messages: readonly AgentMessage[]) => PassResult;

/** Runs steps one after the other and collects what they changed. */
export function applySteps(messages: readonly AgentMessage[], steps: readonly Step[]): PassResult {
  const changes: PolicyChange[] = [];
  let current = messages;
  for (const step of steps) {
    const result = step(current);
    current = result.messages;
    for (const change of result.changes) changes.push(change);
  }
  return { messages: current, changes };
}

const MAX_ROUNDS = 8;

/**
 * Runs steps until they change nothing: one step may undo what another relied on, and a second run
 * must find nothing to do.
 */
export function settle(messages: readonly AgentMessage[], steps: readonly Step[]): PassResult {
  const changes: PolicyChange[] = [];
  let current = messages;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = applySteps(current, steps);
    if (result.messages === current) break;
    current = result.messages;
    for (const change of result.changes) changes.push(change);
  }
  return { messages: current, changes };
}

const when = (condition: boolean, ...steps: Step[]): Step[] => (condition ? steps : []);

/** Before images are looked at: who speaks, and whether it says anything. */
export const contentSteps = ({ silentReplies = "drop" }: PassFlags): Step[] => [
  (messages) => annotateInterSessionUserMessages({ messages }),
  (messages) => normalizeAssistantReplayContent({ messages, silentReplies }),
];

/** After images: signatures, thinking, calls, pairs and ids (spec §3, steps 4 to 15). */
export const historySteps = (flags: PassFlags): Step[] => [
  ...thoughtSteps(flags),
  ...thinkingSteps(flags),
  ...callSteps(flags),
  (messages) => stripToolResultDetails({ messages }),
  (messages) => clearStaleUsage({ messages }),
  ...when(flags.policy.dropAllThinkingBlocks, (messages) =>
    dropThinkingBlocks({ messages, keepLast: false }),
  ),
  ...when(flags.derived.isResponses, ...pairSteps(flags)),
  ...when(flags.policy.applyGoogleTurnOrdering, (messages) =>
    bootstrapFirstTurn({ messages, clock: flags.clock }),
  ),
  // Earlier steps may have laid a failed turn bare at the end.
  (messages) => dropTrailingFailures({ messages }),
];

/** Which turns may stand next to each other, and every call with its result once more. */
export const turnSteps = (flags: PassFlags): Step[] => [
  ...when(flags.policy.validateGeminiTurns, (messages) => validateGeminiTurns({ messages })),
  ...when(flags.policy.validateAnthropicTurns, (messages) => validateAnthropicTurns({ messages })),
  ...pairSteps(flags),
];

/**
 * Everything again, over a history and the running turn, ending with what the wire itself insists
 * on (spec §3 "outbound", §7).
 */
export function outboundSteps(flags: PassFlags, wire: WireRules): Step[] {
  const { policy, derived, clock } = flags;
  return [
    (messages) => toContractShape({ messages }),
    ...contentSteps(flags),
    (messages) => settleContentForWire({ messages, wire }),
    ...thoughtSteps(flags),
    ...thinkingSteps(flags),
    ...when(policy.dropAllThinkingBlocks, (messages) =>
      dropThinkingBlocks({ messages, keepLast: false }),
    ),
    (messages) => fitThinking({ messages, wire }),
    ...when(derived.isResponses, (messages) => dropRepeatedItems({ messages })),
    ...when(policy.validateAnthropicTurns, (messages) => dropForeignToolResultBlocks({ messages })),
    ...callSteps(flags),
    (messages) => fitToolCalls({ messages, wire }),
    (messages) => stripToolResultDetails({ messages }),
    ...when(policy.validateGeminiTurns || wire.alternates === "assistants", (messages) =>
      validateGeminiTurns({ messages }),
    ),
    ...when(policy.validateAnthropicTurns || wire.alternates === "everybody", (messages) =>
      validateAnthropicTurns({ messages }),
    ),
    ...pairSteps(flags),
    (messages) => dropTrailingFailures({ messages }),
    ...when(
      policy.validateAnthropicTurns || policy.validateGeminiTurns || !wire.endsWithAssistant,
      (messages) => stripTrailingAssistants({ messages }),
    ),
    ...when(policy.applyGoogleTurnOrdering || wire.startsWithUser, (messages) =>
      bootstrapFirstTurn({ messages, clock }),
    ),
    (messages) => fitText({ messages, wire }),
  ];
}

function thoughtSteps({ policy }: PassFlags): Step[] {
  const { allowBase64Only: base64Only = false, includeCamelCase = false } =
    policy.sanitizeThoughtSignatures ?? {};
  return when(!policy.preserveSignatures, (messages) =>
    sanitizeThoughtSignatures({ messages, base64Only, includeCamelCase }),
  );
}

const thinkingSteps = ({ policy, derived }: PassFlags): Step[] => [
  ...when(
    derived.needsSignedThinking,
    (messages) => stripStaleThinkingSignatures({ messages }),
    (messages) => stripInvalidThinkingSignatures({ messages }),
  ),
  ...when(policy.dropReasoningFromHistory, (messages) => dropReasoningFromHistory({ messages })),
  ...when(policy.dropThinkingBlocks, (messages) => dropThinkingBlocks({ messages })),
  ...when(policy.normalizeAntigravityThinkingBlocks, (messages) =>
    sanitizeAntigravityThinkingBlocks({ messages }),
  ),
];

function callSteps(flags: PassFlags): Step[] {
  const { policy, derived, allowedToolNames = [], modelChanged = false } = flags;
  const { keepThinkingTurns, isResponses } = derived;
  const {
    toolCallIdMode: mode,
    duplicateToolCallIdStyle: duplicateStyle,
    preserveNativeAnthropicToolUseIds: preserveNativeToolUseIds,
  } = policy;
  return [
    (messages) => sanitizeToolCallInputs({ messages, allowedToolNames, keepThinkingTurns }),
    ...pairSteps(flags),
    ...when(
      isResponses,
      (messages) => downgradeReasoningItems({ messages, modelChanged }),
      (messages) => canonicalizeResponsesIds({ messages }),
      (messages) => dropUnbackedItemIds({ messages }),
    ),
    ...(policy.sanitizeToolCallIds && mode !== undefined && !isResponses
      ? [
          (messages: readonly AgentMessage[]) =>
            sanitizeToolCallIds({
              messages,
              mode,
              keepThinkingTurns,
              preserveNativeToolUseIds,
              ...(duplicateStyle && { duplicateStyle }),
            }),
        ]
      : []),
  ];
}

const pairSteps = ({ policy, derived, clock }: PassFlags): Step[] =>
  when(policy.repairToolUseResultPairing, (messages) =>
    sanitizeToolUseResultPairing({
      messages,
      failedTurns: "drop",
      missingResultText: derived.missingResultText,
      clock,
    }),
  );
