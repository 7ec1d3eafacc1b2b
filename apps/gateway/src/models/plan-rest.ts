// Decides how long a model that failed is left alone, and who answers meanwhile.
import type { FailureKind } from "@clew/engine-core";

/** A model, or all of one provider, that is not asked for a while. */
export interface Rest {
  /** How it failed. */
  kind: FailureKind;
  /** When, ISO 8601. */
  at: string;
  /** Until when it is left alone, ISO 8601. */
  until: string;
  /** Failures since it answered last. */
  failures: number;
}

/** By "provider/model", or "provider/*" where the account or the address is at fault. */
export type Rests = Readonly<Record<string, Rest>>;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** After the first failure, the second, and so on. */
const RESTS_MS = [MINUTE, 5 * MINUTE, 25 * MINUTE, HOUR] as const;
const BILLING_RESTS_MS = [HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 24 * HOUR] as const;
const LONGEST_REST_MS = 24 * HOUR;

/** Failures that come back when the model is asked again at once. */
const PASSING: ReadonlySet<FailureKind> = new Set<FailureKind>([
  "rate_limited",
  "overloaded",
  "unavailable",
  "network",
  "timeout",
  "auth",
  "billing",
  "not_found",
  "invalid_response",
]);
const OF_THE_PROVIDER: ReadonlySet<FailureKind> = new Set<FailureKind>([
  "auth",
  "billing",
  "network",
]);

/** Who rests; undefined after a failure that says nothing of the next call. */
export function whoRests(model: string, kind: FailureKind): string | undefined {
  if (!PASSING.has(kind)) return undefined;
  return OF_THE_PROVIDER.has(kind) ? providerOf(model) : model;
}

/** The rest after a failure; longer each time, and as long as the provider asks. */
export function planRest(
  before: Rest | undefined,
  {
    kind,
    retryAfterMs,
    now,
  }: { kind: FailureKind; retryAfterMs?: number | undefined; now: number },
): Rest {
  const failures = (before?.failures ?? 0) + 1;
  const rests = kind === "billing" ? BILLING_RESTS_MS : RESTS_MS;
  const usual = rests[Math.min(failures, rests.length) - 1]!;
  const restMs = Math.min(Math.max(usual, retryAfterMs ?? 0), LONGEST_REST_MS);
  const time = (ms: number) => new Date(ms).toISOString();
  return { kind, at: time(now), until: time(now + restMs), failures };
}

/** The rest that a model takes now; undefined: it may be asked. */
export function restOf(rests: Rests, model: string, now: number): Rest | undefined {
  const taken = [rests[model], rests[providerOf(model)]];
  return taken.find((rest) => rest !== undefined && Date.parse(rest.until) > now);
}

/**
 * Whether a model or provider that rests is asked after others: in some chain another one is awake.
 * `chains`: names of models, in the order of the settings. One that stands in none was chosen for
 * a session, and a chain is behind it.
 */
export function isLeftAlone(
  name: string,
  { chains, rests, now }: { chains: readonly (readonly string[])[]; rests: Rests; now: number },
): boolean {
  if (rests[name] === undefined && restOf(rests, name, now) === undefined) return false;
  const having = chains.filter((chain) =>
    chain.some((model) => model === name || providerOf(model) === name),
  );
  return (having.length === 0 ? chains : having).some((chain) =>
    chain.some((model) => restOf(rests, model, now) === undefined),
  );
}

/** Who is asked, in order. */
export interface Chain {
  /** The first answers; the others are there for when it cannot. */
  order: readonly string[];
  /** Why another one than the first of the settings is asked first; null = it is asked. */
  because: Rest | null;
}

/**
 * Those that rest are not waited for in every turn: they are asked last. Where all do, they are
 * asked as they stand.
 */
export function planChain(
  [primary, ...fallbacks]: readonly [string, ...string[]],
  rests: Rests,
  now: number,
): Chain {
  const names = [...new Set([primary, ...fallbacks])];
  const isAwake = (name: string) => restOf(rests, name, now) === undefined;
  const awake = names.filter(isAwake);
  if (awake.length === 0) return { order: names, because: null };
  const order = [...awake, ...names.filter((name) => !isAwake(name))];
  return { order, because: restOf(rests, primary, now) ?? null };
}

const providerOf = (model: string): string => `${model.slice(0, model.indexOf("/"))}/*`;
