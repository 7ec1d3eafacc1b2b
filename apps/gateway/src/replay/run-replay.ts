// Runs a recording through the engine and measures every recorded model call.
import {
  createSessionState,
  type EngineFailure,
  type ModelCallReport,
  type SessionState,
  type TurnError,
  type TurnReport,
  type TurnResult,
} from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelRef, ToolDefinition } from "@clew/plugin-sdk/host";
import { type Cost, costOf } from "../costs/cost.ts";
import type { Prices } from "../costs/prices.ts";
import type { Host, Replacement } from "../host/host.ts";
import type { ReportLog } from "../reports/report-log.ts";
import type { OpenSession } from "../sessions/open.ts";
import { createPlayer, type PlayerOptions } from "./player.ts";
import type { RecordedTurn } from "./recorded-turns.ts";

/** One recorded model call, as it would have been made. */
export interface ReplayedCall {
  /** Counted from 1. */
  turn: number;
  /** Estimated tokens of system prompt, tools and messages. */
  tokens: number;
  messages: number;
  /** Counts all model calls of the session from 0, also those that no recorded reply answered. */
  place: number;
  /** Estimated tokens do not fit the window's prompt budget. */
  isOverBudget: boolean;
  /** Of `tokens`: what the provider's cache would give, as predicted. */
  fromCache: number;
  /** What the call would cost, with the recorded reply; null = the prices are not known. */
  cost: Cost | null;
}

export interface ReplayResult {
  turns: number;
  calls: ReplayedCall[];
  /** Recorded calls that were not made, because their turn had failed before. */
  callsNotMade: number;
  /** Reasons of turns that failed for another cause than the recording. */
  failures: { turn: number; kind: TurnError["kind"]; reason: string }[];
  /** The engine that answered last, and why another one than the chosen did. */
  engine: { ran: string; degraded: EngineFailure | null };
  compactions: number;
  /** ms, summed over all turns. */
  time: { total: number; engine: number; host: number };
}

/** Told of what is played, for figures of its own. */
export interface ReplayWatch {
  /** Before the reply of a recorded call; turns count from 1, steps from 0. */
  onCall(call: ModelCall, at: { turn: number; step: number }): void;
  /** When the turn is over and its report stored. */
  onReport(report: TurnReport, turn: number): void;
  usageOf?: PlayerOptions["usageOf"];
}

export interface ReplayRequest {
  host: Host;
  session: OpenSession;
  reports: ReportLog;
  model: ModelRef;
  /** Of the model; null = not known. Absent: the same. */
  prices?: Prices | null;
  turns: readonly RecordedTurn[];
  /** What each call is offered. Absent: nothing of the recording's own. */
  tools?: readonly ToolDefinition[];
  /** Which of its own the host offers beside. Absent: its own to search the session. */
  ownTools?: Replacement["ownTools"];
  /** What a client said in the system prompt. Absent: nothing. */
  system?: Replacement["system"];
  /** Counted / estimated tokens of the model. Absent: 1. */
  tokenRatio?: number | undefined;
  /** Of the session, when it goes on. Absent: it was just opened. */
  state?: SessionState;
  /** Absent: nobody watches. */
  watch?: ReplayWatch | undefined;
  onProgress?: (progress: { turn: number; turns: number; calls: number }) => void;
  signal: AbortSignal;
}

export async function runReplay(request: ReplayRequest): Promise<ReplayResult> {
  const { session, turns, onProgress, signal } = request;
  const result: ReplayResult = {
    turns: 0,
    calls: [],
    callsNotMade: 0,
    failures: [],
    engine: { ran: "", degraded: null },
    compactions: 0,
    time: { total: 0, engine: 0, host: 0 },
  };
  const append = async (messages: readonly AgentMessage[]) => {
    await session.append(messages.map((message) => ({ type: "message" as const, message })));
  };
  const progress = { result, state: request.state ?? createSessionState(), append, made: 0 };
  for (const [index, turn] of turns.entries()) {
    signal.throwIfAborted();
    await replayTurn(request, progress, { number: index + 1, turn });
    onProgress?.({ turn: index + 1, turns: turns.length, calls: result.calls.length });
  }
  return result;
}

/** What grows while a replay goes on. */
interface Progress {
  result: ReplayResult;
  state: SessionState;
  append: (messages: readonly AgentMessage[]) => Promise<void>;
  /** Model calls so far. */
  made: number;
}

async function replayTurn(
  {
    host,
    session,
    reports,
    model: modelRef,
    prices = null,
    tools: offered,
    ownTools,
    system,
    tokenRatio,
    watch,
    signal,
  }: ReplayRequest,
  progress: Progress,
  { number, turn }: { number: number; turn: RecordedTurn },
): Promise<void> {
  const { result, state, append } = progress;
  let played = 0;
  const onCall = (call: ModelCall) => {
    watch?.onCall(call, { turn: number, step: played });
    played++;
  };
  const player = createPlayer({
    turn,
    append,
    onCall,
    usageOf: watch?.usageOf,
    offered,
    tokenRatio,
  });
  if (turn.prompt !== null && turn.steps.length > 0) {
    const { role: _role, ...prompt } = turn.prompt;
    const { model, tools, clock } = player;
    const replacement = {
      ...{ model, modelRef, tools, clock },
      ...(ownTools !== undefined && { ownTools }),
      ...(system !== undefined && { system }),
      ...(tokenRatio !== undefined && { tokenRatio }),
    };
    const answer = await host.answer({ transcript: session, state, prompt, signal, replacement });
    await reports.append(answer.report, answer.parts);
    watch?.onReport(answer.report, number);
    const { modelCalls } = answer.report;
    for (const [at, report] of modelCalls.slice(0, played).entries())
      result.calls.push(
        measureCall(report, answer.report, {
          ...{ turn: number, prices },
          place: progress.made + at,
        }),
      );
    progress.made += modelCalls.length;
    note(result, number, turn, answer, player.remaining().length);
  } else if (turn.prompt !== null) await append([turn.prompt]);
  result.turns += turn.prompt === null ? 0 : 1;
  // What the run did not get to did happen: the next turn's history needs it.
  for (const { before, reply, results } of player.remaining())
    await append([...before, reply, ...results]);
  await append(turn.after);
}

function measureCall(
  report: ModelCallReport,
  { budget }: TurnReport,
  { turn, place, prices }: { turn: number; place: number; prices: Prices | null },
): ReplayedCall {
  const fixed = [...report.system, ...report.tools].reduce((sum, item) => sum + item.tokens, 0);
  const tokens = fixed + report.messages.tokens;
  const told = report.usage ?? report.estimated;
  const { kept, items } = report.messages;
  return {
    ...{ turn, tokens, place },
    messages: kept + items.length,
    isOverBudget: budget !== null && tokens > budget.promptBudget,
    fromCache: told?.cacheRead ?? 0,
    // A reply that the recording does not have was asked for all the same.
    cost: costOf(told ?? { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0 }, prices),
  };
}

function note(
  result: ReplayResult,
  turn: number,
  recorded: RecordedTurn,
  { outcome, error, report }: TurnResult,
  notMade: number,
): void {
  result.callsNotMade += notMade;
  const endsLikeRecorded =
    outcome === "completed" ||
    (notMade === 0 && recorded.steps.length > 0 && error?.kind !== "overflow");
  if (!endsLikeRecorded)
    result.failures.push({
      turn,
      kind: error?.kind ?? "host",
      reason: error?.message ?? outcome,
    });
  result.engine = { ran: report.engine.ran, degraded: report.engine.degraded };
  result.compactions += report.compactions.filter(({ compacted }) => compacted).length;
  result.time.total += report.durationMs;
  result.time.host += report.hostMs;
  result.time.engine += report.engineCalls.reduce((sum, { durationMs }) => sum + durationMs, 0);
}
