// The state of one turn in progress.
import type { UserMessage } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import type { SessionProjection } from "@clew/plugin-sdk/transcript";
import type { GuardedEngine } from "../engine/guard.ts";
import type { HostPorts, HostSession, TranscriptPort } from "../ports.ts";
import type { ReportParts, TurnReport } from "../report.ts";
import type { SessionState } from "../session/session-state.ts";
import { delegatedCompaction } from "./delegated-compaction.ts";
import { newReport } from "./open-report.ts";
import {
  DEFAULT_TURN_SETTINGS,
  type PromptAdditions,
  type TurnEvent,
  type TurnRequest,
  type TurnSettings,
} from "./turn-request.ts";

/** The stored prompt and what hooks want the model to see with it. */
export interface AdmittedMessage {
  /** As stored. */
  message: UserMessage;
  additions: PromptAdditions;
}

/** What a run has already tried; overflow attempts start again after each successful model call. */
export interface RecoveryState {
  overflowAttempts: number;
  timeoutCompactions: number;
  truncated: boolean;
  /** Built-in compaction already ran since the last successful model call. */
  autoCompacted: boolean;
}

export const NO_RECOVERY_YET: RecoveryState = {
  overflowAttempts: 0,
  timeoutCompactions: 0,
  truncated: false,
  autoCompacted: false,
};

export interface TurnRun {
  readonly request: TurnRequest;
  readonly ports: HostPorts;
  /** The session's transcript; a compaction may move the session to a successor. */
  transcript: TranscriptPort;
  readonly session: HostSession;
  readonly state: SessionState;
  readonly engine: GuardedEngine;
  readonly model: ModelRef;
  readonly settings: TurnSettings;
  readonly isHeartbeat: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: TurnEvent) => void;
  /** True when the transcript existed before this turn. */
  readonly hadSessionFile: boolean;
  readonly startedAt: number;
  readonly startedMonotonic: number;
  /** The report so far. */
  readonly report: TurnReport;
  readonly parts: ReportParts;
  /** ms spent in model calls and tools. */
  waitedMs: number;
  /** Entry ids of this turn's messages that the engine was given. */
  delivered: Set<string>;
  /** The prompt once it is stored. */
  admitted: AdmittedMessage | undefined;
  recovery: RecoveryState;
  /** Which tool results the view shows shortened. */
  projections: readonly SessionProjection[];
  /** Why the last compaction did not help. */
  compactionFailure: { reason: string; timedOut: boolean } | undefined;
  /** Hash of the request the provider refused as too large: it is not sent again as it is. */
  refusedRequest: string | undefined;
}

export function openTurn(request: TurnRequest): TurnRun {
  const { ports, state, model } = request;
  const signal = request.signal ?? new AbortController().signal;
  const report = newReport(request);
  const engine = request.engine.guard.enter({
    signal,
    ...delegatedCompaction(ports),
    record: (call) => void report.engineCalls.push(call),
  });
  return {
    request,
    ports,
    transcript: ports.transcript,
    get session() {
      return this.transcript.session;
    },
    state,
    engine,
    model,
    settings: { ...DEFAULT_TURN_SETTINGS, ...request.settings },
    isHeartbeat: request.kind === "heartbeat",
    signal,
    emit: request.onEvent ?? (() => {}),
    hadSessionFile: ports.transcript.exists(),
    startedAt: ports.clock.now(),
    startedMonotonic: ports.clock.monotonic(),
    report,
    parts: {},
    waitedMs: 0,
    delivered: new Set(),
    admitted: undefined,
    recovery: NO_RECOVERY_YET,
    projections: [],
    compactionFailure: undefined,
    refusedRequest: undefined,
  };
}
