// Connects the whole policy to a host in one line.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelRef, RefusedParts } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type ModelSnapshot, type SanitizedHistory, sanitizeSessionHistory } from "./history.ts";
import { createOutbound } from "./incremental.ts";
import { repairToolPairing } from "./outbound.ts";
import type { Clock, PassResult } from "./pass.ts";
import type { ImageOptions } from "./passes/images.ts";
import type { ReplayContentOptions } from "./passes/replay-content.ts";
import type { ProviderPolicies } from "./policies.ts";
import type { Route } from "./route.ts";
import { BOOTSTRAP_RECORD, SNAPSHOT_RECORD } from "./side-records.ts";

/** What a host decides once for all its sessions. */
export interface TranscriptPolicyOptions extends ImageOptions, ReplayContentOptions {
  /** Policies of the host and its plugins, by provider id. Default: none. */
  policies?: ProviderPolicies;
  /** Stamps messages and records that are made up. Default: the wall clock. */
  clock?: Clock;
}

/** Messages and the model they go to. */
export interface TranscriptPolicyInput {
  /** Oldest first. */
  messages: readonly AgentMessage[];
  /** Where they go. */
  model: ModelRef;
  /** Calls of other tools are dropped from history; absent or empty = no filter. */
  allowedToolNames?: readonly string[];
  /** What its provider refused before; looked at before a call only. Absent: nothing. */
  refused?: RefusedParts;
}

/** Fits engine-core's `PolicyPort`. */
export interface TranscriptPolicyPort {
  /** Before an engine assembles; the result's side records must be appended to the session. */
  sanitizeHistory(
    input: TranscriptPolicyInput & { branch: readonly TranscriptEntry[] },
  ): Promise<SanitizedHistory>;
  /** After anything that cut or re-ordered history. */
  repairPairing(input: TranscriptPolicyInput): PassResult;
  /** Before each model call, over history and the running turn. */
  prepareOutbound(input: TranscriptPolicyInput): PassResult;
}

/**
 * The policy as one object that fits engine-core's `PolicyPort`.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createTranscriptPolicy } from "@clew/transcript-policy";
 *
 * const policy = createTranscriptPolicy();
 * const model = {
 *   provider: "anthropic",
 *   api: "anthropic-messages",
 *   id: "claude-opus-4-6",
 *   contextWindow: 200_000,
 *   maxOutputTokens: 8192,
 * };
 * const call = { type: "toolCall" as const, id: "a", name: "read", arguments: {} };
 * const { messages, changes } = policy.prepareOutbound({
 *   model,
 *   messages: [
 *     { role: "user", content: "Read it." },
 *     { role: "assistant", content: [call], stopReason: "toolUse" }, // its result was lost
 *     { role: "user", content: "And?" },
 *   ],
 * });
 * assert.deepEqual(messages.map(({ role }) => role), ["user", "assistant", "toolResult", "user"]);
 * assert.equal(changes[0]?.rule, "pair-tool-results");
 * ```
 */
export function createTranscriptPolicy(
  options: TranscriptPolicyOptions = {},
): TranscriptPolicyPort {
  const prepareNext = createOutbound();
  return {
    sanitizeHistory: ({ messages, model, allowedToolNames = [], branch }) =>
      sanitizeSessionHistory({
        ...options,
        ...routeOf(model),
        ...readSideRecords(branch),
        messages,
        allowedToolNames,
        appendOnly: true,
      }),
    repairPairing: ({ messages, model }) =>
      repairToolPairing({ ...options, ...routeOf(model), messages }),
    // No filter by tool name: a call of a missing tool in the running turn has its answer, and must
    // keep it.
    prepareOutbound: ({ messages, model, refused = {} }) =>
      prepareNext({ ...options, ...routeOf(model), messages, refused }),
  };
}

function routeOf({ provider, api, id, reasoning, profile, account }: ModelRef): Route {
  return {
    provider,
    modelApi: api,
    modelId: id,
    ...(reasoning !== undefined && { model: { reasoning } }),
    ...(profile !== undefined && { profile }),
    ...(account !== undefined && { account }),
  };
}

/** What the policy remembered about a session: custom entries of its branch, newest first. */
export function readSideRecords(branch: readonly TranscriptEntry[]): {
  priorModelSnapshot: ModelSnapshot | null;
  sessionState: { googleBootstrapMarked: boolean };
} {
  const snapshot = branch.findLast(
    (entry) => entry.type === "custom" && entry.customType === SNAPSHOT_RECORD,
  );
  const data = snapshot?.type === "custom" ? snapshot.data : undefined;
  return {
    priorModelSnapshot: typeof data === "object" && data !== null ? data : null,
    sessionState: {
      googleBootstrapMarked: branch.some(
        (entry) => entry.type === "custom" && entry.customType === BOOTSTRAP_RECORD,
      ),
    },
  };
}
