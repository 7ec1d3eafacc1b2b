// Prepares the calls of a session one after the other, doing for each only what is new.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isRecord, type PolicyChange } from "@clew/plugin-sdk/host";
import { callFormsOf } from "./call-forms.ts";
import { type OutboundRequest, stepsOf } from "./outbound.ts";
import type { PassResult } from "./pass.ts";
import { isBefore, latestCompaction } from "./passes/thinking.ts";
import { deriveFlags, type PolicyRequest, resolveTranscriptPolicy } from "./select.ts";
import { embeddedResults, SettledIds } from "./settled-ids.ts";
import { type NotedRun, type Step, StepRunner } from "./steps.ts";
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
import { type WireRules, wireRules } from "./wires.ts";

/** The calls of one session and route so far: what of them is settled for good. */
interface Settled {
  key: string;
  profile: WireRules;
  steps: readonly Step[];
  /** How much of each list is settled; both only ever grow. */
  input: AgentMessage[];
  output: AgentMessage[];
  changes: PolicyChange[];
  ids: SettledIds;
  /** When the latest of its compactions was, ms since the epoch. */
  compactedAt: number | undefined;
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
  // Told calls leave results that are told, and without a repair some are left to nobody.
  const counts = policy.repairToolUseResultPairing && request.refused?.callsUntil === undefined;
  return {
    key: keyOf(request),
    profile: wireRules(request),
    steps: stepsOf({ ...request, appendOnly: true }),
    input: [],
    output: [],
    changes: [],
    ids: new SettledIds(callFormsOf(policy, derived), counts),
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
  const { input, output } = settled;
  const [known, sentBefore] = [input.length, output.length];
  const all = request.messages.slice(known);
  if (touches(settled, asStored(all))) return undefined;
  settleMore(settled, all, request);
  const rest = all.slice(input.length - known);
  if (rest.length < all.length && touches(settled, asStored(rest))) return undefined;
  const before = settled.open.slice(output.length - sentBefore);
  const open = prepare(settled, rest);
  if (open === undefined || isTouched(settled, rest, open.messages)) return undefined;
  const sent = open.messages === rest ? rest : recognised(open.messages, before, rest);
  settled.open = sent;
  // Copied at once: item by item, a long session would pay for its length.
  const changes = settled.changes.concat(moved(open.changes, settled.input.length));
  if (settled.isClean && sent === rest) return { messages: request.messages, changes };
  return { messages: settled.output.concat(sent), changes };
}

/** Settles what of the rest cannot change any more. */
function settleMore(
  settled: Settled,
  rest: readonly AgentMessage[],
  request: OutboundRequest,
): void {
  let cut = rest.length;
  // Where a reply is left out, what stands around it meets, and an earlier end is tried.
  for (let tries = 0; tries < 2; tries++) {
    cut = settledEnd(settled, asStored(rest), request, cut);
    if (cut === 0) return;
    const chunk = rest.slice(0, cut);
    const result = prepare(settled, [...chunk, BESIDE]);
    if (result?.messages.at(-1) !== BESIDE) continue;
    const made = result.messages.slice(0, -1);
    const meets =
      roleOf(asStored(made).at(-1)) === "assistant" && roleOf(asStored(rest)[cut]) === "assistant";
    if (meets || isTouched(settled, chunk, made)) continue;
    settle(settled, chunk, { ...result, messages: recognised(made, settled.open, chunk) });
    return;
  }
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

function settle(settled: Settled, chunk: readonly AgentMessage[], result: Prepared): void {
  const { messages, changes, noted } = result;
  settled.isClean &&=
    messages.length === chunk.length && messages.every((message, at) => message === chunk[at]);
  settled.compactedAt = latestOf(settled.compactedAt, latestCompaction(asStored(chunk)));
  settled.ids.add(asStored(chunk), asStored(messages), noted);
  for (const change of moved(changes, settled.input.length)) settled.changes.push(change);
  for (const message of messages) settled.output.push(message);
  for (const message of chunk) settled.input.push(message);
}

/** Stands for what is left out of a part, before or behind it: a person who says something. */
const BESIDE = { role: "user", content: [textBlock("(more)")] } as unknown as AgentMessage;

interface Prepared extends PassResult {
  noted: NotedRun;
}

/** The part as if it stood behind what is settled; undefined when that cannot be told. */
function prepare(settled: Settled, part: readonly AgentMessage[]): Prepared | undefined {
  const runner = new StepRunner(settled.ids);
  // What was changed was looked at again, and all that follows with it.
  const least = settled.isClean ? 1 : 2;
  const first = part[0];
  if (
    settled.input.length === 0 ||
    first === undefined ||
    roleOf(asStored(part)[0]) !== "assistant"
  )
    return { ...runner.settle(part, settled.steps, least), noted: runner.noted };
  const { messages, changes } = runner.settle([BESIDE, ...part], settled.steps, least);
  if (messages[0] !== BESIDE) return undefined;
  const after = messages.slice(1);
  const isSame = after.length === part.length && after.every((each, at) => each === part[at]);
  return {
    messages: isSame ? part : after,
    changes: moved(changes, -1),
    noted: runner.noted,
  };
}

/** True when what was made of a part may not be what stands behind the settled part. */
const isTouched = (
  settled: Settled,
  part: readonly AgentMessage[],
  made: readonly AgentMessage[],
): boolean =>
  touches(settled, asStored(made)) || settled.ids.losesTo(asStored(part), asStored(made));

/**
 * True when a message names what is settled, or is a summary behind it, or has thinking that is
 * older than one before it, or a result whose call is whichever stands before it.
 */
const touches = ({ ids, compactedAt, input }: Settled, messages: readonly StoredMessage[]) =>
  ids.touchedBy(messages) ||
  messages.some(
    (message) =>
      isOlder(message, compactedAt) ||
      (input.length > 0 &&
        (roleOf(message) === "compactionSummary" ||
          (roleOf(message) === "toolResult" && resultId(message) === undefined) ||
          embeddedResults(message).some((each) => resultId(each) === undefined))),
  );

/** How much of the rest cannot change any more, less than `below`; 0 = nothing. */
function settledEnd(
  settled: Settled,
  rest: readonly StoredMessage[],
  request: PolicyRequest,
  below: number,
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
    if (cut < below && role !== before && isAnswered(rest, cut)) return cut;
  }
  return 0;
}

/** True for a person's message that is certainly sent: an answer before it is not the last one. */
const isSaid = ({ content, excludeFromContext }: StoredMessage): boolean =>
  excludeFromContext !== true && (Array.isArray(content) || nonBlank(content) !== undefined);

/** True for a message with thinking, which a summary of a later time takes the proof of. */
const isOlder = (message: StoredMessage | undefined, compactedAt: number | undefined): boolean =>
  isRecord(message) && isBefore(message, compactedAt) && storedBlocks(message).some(isThinking);

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
