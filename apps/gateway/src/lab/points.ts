// Measures each played call by the inspector's rows, and by what it still held.
import type { TurnReport } from "@clew/engine-core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import type { Prices } from "../costs/prices.ts";
import { createSessionCalls } from "../inspect/session-calls.ts";
import type { CallRow } from "../inspect/shapes/calls.ts";
import { createPlayedCache, type PlayedCache } from "../replay/prompt-cache.ts";
import type { RecordedTurn } from "../replay/recorded-turns.ts";
import type { ReplayWatch } from "../replay/run-replay.ts";
import type { OpenSession } from "../sessions/open.ts";
import { agentPaths } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import { countPresent, type NeededNames, planNeededNames } from "./evidence.ts";
import type { PlayedPoint } from "./shapes.ts";

/** The recorded call in whose place a played one stands. */
export interface PlayedPlace {
  /** Null: the recording is in no transcript. */
  promptEntryId: string | null;
  /** Of the turn, from 0. */
  step: number;
}

export interface MeasuredPoint extends PlayedPoint {
  place: PlayedPlace;
}

/** What no report tells of a call. */
export type SeenCall = Pick<PlayedPoint, "evidence" | "engineMs">;

interface MeterRequest {
  turns: readonly RecordedTurn[];
  /** What each call's next ones need. Absent: as `turns` alone tell it. */
  names?: NeededNames;
  /** What its provider keeps of the calls before. Absent: there were none. */
  cache?: PlayedCache;
  /** Counted / estimated tokens of the model. Absent: 1. */
  tokenRatio?: number | undefined;
}

export interface Meter {
  watch: ReplayWatch;
  /** Of the session's calls those that were watched, in order. */
  pointsOf(rows: readonly CallRow[]): MeasuredPoint[];
}

export function createMeter(request: MeterRequest): Meter {
  const { turns, cache = createPlayedCache(), tokenRatio } = request;
  const names = request.names ?? planNeededNames(turns);
  const known = new Map<string, SeenCall & { place: PlayedPlace }>();
  let seen: PlayedPoint["evidence"][] = [];
  return {
    watch: {
      usageOf: cache.usage,
      onCall(call, at) {
        seen.push(evidenceOf(call, names, at));
      },
      onReport(report, turn) {
        const engineMs = engineMsOf(report);
        const promptEntryId = turns[turn - 1]?.promptEntryId ?? null;
        for (const [step, evidence] of seen.entries())
          known.set(`${report.turnId} ${step + 1}`, {
            ...{ evidence, engineMs },
            place: { promptEntryId, step },
          });
        seen = [];
      },
    },
    pointsOf: (rows) =>
      rows.flatMap((row) => {
        const call = known.get(`${row.turnId} ${row.call}`);
        return call === undefined
          ? []
          : [{ ...pointOfRow(row, call, tokenRatio), place: call.place }];
      }),
  };
}

const evidenceOf = (
  call: ModelCall,
  names: NeededNames,
  { turn, step }: { turn: number; step: number },
): PlayedPoint["evidence"] => {
  const needed = names[turn - 1]?.[step] ?? new Set<string>();
  return { needed: needed.size, present: countPresent(call, needed) };
};

/** Pure. Of one call: its turn's time shared out. */
export function engineMsOf({ engineCalls, modelCalls }: TurnReport): number {
  const all = engineCalls.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return Math.round((all / Math.max(1, modelCalls.length)) * 1000) / 1000;
}

/**
 * Pure. Its tokens are estimated, those of the cache too; what they are counted as decides whether
 * they fit, and what they cost.
 */
export function pointOfRow(
  row: CallRow,
  { evidence, engineMs }: SeenCall,
  tokenRatio = 1,
): PlayedPoint {
  const estimated = (counted: number | null | undefined) => Math.round((counted ?? 0) / tokenRatio);
  const { id, turn, call, tokens, promptBudget, cache, cost, fates, marks } = row;
  return {
    ...{ id, ofCall: null, turn, call, tokens, promptBudget },
    isOverBudget: promptBudget !== null && tokens.total * tokenRatio > promptBudget,
    cache: { read: estimated(cache?.read), written: estimated(cache?.written) },
    ...{ cost, fates, evidence, engineMs, marks },
  };
}

/** The rows of a session that is being played, its tokens as they are estimated. */
export function followRows(
  { session, branch }: Pick<OpenSession, "session" | "branch">,
  { home, prices }: { home: string; prices: Prices | null },
): () => Promise<readonly CallRow[]> {
  const { agentId, sessionId, sessionFile } = session;
  const sourceNow = () => ({
    ...{ folder: agentPaths(home, agentId).reports, sessionId, branch: branch() },
    allEntries: () => readAllEntries(sessionFile),
  });
  const calls = createSessionCalls(sourceNow(), () => prices, "estimated");
  return async () => {
    await calls.refresh(sourceNow());
    return calls.rows;
  };
}
