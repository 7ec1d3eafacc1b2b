// Makes the report of one request that came by the door.
import type { CacheReport, HostSession, ModelCallReport, TurnReport } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import type { DoorTurn } from "../turn/door-turn.ts";
import type { ViewDescription } from "./describe-view.ts";
import type { EndedTurn } from "./ended-turn.ts";

export interface ReportInput {
  turn: DoorTurn;
  ended: EndedTurn;
  session: Pick<HostSession, "sessionId" | "sessionKey">;
  /** Absent: nothing was sent. */
  described: ViewDescription | undefined;
  /** What the call came to, where its provider did not say. Absent: it did, or nobody knows. */
  estimated?: Usage;
  /** Absent: it is beside the session, or nothing was sent. */
  cache?: CacheReport | undefined;
  promptEntryId: string | null;
  replyEntryId: string | null;
  leafId: string | null;
}

/** What chooses of the client's history. */
export const DOOR_ENGINE = "door";

const ENGINE: TurnReport["engine"] = {
  ...{ configured: null, ran: DOOR_ENGINE, infoId: DOOR_ENGINE, name: "Door", source: "default" },
  ...{ ownsCompaction: false, degraded: null, projection: null },
};

export function doorReport(input: ReportInput): TurnReport {
  const { turn, ended, session, described, promptEntryId, replyEntryId } = input;
  const { reply, view, durationMs } = ended;
  const { resolved } = turn.upstream;
  const { error } = reply;
  const outcome =
    error === undefined ? "completed" : error.kind === "aborted" ? "aborted" : "failed";
  return {
    v: 1,
    turnId: turn.turnId,
    ...{ sessionId: session.sessionId, sessionKey: session.sessionKey },
    startedAt: turn.startedAt.toISOString(),
    ...{ durationMs, hostMs: 0, outcome, reason: error?.message ?? null },
    ...(error !== undefined && { code: error.kind }),
    model: {
      requested: turn.call.request.model || resolved.name,
      ...{ resolved: resolved.name, api: turn.call.wire.api },
    },
    ...{ engine: ENGINE, lifecycle: "eager", engineCalls: [] },
    budget: view === undefined ? null : budgetOf(turn, view, ended.notes.scale),
    ...{ promptEntryId, replyEntryId, historyChanges: [] },
    modelCalls: described === undefined ? [] : [callOf(input, described)],
    ...{ toolCalls: [], compactions: [] },
    door: requestOf(turn, ended),
  };
}

function callOf(
  { ended, leafId, cache, estimated }: ReportInput,
  described: ViewDescription,
): ModelCallReport {
  const { reply, durationMs } = ended;
  const { message, error } = reply;
  const { system, tools, messages, policyChanges, withheld, requestHash } = described;
  return {
    ...{ index: 0, durationMs, system, tools },
    messages: {
      ...{ kept: 0, items: messages },
      tokens: messages.reduce((sum, { tokens }) => sum + tokens, 0),
    },
    ...{ requestHash, leafId, policyChanges },
    ...(withheld.length > 0 && { withheld }),
    usage: message.usage ?? null,
    ...(estimated !== undefined && { estimated }),
    ...(cache !== undefined && error === undefined && { cache }),
    stopReason: error === undefined ? message.stopReason : null,
    ...{ error: error?.message ?? null, retries: 0 },
    ...(error !== undefined && { failure: failureOf(error) }),
    ...(error?.kind === "overflow" &&
      error.windowTokens !== undefined && { windowTokens: error.windowTokens }),
  };
}

function failureOf(error: ModelError): NonNullable<ModelCallReport["failure"]> {
  const { kind } = error;
  if (error.unsent) return { kind, unsent: true };
  if (kind === "rate_limited" && error.retryAfterMs !== undefined)
    return { kind, retryAfterMs: error.retryAfterMs };
  return kind === "overflow" && error.promptTokens !== undefined
    ? { kind, promptTokens: error.promptTokens }
    : { kind };
}

export function budgetOf(
  { window, sketch }: DoorTurn,
  { plan, fixedTokens, leastReply }: NonNullable<EndedTurn["view"]>,
  tokenRatio: number,
): NonNullable<TurnReport["budget"]> {
  const { tokens } = plan;
  return {
    ...{ contextWindow: window, reserve: leastReply, promptBudget: window - leastReply },
    ...{ fixedTokens, tokenBudget: Math.max(0, window - leastReply - fixedTokens) },
    assembled: { estimate: tokens, low: tokens, high: tokens },
    ...{ engineEstimate: null, tokenRatio },
    historyMessages: sketch.messages.length,
    assembledMessages: sketch.messages.length - plan.leftOut.size,
  };
}

function requestOf(
  { match, plan, sketch, call }: DoorTurn,
  { view, recalled }: EndedTurn,
): NonNullable<TurnReport["door"]> {
  const { fresh, edited, summary } = plan;
  return {
    ...{ wire: call.wire.api, matchedBy: match.by, kind: match.kind },
    ...(match.parent !== undefined && { parent: match.parent }),
    messages: {
      ...{ fresh: fresh.length, edited: edited.length },
      known: sketch.messages.length - fresh.length,
    },
    ...(summary !== undefined && { restarted: true as const }),
    ...(recalled !== undefined && { lookedUp: recalled.lookedUp }),
    ...(view !== undefined && {
      view: {
        tokens: view.plan.tokens,
        setAside: view.plan.setAside,
        leftOut: view.plan.leftOut.size,
        moved: view.plan.moved,
        ...(view.clamped !== undefined && { replyLimit: view.clamped }),
      },
    }),
  };
}
