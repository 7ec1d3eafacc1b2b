// What a bench consists of.

/** One prepared case: what is timed, and what is told about it afterwards. */
export interface PreparedCase {
  /**
   * The timed work. Returns something that depends on all of it, so that none of
   * it can be optimised away.
   */
  run(): unknown;
  /**
   * Numbers worth reporting beside the times: tokens, bytes, resident memory. Called
   * once, after the last round.
   */
  facts?(): Record<string, number>;
  dispose?(): void | Promise<void>;
}

export interface BenchCase {
  /** Unique in its bench. */
  name: string;
  /** Name of the case whose median this one's is divided by. */
  compareTo?: string;
  /** Untimed, once, before the first round. */
  prepare(): PreparedCase | Promise<PreparedCase>;
}

export interface CaseResult {
  name: string;
  /** All in ms per run. */
  medianMs: number;
  minMs: number;
  maxMs: number;
  /** What 99 of 100 rounds took at most. Absent: there were fewer rounds. */
  p99Ms?: number;
  /** ms per run of each round, in order. */
  samplesMs: number[];
  /** Runs per sample: fast work is repeated until a sample can be measured. */
  runsPerSample: number;
  compareTo?: string;
  /** This median divided by that of `compareTo`. */
  ratio?: number;
  facts?: Record<string, number>;
}

export interface Bench {
  name: string;
  description: string;
  cases: readonly BenchCase[];
  /** Default 5. */
  rounds?: number;
  /**
   * Untimed rounds before the first; default 1, 0 for work that is long or
   * counted rather than timed.
   */
  warmups?: number;
  /**
   * Work that is faster is repeated until it takes so long, and the mean of that is told. Default
   * 5; 0 where single runs matter, as for the slowest of a hundred.
   */
  minSampleMs?: number;
  /** What the table does not say, one line each. */
  tell?(results: ReadonlyMap<string, CaseResult>): string[];
  /**
   * The claims that do not hold, one sentence each. Ratios and counts only: times belong to
   * one machine and one moment.
   */
  check?(results: ReadonlyMap<string, CaseResult>): string[];
}

/**
 * Returns `bench` as it is; a `*.bench.ts` file exports it by default. Throws when two cases share
 * a name or a comparison has no partner.
 */
export function defineBench(bench: Bench): Bench {
  const names = new Set(bench.cases.map(({ name }) => name));
  if (names.size < bench.cases.length)
    throw new Error(`Bench "${bench.name}" has two cases of one name; give each its own.`);
  for (const { name, compareTo } of bench.cases) {
    if (compareTo !== undefined && !names.has(compareTo))
      throw new Error(
        `Bench "${bench.name}" compares case "${name}" to "${compareTo}", which it does not have; correct the name.`,
      );
  }
  return bench;
}
