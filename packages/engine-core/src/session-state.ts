// What a host keeps in memory per open session between turns; losing it costs time, never correctness.
import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import { buildContext, type TranscriptContext } from "@clew/plugin-sdk/transcript";
import { idleLane, type MaintenanceLane } from "./maintenance-lane.ts";
import type { TranscriptPort } from "./ports.ts";
import type { RequestMemory } from "./request-items.ts";
import type { Measurement } from "./request-size.ts";
import type { TokenSum } from "./token-sums.ts";

export interface SessionState {
  context: TranscriptContext | undefined;
  /** Entry ids of transcript messages, by message object. */
  entryIds: WeakMap<AgentMessage, string>;
  /** The last request's messages as reported, for the next delta. */
  request: RequestMemory | undefined;
  historySum: TokenSum | undefined;
  assemblySum: TokenSum | undefined;
  modelCalls: number;
  /** What the provider counted for the last successful call; undefined after a compaction. */
  measurement: Measurement | undefined;
  /** Background maintenance of this session. */
  maintenance: MaintenanceLane;
  /** Usage of the last successful model call. */
  lastUsage: Usage | undefined;
  /** Entry ids of messages an engine without `bootstrap` has not been given yet: turns that failed or were aborted. */
  undelivered: Set<string>;
}

export function createSessionState(): SessionState {
  return {
    context: undefined,
    entryIds: new WeakMap(),
    request: undefined,
    historySum: undefined,
    assemblySum: undefined,
    modelCalls: 0,
    measurement: undefined,
    maintenance: idleLane(),
    lastUsage: undefined,
    undelivered: new Set(),
  };
}

/** The session's context now; costs as much as grew since the last call. */
export function refreshContext(state: SessionState, transcript: TranscriptPort): TranscriptContext {
  const before = state.context;
  const context = buildContext(transcript.branch(), before);
  const reused = before !== undefined && context.items[before.items.length - 1] === before.items.at(-1) ? before.items.length : 0;
  for (let index = reused; index < context.items.length; index++) {
    const { message, entryId } = context.items[index]!;
    state.entryIds.set(message, entryId);
  }
  state.context = context;
  return context;
}
