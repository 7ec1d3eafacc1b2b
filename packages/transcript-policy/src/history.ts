// Makes a stored history replayable for one provider.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { PolicyChange, PolicySideRecord } from "@clew/plugin-sdk/host";
import { emptyReplies, type PassFlags, replaySteps } from "./apply.ts";
import type { Clock } from "./pass.ts";
import {
  type ImageOptions,
  removeBlankContent,
  sanitizeSessionMessagesImages,
} from "./passes/images.ts";
import type { ReplayContentOptions } from "./passes/replay-content.ts";
import { deriveFlags, type PolicyRequest, resolveTranscriptPolicy } from "./select.ts";
import { isSameModel, type ModelSnapshot, planSideRecords } from "./side-records.ts";
import { StepRunner, step } from "./steps.ts";

export type { ModelSnapshot } from "./side-records.ts";

/** A stored history, the route it is about to take, and what the session remembers. */
export interface SanitizeRequest extends PolicyRequest, ImageOptions, ReplayContentOptions {
  /** The active branch, oldest first. */
  messages: readonly AgentMessage[];
  /** Calls of other tools are dropped; empty or absent = no filter. */
  allowedToolNames?: readonly string[];
  /** The newest `model-snapshot` record of the session; absent or null = there is none. */
  priorModelSnapshot?: ModelSnapshot | null;
  /** What else the session remembers. Default: nothing. */
  sessionState?: {
    /** True once the session holds a `google-turn-ordering-bootstrap` record. */
    googleBootstrapMarked: boolean;
  };
  /** Stamps messages and records that are made up. Default: the wall clock. */
  clock?: Clock;
  /** As for `prepareOutboundMessages`. Default: false. */
  appendOnly?: boolean;
}

/** A history ready to be replayed. */
export interface SanitizedHistory {
  /** The array that was given when nothing had to change. */
  messages: readonly AgentMessage[];
  /** The history before turns were merged and checked against each other. */
  sanitized: readonly AgentMessage[];
  /** Everything that was changed, in order. */
  changes: readonly PolicyChange[];
  /** Custom entries the host must append to the session. */
  sideRecords: readonly PolicySideRecord[];
}

/**
 * Cleans a stored history for the provider it is about to be sent to (spec "transcript-policy" §3):
 * sanitise, validate, re-pair. Never changes its input; a second run on its own output changes
 * nothing. Asynchronous only because of images.
 */
export async function sanitizeSessionHistory(request: SanitizeRequest): Promise<SanitizedHistory> {
  const {
    messages,
    clock = Date,
    sessionState,
    allowedToolNames = [],
    silentReplies = "drop",
    appendOnly = false,
  } = request;
  const policy = resolveTranscriptPolicy(request);
  const derived = deriveFlags(policy, request);
  const prior = request.priorModelSnapshot ?? undefined;
  const modelChanged = prior !== undefined && !isSameModel(prior, request);
  const flags: PassFlags = {
    policy,
    derived,
    clock,
    modelChanged,
    allowedToolNames,
    silentReplies,
    appendOnly,
  };

  const runner = new StepRunner();
  const steps = replaySteps(flags);

  const spoken = await runner.runInSlices(messages, steps.content);
  const shown = await sanitizeSessionMessagesImages({
    ...imageOptions(request),
    ...emptyReplies(flags),
    messages: spoken.messages,
  });
  const clean = await runner.runInSlices(shown.messages, steps.history);
  const turns = await runner.runInSlices(clean.messages, steps.turns);
  const changes = [...spoken.changes, ...shown.changes, ...clean.changes, ...turns.changes];
  const again = [
    ...steps.content,
    step(removeBlankContent, emptyReplies(flags)),
    ...steps.history,
    ...steps.turns,
  ];
  const settled = changes.length === 0 ? turns : runner.settle(turns.messages, again);

  const bootstrapped =
    policy.recordsBootstrap &&
    clean.changes.some(({ rule }) => rule === "bootstrap-turn") &&
    sessionState?.googleBootstrapMarked !== true;
  return {
    messages: settled.messages,
    sanitized: clean.messages,
    changes: changes.length === 0 ? changes : [...changes, ...settled.changes],
    sideRecords: planSideRecords({ model: request, prior, bootstrapped, timestamp: clock.now() }),
  };
}

const imageOptions = ({ imageCodec, imageLimits }: ImageOptions): ImageOptions => ({
  ...(imageCodec && { imageCodec }),
  ...(imageLimits && { imageLimits }),
});
