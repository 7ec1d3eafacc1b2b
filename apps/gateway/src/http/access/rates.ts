// Counts requests by who sends them, within a minute and within a bound of memory.

export interface Rates {
  /** Counts one of `who`. */
  add(who: string): void;
  /** Seconds until `who` may come again; 0 = now. */
  waitOf(who: string): number;
}

export interface RateOptions {
  /** 0 = any number. */
  perMinute: number;
  /** Monotonic ms. */
  now?: () => number;
}

const MINUTE_MS = 60_000;
/** Whoever came longest ago is forgotten when there are more. */
const MOST_KNOWN = 10_000;

export function createRates({ perMinute, now = () => performance.now() }: RateOptions): Rates {
  // In the order in which their minutes began.
  const minutes = new Map<string, { since: number; count: number }>();
  const minuteOf = (who: string) => {
    const known = minutes.get(who);
    if (known !== undefined && now() - known.since < MINUTE_MS) return known;
    minutes.delete(who);
    return undefined;
  };
  return {
    add(who) {
      if (perMinute === 0) return;
      const minute = minuteOf(who) ?? { since: now(), count: 0 };
      minute.count++;
      minutes.set(who, minute);
      const [oldest] = minutes.keys();
      if (minutes.size > MOST_KNOWN && oldest !== undefined) minutes.delete(oldest);
    },
    waitOf(who) {
      const minute = perMinute === 0 ? undefined : minuteOf(who);
      if (minute === undefined || minute.count < perMinute) return 0;
      return Math.max(1, Math.ceil((minute.since + MINUTE_MS - now()) / 1000));
    },
  };
}
