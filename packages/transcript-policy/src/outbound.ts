// Makes the messages of one model call acceptable to its wire.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { RefusedParts } from "@clew/plugin-sdk/host";
import { outboundSteps, type PassFlags, pairSteps } from "./apply.ts";
import type { Clock, PassResult } from "./pass.ts";
import type { ReplayContentOptions } from "./passes/replay-content.ts";
import { readerOf } from "./readers.ts";
import { deriveFlags, type PolicyRequest, resolveTranscriptPolicy } from "./select.ts";
import { type Step, StepRunner } from "./steps.ts";
import { wireRules } from "./wires.ts";

/** One model call's messages, and the route they take. */
export interface OutboundRequest extends PolicyRequest, ReplayContentOptions {
  /** The replayed history and everything the running turn added. */
  messages: readonly AgentMessage[];
  /** Stamps messages that are made up. Default: the wall clock. */
  clock?: Clock;
  /**
   * True: what a model was sent before it answered stays as it was. Ids are decided by what stands
   * before them, and a result that comes after its absence was answered is announced at its place.
   * Default: false, the history is repaired as if nothing had been sent.
   */
  appendOnly?: boolean;
  /** What the provider refused of the history before. Default: nothing. */
  refused?: RefusedParts;
}

/**
 * Prepares one model call: every synchronous pass again, then what the wire itself insists on (spec
 * §3 "outbound", §7). The result satisfies `explainInvalid`. Works on what is sent; the stored and
 * the replayed copy keep what it removes.
 */
export function prepareOutboundMessages(request: OutboundRequest): PassResult {
  return new StepRunner().settle(request.messages, stepsOf(request));
}

/**
 * The steps a request's route takes.
 * @internal
 */
export function stepsOf(request: Omit<OutboundRequest, "messages">): Step[] {
  const { clock = Date, silentReplies = "drop", appendOnly = false } = request;
  const policy = resolveTranscriptPolicy(request);
  const derived = deriveFlags(policy, request);
  const refused = request.refused ?? {};
  const flags: PassFlags = {
    ...{ policy, derived, clock, silentReplies, appendOnly, refused },
  };
  return outboundSteps(flags, wireRules(request), readerOf(request, refused.proofsUntil));
}

/**
 * Pairs calls and results again after something cut or re-ordered a history, in the words of the
 * route's wire.
 */
export function repairToolPairing({
  messages,
  clock = Date,
  ...route
}: OutboundRequest): PassResult {
  const policy = resolveTranscriptPolicy(route);
  const flags = { policy, derived: deriveFlags(policy, route), clock };
  return new StepRunner().run(messages, pairSteps(flags));
}
