// The order of the passes, before a replay and before each model call.
import type { RefusedParts } from "@clew/plugin-sdk/host";
import { callFormsOf } from "./call-forms.ts";
import type { Clock } from "./pass.ts";
import { toContractShape } from "./passes/contract-shape.ts";
import { tellEmbeddedResults } from "./passes/embedded-results.ts";
import { callPart, fitToolCalls } from "./passes/fit-calls.ts";
import { fitText, fitThinking, settleContentForWire } from "./passes/fit-wire.ts";
import { dropForeignBlocks, dropForeignProofs } from "./passes/foreign.ts";
import { noteKeptTurns, noteRenamed } from "./passes/ids-before.ts";
import type { EmptyReplies } from "./passes/images.ts";
import {
  annotateInterSessionUserMessages,
  closeInterSessionMessages,
} from "./passes/inter-session.ts";
import { announceLateResults } from "./passes/late-results.ts";
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
import { tellCallsAsText } from "./passes/told-calls.ts";
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
import type { Reader } from "./readers.ts";
import type { DerivedFlags } from "./select.ts";
import { type Step, step } from "./steps.ts";
import type { WireRules } from "./wires.ts";

/** Everything the passes may ask about: no pass knows a provider. */
export interface PassFlags {
  policy: TranscriptPolicy;
  derived: DerivedFlags;
  clock: Clock;
  modelChanged?: boolean;
  allowedToolNames?: readonly string[];
  silentReplies?: NonNullable<ReplayContentOptions["silentReplies"]>;
  appendOnly?: boolean;
  refused?: RefusedParts;
}

const when = (condition: boolean, ...steps: Step[]): Step[] => (condition ? steps : []);

/** What makes a stored history replayable, in three stages. */
export interface ReplaySteps {
  /** Before images are looked at: who speaks, and whether it says anything. */
  content: readonly Step[];
  /** After images: signatures, thinking, calls, pairs and ids (spec §3, steps 4 to 15). */
  history: readonly Step[];
  /** Which turns may stand next to each other, and every call with its result once more. */
  turns: readonly Step[];
}

export function replaySteps(flags: PassFlags): ReplaySteps {
  const { policy, derived, clock } = flags;
  const pair = pairSteps(flags);
  return {
    content: [
      ...lateSteps(flags),
      ...contentSteps(flags, flags.appendOnly === true ? "keep" : "drop"),
    ],
    history: [
      ...thoughtSteps(flags),
      ...thinkingSteps(flags),
      ...callSteps(flags, pair, flags.appendOnly === true ? "stored" : "sent"),
      step(stripToolResultDetails, {}),
      step(clearStaleUsage, {}),
      ...when(policy.dropAllThinkingBlocks, step(dropThinkingBlocks, { keepLast: false })),
      ...when(derived.isResponses, ...pair),
      ...when(policy.applyGoogleTurnOrdering, step(bootstrapFirstTurn, { clock })),
      // Earlier steps may have laid a failed turn bare at the end.
      ...when(flags.appendOnly !== true, step(dropTrailingFailures, {})),
    ],
    turns: [
      ...when(policy.validateGeminiTurns, step(validateGeminiTurns, {})),
      ...when(
        policy.validateAnthropicTurns,
        step(closeInterSessionMessages, {}),
        step(validateAnthropicTurns, {}),
      ),
      ...pair,
    ],
  };
}

/**
 * Everything again, over a history and the running turn, ending with what the wire itself insists
 * on (spec §3 "outbound", §7).
 */
export function outboundSteps(flags: PassFlags, wire: WireRules, reader: Reader): Step[] {
  const { policy, derived, clock } = flags;
  const pair = pairSteps(flags);
  return [
    step(toContractShape, {}),
    ...toldSteps(flags),
    ...lateSteps(flags),
    ...contentSteps(flags, "drop"),
    step(closeInterSessionMessages, {}),
    step(dropForeignBlocks, { wire, reader }),
    step(dropForeignProofs, { wire, reader }),
    step(settleContentForWire, { wire, ...emptyReplies(flags) }),
    ...thoughtSteps(flags),
    ...thinkingSteps(flags),
    ...when(policy.dropAllThinkingBlocks, step(dropThinkingBlocks, { keepLast: false })),
    step(fitThinking, { wire }),
    ...when(derived.isResponses, step(dropRepeatedItems, {})),
    ...when(policy.validateAnthropicTurns, step(dropForeignToolResultBlocks, {})),
    ...callSteps(flags, pair),
    step(fitToolCalls, { wire, inOrder: flags.appendOnly === true }, noteRenamed(callPart)),
    step(stripToolResultDetails, {}),
    ...when(
      policy.validateGeminiTurns || wire.alternates === "assistants",
      step(validateGeminiTurns, {}),
    ),
    ...when(
      policy.validateAnthropicTurns || wire.alternates === "everybody",
      step(validateAnthropicTurns, {}),
    ),
    ...pair,
    step(tellEmbeddedResults, {}),
    step(dropTrailingFailures, {}),
    ...when(
      policy.validateAnthropicTurns || policy.validateGeminiTurns || !wire.endsWithAssistant,
      step(stripTrailingAssistants, {}),
    ),
    ...when(
      policy.applyGoogleTurnOrdering || wire.startsWithUser,
      step(bootstrapFirstTurn, { clock }),
    ),
    step(fitText, { wire }),
  ];
}

/** Every call has the same before it as the one before had. */
export const emptyReplies = ({ appendOnly }: Pick<PassFlags, "appendOnly">): EmptyReplies =>
  appendOnly === true ? { emptyReplies: "say" } : {};

/** Before any reply is left out: each is a sign that what stands before it was sent. */
const lateSteps = ({ policy, derived, appendOnly }: PassFlags): Step[] =>
  when(appendOnly === true, step(announceLateResults, { formsOf: callFormsOf(policy, derived) }));

const toldSteps = ({ refused }: PassFlags): Step[] =>
  refused?.callsUntil === undefined ? [] : [step(tellCallsAsText, { until: refused.callsUntil })];

const contentSteps = (
  { silentReplies = "drop" }: PassFlags,
  trailingFailures: "drop" | "keep",
): Step[] => [
  step(annotateInterSessionUserMessages, {}),
  step(normalizeAssistantReplayContent, { silentReplies, trailingFailures }),
];

function thoughtSteps({ policy }: PassFlags): Step[] {
  const { allowBase64Only: base64Only = false, includeCamelCase = false } =
    policy.sanitizeThoughtSignatures ?? {};
  return when(
    !policy.preserveSignatures,
    step(sanitizeThoughtSignatures, { base64Only, includeCamelCase }),
  );
}

const thinkingSteps = ({ policy, derived }: PassFlags): Step[] => [
  ...when(
    derived.needsSignedThinking,
    step(stripStaleThinkingSignatures, {}),
    step(stripInvalidThinkingSignatures, {}),
  ),
  ...when(policy.dropReasoningFromHistory, step(dropReasoningFromHistory, {})),
  ...when(policy.dropThinkingBlocks, step(dropThinkingBlocks, {})),
  ...when(policy.normalizeAntigravityThinkingBlocks, step(sanitizeAntigravityThinkingBlocks, {})),
];

/**
 * `names`: "sent" calls get the ids that they are sent with, "stored" they keep theirs: where what
 * was sent stays as it was, the running turn and what came before it get their ids together.
 */
function callSteps(
  flags: PassFlags,
  pair: readonly Step[],
  names: "sent" | "stored" = "sent",
): Step[] {
  const { policy, derived, allowedToolNames = [], modelChanged = false } = flags;
  const inOrder = flags.appendOnly === true;
  const { keepThinkingTurns, isResponses } = derived;
  const {
    toolCallIdMode: mode,
    duplicateToolCallIdStyle: duplicateStyle,
    preserveNativeAnthropicToolUseIds: preserveNativeToolUseIds,
  } = policy;
  const idOptions = {
    keepThinkingTurns,
    preserveNativeToolUseIds,
    inOrder,
    ...(duplicateStyle && { duplicateStyle }),
  };
  return [
    step(
      sanitizeToolCallInputs,
      { allowedToolNames, keepThinkingTurns, renamesRepeats: inOrder },
      ...(keepThinkingTurns ? [noteKeptTurns] : []),
    ),
    // Again: a call that was dropped leaves its result to the one before it.
    ...lateSteps(flags),
    ...pair,
    ...when(
      isResponses,
      step(downgradeReasoningItems, { modelChanged, keepsWritten: inOrder }),
      ...when(names === "sent", step(canonicalizeResponsesIds, {})),
      step(dropUnbackedItemIds, {}),
    ),
    ...(names === "sent" && policy.sanitizeToolCallIds && mode !== undefined && !isResponses
      ? [step(sanitizeToolCallIds, { mode, ...idOptions }, noteRenamed(String))]
      : []),
  ];
}

/** Every call with its result; the same step wherever one list of steps names it. */
export const pairSteps = ({
  policy,
  derived: { missingResultText },
  clock,
}: Pick<PassFlags, "policy" | "derived" | "clock">): Step[] =>
  when(
    policy.repairToolUseResultPairing,
    step(sanitizeToolUseResultPairing, { failedTurns: "drop", missingResultText, clock }),
  );
