// Knows what a session and a day came to at all gateways.
import type { LogPort } from "@clew/engine-core";
import type { CostLedger } from "./ledger.ts";
import type { OtherTotals } from "./other-totals.ts";
import {
  NOTHING,
  nothingSpent,
  type Spent,
  sumOfSessions,
  sumOfSpent,
  type Totals,
} from "./totals.ts";

/** Whose sums are asked for. */
export interface AskedTotals {
  /** The session that nobody started. */
  root: string;
  /** A cap goes by them: what others spent a moment ago counts. */
  isForCap: boolean;
  /** What others told until now counts, however short ago they were asked. */
  isNow?: true;
}

export interface CostTotals {
  /** As far as they are of a session and of days. */
  totals(asked: AskedTotals): Promise<Totals>;
  /** A session was opened here: until then others may have spent in it. */
  opened(root: string): void;
  /** False: nothing was spent in it, and nobody will tell of more. */
  mayHaveSpent(root: string): Promise<boolean>;
}

/** No other gateway is there to be asked. */
export const totalsAlone = (ledger: CostLedger): CostTotals => ({
  totals: () => ledger.totals(),
  opened() {},
  async mayHaveSpent(root) {
    const { modelCalls, unended } = (await ledger.totals()).sessions[root] ?? nothingSpent();
    return modelCalls + unended > 0;
  },
});

export interface AllTotalsOptions {
  ledger: CostLedger;
  others: OtherTotals;
  log: Pick<LogPort, "warn">;
  /** ms. */
  now?: () => number;
}

/** What others spent is as old as this where a cap is asked for, at most, ms. */
const FRESH_MS = 2_000;
/** After which all that others spent in a session that came here is told, ms. */
const TOLD_MS = 5_000;
/** Sessions are looked after no longer than that they are this many. */
const MOST_OPENED = 10_000;

/** While others cannot be asked, their part is as it was known last. */
export function createAllTotals({
  ledger,
  others,
  log,
  now = () => performance.now(),
}: AllTotalsOptions): CostTotals {
  /** Sessions that came here of late, by when. */
  const opened = new Map<string, number>();
  let readAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  const read = async (): Promise<void> => {
    const { renewed } = await ledger.totals();
    const began = now();
    try {
      await others.read(renewed);
      readAt = began;
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn(
          `what other gateways spent is not known for now, so that caps go by what was known of it: ${(error as Error).message}`,
        );
      isFailing = true;
    }
  };
  const isOld = ({ root, isForCap, isNow }: AskedTotals): boolean => {
    if (isNow || (isForCap && now() - readAt >= FRESH_MS)) return true;
    const at = opened.get(root);
    if (at === undefined) return false;
    if (readAt - at >= TOLD_MS) opened.delete(root);
    return readAt - at < TOLD_MS;
  };
  return {
    opened(root) {
      opened.delete(root);
      opened.set(root, now());
      if (opened.size > MOST_OPENED) opened.delete(opened.keys().next().value!);
    },
    // Another one may tell of it late.
    mayHaveSpent: () => Promise.resolve(true),
    async totals(asked) {
      if (isOld(asked)) await read();
      const { root } = asked;
      const theirs = others.known();
      const at = theirs.renewed[root];
      if (at !== undefined) await ledger.beganAnew(root, at);
      return addUp(await ledger.totals(), theirs, root);
    },
  };
}

/** Pure. Of one session, and of all days. */
function addUp(own: Totals, others: Totals, root: string): Totals {
  const session = sumOfSessions(
    own.sessions[root] ?? nothingSpent(),
    others.sessions[root] ?? nothingSpent(),
  );
  const days = new Set([...Object.keys(own.days), ...Object.keys(others.days)]);
  return {
    ...{ open: {}, renewed: {}, gone: [], sessions: { [root]: session } },
    days: Object.fromEntries(
      [...days].map((day) => [day, sumOfAgents(own.days[day] ?? {}, others.days[day] ?? {})]),
    ),
    warned: { ...others.warned, ...own.warned },
  };
}

function sumOfAgents(
  own: Record<string, Spent>,
  others: Record<string, Spent>,
): Record<string, Spent> {
  const agents = new Set([...Object.keys(own), ...Object.keys(others)]);
  return Object.fromEntries(
    [...agents].map((agent) => [
      agent,
      sumOfSpent(own[agent] ?? NOTHING, others[agent] ?? NOTHING),
    ]),
  );
}
