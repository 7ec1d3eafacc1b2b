// Times the cases of a bench against each other in interleaved rounds.
import type { Bench, BenchCase, CaseResult, PreparedCase } from "./bench.ts";

export interface MeasureOptions {
  rounds: number;
  /** Untimed rounds before the first one. */
  warmups: number;
  /** A sample shorter than this is repeated until it is as long. */
  minSampleMs: number;
  /** Monotonic ms. */
  now(): number;
  /** Told before each round, from 1; warm-up rounds are 0. */
  onRound?(round: number): void;
}

export const DEFAULTS = {
  rounds: 5,
  warmups: 1,
  minSampleMs: 5,
  now: () => performance.now(),
} as const satisfies MeasureOptions;

interface Contestant {
  case: BenchCase;
  prepared: PreparedCase;
  runsPerSample: number;
  samplesMs: number[];
}

/** Last result of any run, kept where the compiler must assume that somebody reads it. */
export const sink: { value: unknown } = { value: undefined };

export async function measure(bench: Bench, options: MeasureOptions): Promise<CaseResult[]> {
  const contestants: Contestant[] = [];
  try {
    for (const benchCase of bench.cases)
      contestants.push({
        case: benchCase,
        prepared: await benchCase.prepare(),
        runsPerSample: 1,
        samplesMs: [],
      });
    for (let warmup = 0; warmup < options.warmups; warmup++) {
      options.onRound?.(0);
      for (const contestant of contestants) await warmUp(contestant, options);
    }
    for (let round = 0; round < options.rounds; round++) {
      options.onRound?.(round + 1);
      for (const contestant of rotate(contestants, round))
        contestant.samplesMs.push(await sample(contestant, options.now));
    }
    return withRatios(contestants.map(toResult));
  } finally {
    for (const { prepared } of contestants) await prepared.dispose?.();
  }
}

/** The middle value; of an even number of values the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** What so large a part of the values is at most; NaN of none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

/** Fewer rounds have no hundredth. */
const ROUNDS_FOR_P99 = 100;

// A case that always ran last would always meet the fullest heap and the warmest caches.
function rotate<T>(values: readonly T[], by: number): T[] {
  const start = values.length === 0 ? 0 : by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

async function warmUp(contestant: Contestant, { minSampleMs, now }: MeasureOptions): Promise<void> {
  const elapsed = (await sample(contestant, now)) * contestant.runsPerSample;
  if (elapsed < minSampleMs)
    contestant.runsPerSample = Math.min(
      100_000,
      Math.ceil((contestant.runsPerSample * minSampleMs) / Math.max(elapsed, 0.001)),
    );
}

/** ms per run. Work that returns no promise is not awaited: an await costs more than some work. */
async function sample({ prepared, runsPerSample }: Contestant, now: () => number): Promise<number> {
  const start = now();
  for (let run = 0; run < runsPerSample; run++) {
    const result = prepared.run();
    sink.value = result instanceof Promise ? await result : result;
  }
  return (now() - start) / runsPerSample;
}

function toResult({
  case: { name, compareTo },
  prepared,
  runsPerSample,
  samplesMs,
}: Contestant): CaseResult {
  const facts = prepared.facts?.();
  return {
    name,
    medianMs: median(samplesMs),
    minMs: Math.min(...samplesMs),
    maxMs: Math.max(...samplesMs),
    ...(samplesMs.length >= ROUNDS_FOR_P99 && { p99Ms: quantile(samplesMs, 0.99) }),
    samplesMs,
    runsPerSample,
    ...(compareTo !== undefined && { compareTo }),
    ...(facts !== undefined && { facts }),
  };
}

function withRatios(results: CaseResult[]): CaseResult[] {
  const byName = new Map(results.map((result) => [result.name, result]));
  return results.map((result) => {
    const other = result.compareTo === undefined ? undefined : byName.get(result.compareTo);
    return other === undefined ? result : { ...result, ratio: result.medianMs / other.medianMs };
  });
}
