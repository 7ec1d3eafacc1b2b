// Remembers which summarising models were away, so that no compaction waits for them.
import type { ModelRef } from "@clew/plugin-sdk/host";

/** Kept by a host for as long as it runs, and given to every compaction. */
export interface SummariserRest {
  /** Why the model is not asked now, with how long that lasts; undefined = it is. */
  reason(model: ModelRef, now: number): string | undefined;
  /** It was away: for `restMs` nobody asks it. */
  begin(model: ModelRef, rest: { reason: string; restMs: number; now: number }): void;
}

/**
 * Models that rest, in memory only: a process that starts asks each of them again. That a model
 * answers in a turn ends nothing: a limit on tokens lets the short request pass.
 * @example
 * ```ts
 * import { createSummariserRest } from "@clew/legacy-engine";
 *
 * const rest = createSummariserRest();
 * const model = { provider: "x", api: "x", id: "m", contextWindow: 8_000, maxOutputTokens: 500 };
 * rest.begin(model, { reason: "it is away", restMs: 300_000, now: 0 });
 * console.log(rest.reason(model, 60_000));
 * console.log(rest.reason(model, 300_000));
 * ```
 *
 * ```text
 * it is away; it is asked again in 4 min
 * undefined
 * ```
 */
export function createSummariserRest(): SummariserRest {
  const resting = new Map<string, { reason: string; until: number }>();
  const nameOf = ({ provider, id }: ModelRef) => `${provider}/${id}`;
  return {
    reason(model, now) {
      const known = resting.get(nameOf(model));
      if (known === undefined) return undefined;
      if (now < known.until) return withRest(known.reason, known.until - now);
      resting.delete(nameOf(model));
      return undefined;
    },
    begin(model, { reason, restMs, now }) {
      resting.set(nameOf(model), { reason, until: now + restMs });
    },
  };
}

/** Why a model did not summarise, and when it is asked again. */
export const withRest = (reason: string, restMs: number): string =>
  `${reason}; it is asked again in ${restMs < 60_000 ? `${Math.ceil(restMs / 1000)} s` : `${Math.ceil(restMs / 60_000)} min`}`;
