// What an agent's newest turn reports say went wrong.
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { EngineFailure, TurnReport } from "@clew/engine-core";
import { inSlices } from "@clew/plugin-sdk/host";
import { readFileEnd } from "../../reports/read-reports.ts";

export interface RecentTurns {
  /** Whoever answered. */
  turns: number;
  /** Of them, those that the engine answered whose faults are counted below. */
  own: number;
  /** Answered by another engine than the chosen one, because that failed. */
  degraded: number;
  /** `engineId`: the one that failed. */
  lastDegraded: ({ at: string; engineId: string } & EngineFailure) | null;
  compactions: number;
  /** Said to be done, without making the context smaller. */
  idleCompactions: number;
  /** Turns with calls that went without the engine's choice, which the host could not use. */
  badViews: number;
  /** Turns with messages whose ids the engine had dropped. */
  alignedViews: number;
  /** Turns in which the engine said fewer tokens than its messages can possibly take. */
  underEstimates: number;
}

const MAX_SESSIONS = 8;
const MAX_TURNS = 100;
const TAIL_BYTES = 128 * 1024;

/** `folder` is the agent's reports folder; only faults of `engineId` are counted as faults. */
export async function readRecentTurns(folder: string, engineId: string): Promise<RecentTurns> {
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".jsonl"));
  const dated: { file: string; time: number }[] = [];
  // One system call each: not worth the way to another thread and back.
  await inSlices(files, (name) => {
    const file = join(folder, name);
    dated.push({ file, time: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 });
  });
  const newest = dated.sort((a, b) => b.time - a.time).slice(0, MAX_SESSIONS);
  const reports = (await Promise.all(newest.map(({ file }) => readTail(file)))).flat();
  return summarizeTurns(
    reports.sort((a, b) => a.startedAt.localeCompare(b.startedAt)).slice(-MAX_TURNS),
    engineId,
  );
}

/** What an engine made of one session by its own compactions. */
export interface EngineCompactions {
  /** That the host asked for, in the newest turns; what it does by itself is not told. */
  count: number;
  /** How many turns these are. */
  turns: number;
  last: { at: string; trigger: string } | null;
}

/** `file`: the reports of one session. */
export async function readEngineCompactions(
  file: string,
  engineId: string,
): Promise<EngineCompactions> {
  const reports = (await readTail(file)).filter(({ engine }) => engine.ran === engineId);
  const done = reports.flatMap(({ startedAt: at, compactions }) =>
    compactions.flatMap(({ compacted, trigger }) => (compacted ? [{ at, trigger }] : [])),
  );
  const turns = count(reports, ({ modelCalls }) => modelCalls.length > 0);
  return { count: done.length, turns, last: done.at(-1) ?? null };
}

/** Pure; oldest first. */
export function summarizeTurns(reports: readonly TurnReport[], engineId: string): RecentTurns {
  const own = reports.filter(({ engine }) => engine.ran === engineId);
  const degraded = reports.filter(({ engine }) => engine.degraded !== null);
  const last = degraded.at(-1);
  const compactions = own.flatMap((report) =>
    report.compactions.filter(({ compacted }) => compacted),
  );
  const isIdle = ({
    ok,
    compacted,
    tokensBefore,
    tokensAfter,
  }: TurnReport["compactions"][number]) =>
    ok && compacted && tokensBefore !== null && tokensAfter !== null && tokensAfter >= tokensBefore;
  return {
    turns: reports.length,
    own: own.length,
    degraded: degraded.length,
    lastDegraded: last === undefined ? null : failureIn(last),
    compactions: compactions.length,
    idleCompactions: compactions.filter(isIdle).length,
    badViews: count(own, ({ views }) => (views?.fallbacks ?? 0) > 0),
    alignedViews: count(own, ({ views }) => (views?.aligned ?? 0) > 0),
    underEstimates: count(own, ({ budget }) => budget?.underEstimated === true),
  };
}

const failureIn = ({ startedAt, engine }: TurnReport) => ({
  ...{ at: startedAt, engineId: engine.configured ?? engine.infoId, ...engine.degraded! },
});

const count = (reports: readonly TurnReport[], is: (report: TurnReport) => boolean) =>
  reports.filter(is).length;

/** The reports at the end of a file; what is no report is skipped. */
async function readTail(file: string): Promise<TurnReport[]> {
  const reports = await readFileEnd(file, TAIL_BYTES).catch(() => []);
  return reports.filter(
    ({ engine, compactions }) => engine !== undefined && Array.isArray(compactions),
  );
}
