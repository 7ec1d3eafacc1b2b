// Makes a stored history replayable for one provider: what a run's context starts from.
import type { AgentMessage, PolicyChange, PolicySideRecord } from "@clew/plugin-sdk/core";
import { applySteps, contentSteps, historySteps, type PassFlags, type Step, settle, turnSteps } from "./apply.ts";
import type { Clock } from "./pass.ts";
import { type ImageOptions, removeBlankContent, sanitizeSessionMessagesImages } from "./passes/images.ts";
import type { ReplayContentOptions } from "./passes/replay-content.ts";
import { deriveFlags, type PolicyRequest, resolveTranscriptPolicy } from "./select.ts";

/** Which route a session's history was last prepared for; the data of the `model-snapshot` record. */
export interface ModelSnapshot {
  provider?: string;
  modelApi?: string;
  modelId?: string;
}

export interface SanitizeRequest extends PolicyRequest, ImageOptions, ReplayContentOptions {
  messages: readonly AgentMessage[];
  /** Calls of other tools are dropped; empty or absent = no filter. */
  allowedToolNames?: readonly string[];
  /** The newest `model-snapshot` record of the session. */
  priorModelSnapshot?: ModelSnapshot | null;
  sessionState?: {
    /** True once the session holds a `google-turn-ordering-bootstrap` record. */
    googleBootstrapMarked: boolean;
  };
  clock?: Clock;
}

export interface SanitizedHistory {
  /** The array that was given when nothing had to change. */
  messages: readonly AgentMessage[];
  /** The history before turns were merged and checked against each other. */
  sanitized: readonly AgentMessage[];
  changes: readonly PolicyChange[];
  /** Custom entries the host must append to the session. */
  sideRecords: readonly PolicySideRecord[];
}

/**
 * Cleans a stored history for the provider it is about to be sent to (spec "transcript-policy" §3): sanitise, validate, re-pair.
 * Never changes its input; a second run on its own output changes nothing. Asynchronous only because of images.
 */
export async function sanitizeSessionHistory(request: SanitizeRequest): Promise<SanitizedHistory> {
  const { messages, clock = Date, priorModelSnapshot, allowedToolNames = [], silentReplies = "drop" } = request;
  const policy = resolveTranscriptPolicy(request);
  const derived = deriveFlags(policy, request);
  const modelChanged = priorModelSnapshot != null && !isSameModel(priorModelSnapshot, request);
  const flags: PassFlags = { policy, derived, clock, modelChanged, allowedToolNames, silentReplies };

  const spoken = applySteps(messages, contentSteps(flags));
  const shown = await sanitizeSessionMessagesImages({ ...imageOptions(request), messages: spoken.messages });
  const clean = applySteps(shown.messages, historySteps(flags));
  const turns = applySteps(clean.messages, turnSteps(flags));
  const changes = [...spoken.changes, ...shown.changes, ...clean.changes, ...turns.changes];
  const again = [...contentSteps(flags), blank, ...historySteps(flags), ...turnSteps(flags)];
  const settled = changes.length === 0 ? turns : settle(turns.messages, again);

  return {
    messages: settled.messages,
    sanitized: clean.messages,
    changes: changes.length === 0 ? changes : [...changes, ...settled.changes],
    sideRecords: planSideRecords(request, clean.changes, policy.recordsBootstrap, clock.now()),
  };
}

const blank: Step = (messages) => removeBlankContent({ messages });

const imageOptions = ({ imageCodec, imageLimits }: ImageOptions): ImageOptions => ({
  ...(imageCodec && { imageCodec }),
  ...(imageLimits && { imageLimits }),
});

const isSameModel = (left: ModelSnapshot, right: ModelSnapshot): boolean =>
  (["provider", "modelApi", "modelId"] as const).every((field) => (left[field] ?? "") === (right[field] ?? ""));

function planSideRecords(
  { provider, modelApi, modelId, priorModelSnapshot, sessionState }: SanitizeRequest,
  changes: readonly PolicyChange[],
  recordsBootstrap: boolean,
  timestamp: number,
): PolicySideRecord[] {
  const bootstrapped =
    recordsBootstrap && changes.some(({ rule }) => rule === "bootstrap-turn") && sessionState?.googleBootstrapMarked !== true;
  const snapshot = { provider, modelApi, modelId };
  return [
    ...(bootstrapped ? [{ customType: "google-turn-ordering-bootstrap", data: { timestamp } }] : []),
    ...(priorModelSnapshot != null && isSameModel(priorModelSnapshot, snapshot)
      ? []
      : [{ customType: "model-snapshot", data: { timestamp, ...snapshot } }]),
  ];
}
