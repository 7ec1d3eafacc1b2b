// Prepares the calls of a session one after the other, doing for each only what is new.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isRecord, type PolicyChange } from "@clew/plugin-sdk/host";
import { callFormsOf } from "./call-forms.ts";
import { type OutboundRequest, stepsOf } from "./outbound.ts";
import type { PassResult } from "./pass.ts";
import { latestCompaction } from "./passes/thinking.ts";
import { deriveFlags, type PolicyRequest, resolveTranscriptPolicy } from "./select.ts";
import { idsOf, isOlder, noteCalls, type SettledIds, touches } from "./settled-ids.ts";
import { type Step, StepRunner } from "./steps.ts";
import {
  asStored,
  callId,
  hasFailed,
  isThinking,
  isToolCall,
  isToolCallLike,
  nonBlank,
  resultId,
  roleOf,
  type StoredMessage,
  storedBlocks,
  textBlock,
} from "./stored.ts";
import { traitsOf } from "./traits.ts";
import { wireRules } from "./wires.ts";

/** The calls of one session and route so far: what of them is settled for good. */
interface Settled extends SettledIds {
  key: string;
  steps: readonly Step[];
  /** How much of each list is settled; both only ever grow. */
  input: AgentMessage[];
  output: AgentMessage[];
  changes: PolicyChange[];
  /** True while the output is the input. */
  isClean: boolean;
  /** What was sent of the part that is not settled, so that it is the same objects next time. */
  open: readonly AgentMessage[];
}

/**
 * `prepareOutboundMessages` for a host that sends a growing history again and again. Turns that can
 * no longer change are prepared once; they are recognised by being the same objects in the same
 * order, so messages must not be changed after they were handed over. What comes out is what
 * `prepareOutboundMessages` with `appendOnly` makes of the whole list.
 */
export function createOutbound(): (request: OutboundRequest) => PassResult {
  const sessions = new WeakMap<AgentMessage, Settled>();
  return (request) => {
    const { messages } = request;
    const first = messages[0];
    if (!isRecord(first)) return new StepRunner().settle(messages, begin(request).steps);
    const known = sessions.get(first);
    const settled = goesOn(known, request) ? known : begin(request);
    sessions.set(first, settled);
    const result = advance(settled, request);
    if (result !== undefined) return result;
    // Something new speaks of what was settled: all of it is looked at again.
    const anew = begin(request);
    sessions.set(first, anew);
    return advance(anew, request) ?? new StepRunner().settle(messages, begin(request).steps);
  };
}

function begin(request: OutboundRequest): Settled {
  const policy = resolveTranscriptPolicy(request);
  const derived = deriveFlags(policy, request);
  const { idMode } = wireRules(request);
  // There a call's id names its item, too, or belongs to what was thought beside it.
  const isBound = derived.isResponses || idMode === "responses" || derived.keepThinkingTurns;
  const idsBefore = isBound ? null : { uses: new Map(), taken: new Set<string>() };
  return {
    key: keyOf(request),
    profile: wireRules(request),
    steps: stepsOf({ ...request, appendOnly: true }, idsBefore ?? undefined),
    input: [],
    output: [],
    changes: [],
    ids: new Set(),
    formsOf: callFormsOf(policy, derived),
    idsBefore,
    compactedAt: undefined,
    isClean: true,
    open: [],
  };
}

const keyOf = (request: OutboundRequest): string => {
  const { provider, modelApi, modelId, account, silentReplies, refused = {} } = request;
  const { proofsUntil, callsUntil } = refused;
  return JSON.stringify([
    ...[provider, modelApi, modelId, account, silentReplies],
    ...[proofsUntil, callsUntil],
  ]);
};

function goesOn(settled: Settled | undefined, request: OutboundRequest): settled is Settled {
  return (
    settled !== undefined &&
    settled.profile === wireRules(request) &&
    settled.key === keyOf(request) &&
    beginsWith(request.messages, settled.input)
  );
}

/** A plain loop: this is all that a call does with what is settled, and it does it every time. */
function beginsWith(messages: readonly AgentMessage[], start: readonly AgentMessage[]): boolean {
  if (start.length > messages.length) return false;
  for (let index = 0; index < start.length; index++)
    if (start[index] !== messages[index]) return false;
  return true;
}

/** Undefined: what is new touches what was settled. */
function advance(settled: Settled, request: OutboundRequest): PassResult | undefined {
  const rest = request.messages.slice(settled.input.length);
  let before = settled.open;
  const cut = settledEnd(settled, asStored(rest), request);
  if (touches(settled, asStored(rest))) return undefined;
  if (cut > 0) {
    const chunk = rest.slice(0, cut);
    const result = prepare(settled, [...chunk, BESIDE]);
    if (
      result?.messages.at(-1) === BESIDE &&
      !touches(settled, asStored(result.messages.slice(0, -1)))
    ) {
      const messages = recognised(result.messages.slice(0, -1), before, chunk);
      settle(settled, chunk, { ...result, messages });
      before = before.slice(messages.length);
      rest.splice(0, cut);
      if (touches(settled, asStored(rest))) return undefined;
    }
  }
  const open = prepare(settled, rest);
  if (open === undefined || touches(settled, asStored(open.messages))) return undefined;
  const sent = open.messages === rest ? rest : recognised(open.messages, before, rest);
  settled.open = sent;
  const changes = [...settled.changes, ...moved(open.changes, settled.input.length)];
  if (settled.isClean && sent === rest) return { messages: request.messages, changes };
  return { messages: [...settled.output, ...sent], changes };
}

/**
 * The messages, with those that were sent like this before as the very objects that were sent. What
 * the policy made is frozen: whoever writes it need not write it twice.
 */
function recognised(
  messages: readonly AgentMessage[],
  before: readonly AgentMessage[],
  given: readonly AgentMessage[],
): readonly AgentMessage[] {
  const others = new Set(given);
  return messages.map((message, at) => {
    if (others.has(message)) return message;
    const old = before[at];
    if (old !== undefined && JSON.stringify(old) === JSON.stringify(message)) return old;
    if ("content" in message) Object.freeze(message.content);
    return Object.freeze(message);
  });
}

function settle(settled: Settled, chunk: readonly AgentMessage[], result: PassResult): void {
  const { messages, changes } = result;
  settled.isClean &&=
    messages.length === chunk.length && messages.every((message, at) => message === chunk[at]);
  settled.compactedAt = latestOf(settled.compactedAt, latestCompaction(asStored(chunk)));
  noteCalls(settled, asStored(chunk), asStored(messages));
  for (const id of [...idsOf(asStored(chunk)), ...idsOf(asStored(messages))]) settled.ids.add(id);
  for (const change of moved(changes, settled.input.length)) settled.changes.push(change);
  for (const message of messages) settled.output.push(message);
  for (const message of chunk) settled.input.push(message);
}

/** Stands for what is left out of a part, before or behind it: a person who says something. */
const BESIDE = { role: "user", content: [textBlock("(more)")] } as unknown as AgentMessage;

/** The part as if it stood behind what is settled; undefined when that cannot be told. */
function prepare(settled: Settled, part: readonly AgentMessage[]): PassResult | undefined {
  const runner = new StepRunner();
  const first = part[0];
  if (
    settled.input.length === 0 ||
    first === undefined ||
    roleOf(asStored(part)[0]) !== "assistant"
  )
    return runner.settle(part, settled.steps);
  const { messages, changes } = runner.settle([BESIDE, ...part], settled.steps);
  if (messages[0] !== BESIDE) return undefined;
  const after = messages.slice(1);
  const isSame = after.length === part.length && after.every((each, at) => each === part[at]);
  return { messages: isSame ? part : after, changes: moved(changes, -1) };
}

/** How much of the rest cannot change any more, whatever follows; 0 = nothing. */
function settledEnd(
  settled: Settled,
  rest: readonly StoredMessage[],
  request: PolicyRequest,
): number {
  const { hasThinking } = traitsOf(rest);
  const policy = resolveTranscriptPolicy(request);
  if (hasThinking && policy.dropThinkingBlocks) return 0;
  const compactedAt = latestOf(settled.compactedAt, latestCompaction(rest));
  const dependsOnTurn =
    hasThinking && (policy.dropReasoningFromHistory || rest.some(hasUnsignedThinking));
  for (let cut = rest.length - 1; cut > 0; cut--) {
    const role = roleOf(rest[cut]);
    const before = roleOf(rest[cut - 1]);
    // What stands before a summary may be older than it.
    if (role === "compactionSummary" || isOlder(rest[cut], compactedAt)) return 0;
    if (role === "user" ? !isSaid(rest[cut]!) : role !== "assistant" || dependsOnTurn) continue;
    if (before !== "assistant" && before !== "toolResult") continue;
    if (role !== before && isAnswered(rest, cut)) return cut;
  }
  return 0;
}

/** True for a person's message that is certainly sent: an answer before it is not the last one. */
const isSaid = ({ content, excludeFromContext }: StoredMessage): boolean =>
  excludeFromContext !== true && (Array.isArray(content) || nonBlank(content) !== undefined);

const hasUnsignedThinking = (message: StoredMessage): boolean =>
  storedBlocks(message).some((block) => isThinking(block) && block.thinkingSignature === undefined);

/**
 * True when the newest reply before the cut waits for nothing: each call has its one result.
 * Replies in a row may be one.
 */
function isAnswered(messages: readonly StoredMessage[], cut: number): boolean {
  const end = lastThat(messages, cut, (role) => role !== "toolResult");
  const start = lastThat(messages, end, (role) => role !== "assistant");
  const replies = messages.slice(start, end);
  if (replies.length === 0 || replies.some(hasFailed)) return false;
  const calls = replies.flatMap(storedBlocks).filter(isToolCallLike);
  const results = messages.slice(end, cut).map(resultId);
  return (
    calls.every(isToolCall) &&
    calls.length === results.length &&
    calls.every((call, index) => callId(call) === results[index])
  );
}

/** The position behind the last message before `end` whose role does. */
function lastThat(
  messages: readonly StoredMessage[],
  end: number,
  does: (role: string | undefined) => boolean,
): number {
  let at = end;
  while (at > 0 && !does(roleOf(messages[at - 1]))) at--;
  return at;
}

const latestOf = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? (left ?? right) : Math.max(left, right);

const moved = (changes: readonly PolicyChange[], by: number): readonly PolicyChange[] =>
  by === 0 ? changes : changes.map((change) => ({ ...change, index: change.index + by }));
