// Compacts a session outside a turn because a person asked for it.
import { pause, planContextSize } from "@clew/plugin-sdk/host";
import { assertHostSupport, hostOf } from "../engine/host-support.ts";
import { FALLBACK_ENGINE_ID } from "../engine/registry.ts";
import type { TurnReport } from "../report/turn-report.ts";
import { sizeOf } from "../request/request-size.ts";
import { messagesOf } from "../request/view-item.ts";
import { withSession } from "../session/session-lock.ts";
import { contextItems, readBranch, refreshContext } from "../session/session-state.ts";
import type { CompactionOutcome, CompactionRequest } from "./compaction.ts";
import { openTurn } from "./open-turn.ts";
import { planTurn } from "./order.ts";
import { reportOf } from "./report-of.ts";
import { runEffects } from "./run-effects.ts";
import { newTurn } from "./turn.ts";
import { DEFAULT_TURN_SETTINGS, type TurnRequest } from "./turn-request.ts";

/** A turn's request without a prompt: what `/compact` needs. */
export interface CompactSessionRequest
  extends Omit<TurnRequest, "prompt" | "systemPrompt" | "kind" | "beforePromptBuild"> {
  /** What the summary should keep above all. Absent: nothing in particular. */
  customInstructions?: string;
}

/**
 * `/compact` (contract §3.8). Waits for a turn of the same session that runs. An engine
 * that cannot compact is a result with `compacted: false` and the reason; throws only
 * HOST_CAPABILITY_MISSING, SESSION_LOCKED and aborts.
 */
export async function compactSession(
  request: CompactSessionRequest,
): Promise<{ result: CompactionOutcome; report: TurnReport }> {
  const { guard } = request.engine;
  if (request.engine.refused !== undefined) throw request.engine.refused;
  if (guard.engineId !== FALLBACK_ENGINE_ID)
    assertHostSupport(guard.info(), "manual-compact", hostOf(request.ports));
  const { sessionKey } = request.ports.transcript.session;
  return withSession(request.state.lock, { whenBusy: request.whenBusy, sessionKey }, () =>
    compactNow(request),
  );
}

async function compactNow(
  request: CompactSessionRequest,
): Promise<{ result: CompactionOutcome; report: TurnReport }> {
  const whole = { ...request, systemPrompt: [], prompt: { content: "" } };
  const { setup, signal, open } = openTurn(whole, "compaction");
  signal.throwIfAborted();
  const opened = newTurn(setup, planTurn(setup));
  const asked: CompactionRequest = {
    trigger: "manual",
    target: "threshold",
    tokenBudget: setup.budget.promptBudget,
    currentTokenCount: await countSession(request),
    ...(request.customInstructions !== undefined && { focus: request.customInstructions }),
  };
  const { turn, facts, close } = await runEffects(
    {
      ...opened,
      compaction: { by: "engine", request: asked, before: setup.session, outcome: null },
    },
    open,
    { signal },
  );
  signal.throwIfAborted();
  const result = turn.compaction?.outcome ?? {
    ok: false,
    compacted: false,
    reason: turn.error?.message ?? "it did not run",
    timedOut: false,
  };
  const ms = request.ports.clock.monotonic() - setup.startedMonotonic;
  const told = reportOf(turn, [...facts, { type: "closed", ms }]);
  const report: TurnReport = result.ok
    ? told
    : { ...told, outcome: "failed", reason: result.reason ?? null };
  await close({ report, parts: {} });
  return { result, report };
}

/** What `countSession` needs of a request. */
export type CountedSession = Pick<CompactSessionRequest, "state" | "model" | "settings"> & {
  ports: Pick<CompactSessionRequest["ports"], "transcript">;
};

/**
 * Tokens of what would be sent of what is stored, as every decision sees it: what a compaction is
 * told. System prompt and tools are part of it where the provider counted them.
 */
export async function countSession({
  state,
  ports,
  model,
  settings,
}: CountedSession): Promise<number> {
  const { reserveTokens, tokenRatio } = { ...DEFAULT_TURN_SETTINGS, ...settings };
  await readBranch(state, ports.transcript);
  refreshContext(state);
  await pause();
  const messages = state.capped.view(messagesOf(contextItems(state, 0)), model.contextWindow);
  await pause();
  return planContextSize({
    contextWindow: model.contextWindow,
    reserveTokens,
    fixedTokens: 0,
    tokenRatio,
    messages: sizeOf(state, messages),
  }).tokens;
}
