// Tells what the clock of a time zone shows at a moment, and when it shows a time.

/** What a clock shows. */
export interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  /** 0 to 23. */
  readonly hour: number;
  readonly minute: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("en-US", {
      ...{ timeZone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
      ...{ hour: "numeric", minute: "numeric", second: "numeric" },
    });
  formats.set(timeZone, known);
  return known;
}

/** `at`: ms since the epoch. */
export function wallTimeOf(at: number, timeZone: string): WallTime {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: string) => parts.get(type as Intl.DateTimeFormatPartTypes)!;
  return {
    ...{ year: of("year"), month: of("month"), day: of("day") },
    ...{ hour: of("hour"), minute: of("minute") },
  };
}

const asIfUtc = ({ year, month, day, hour, minute }: WallTime): number =>
  Date.UTC(year, month - 1, day, hour, minute);

/** How far the clock is ahead of UTC, ms, in whole minutes. */
const offsetAt = (at: number, timeZone: string): number =>
  asIfUtc(wallTimeOf(at, timeZone)) - Math.floor(at / MINUTE_MS) * MINUTE_MS;

/** The least that the clock is ahead of UTC within a day of `at`, ms. */
export const leastOffsetAround = (at: number, timeZone: string): number =>
  Math.min(...[-24, 0, 24].map((hours) => offsetAt(at + hours * HOUR_MS, timeZone)));

/**
 * The moments at which a clock shows `wall`, earliest first, ms since the epoch: one, or two where
 * it goes back. Of a time that it leaves out: the moment at which it jumps over it.
 */
export function instantsOf(wall: WallTime, timeZone: string): number[] {
  const utc = asIfUtc(wall);
  // No clock has jumped by more than a day.
  const offsets = [-24, -3, 0, 3, 24].map((hours) => offsetAt(utc + hours * HOUR_MS, timeZone));
  const moments = [...new Set(offsets.map((offset) => utc - offset))].sort((a, b) => a - b);
  const shown = moments.filter((at) => asIfUtc(wallTimeOf(at, timeZone)) === utc);
  return shown.length > 0 ? shown : [jumpBetween(moments[0]!, moments.at(-1)!, timeZone, utc)];
}

/** The first minute from `from` on at which the clock shows `utc` or more. */
function jumpBetween(from: number, to: number, timeZone: string, utc: number): number {
  let [low, high] = [Math.floor(from / MINUTE_MS), Math.ceil(to / MINUTE_MS)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (asIfUtc(wallTimeOf(middle * MINUTE_MS, timeZone)) >= utc) high = middle;
    else low = middle + 1;
  }
  return low * MINUTE_MS;
}
