// Decides when a job is due next, by what a person wrote of it.
import { type CronTimes, parseCron } from "./cron-times.ts";
import { instantsOf, leastOffsetAround, wallTimeOf } from "./wall-time.ts";

/** When a job runs. */
export type Schedule =
  /** Again and again after so many ms. */
  | { readonly kind: "every"; readonly everyMs: number }
  /** Once, ms since the epoch. */
  | { readonly kind: "at"; readonly at: number }
  /** By five fields (minute, hour, day, month, weekday) of the clock of `timeZone`. */
  | { readonly kind: "cron"; readonly times: CronTimes; readonly timeZone: string };

export type ParsedSchedule = { ok: true; schedule: Schedule } | { ok: false; reason: string };

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LEAST_MS = 60_000;
const MOST_MS = 366 * 86_400_000;
const EVERY = /^every\s+(\d{1,6})\s*([smhd])$/i;
const ONCE = /^at\s+(\S+)$/i;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * "every 30m", "at 2026-12-01T08:00:00Z", or five fields: "0 8 * * 1-5". `timeZone` is a name such
 * as Europe/Berlin.
 */
export function parseSchedule(text: string, timeZone: string): ParsedSchedule {
  const said = text.trim();
  const [, count, unit] = EVERY.exec(said) ?? [];
  if (count !== undefined) {
    const everyMs = Number(count) * UNITS[unit!.toLowerCase()]!;
    return everyMs >= LEAST_MS && everyMs <= MOST_MS
      ? { ok: true, schedule: { kind: "every", everyMs } }
      : { ok: false, reason: `"${said}" is not between a minute and a year` };
  }
  const [, moment] = ONCE.exec(said) ?? [];
  if (moment !== undefined) {
    const at = DATE.test(moment) ? Date.parse(moment) : Number.NaN;
    return Number.isNaN(at)
      ? {
          ok: false,
          reason: `"${moment}" is no moment such as 2026-12-01T08:00:00Z or 2026-12-01T08:00:00-05:00`,
        }
      : { ok: true, schedule: { kind: "at", at } };
  }
  const noTimeZone = whyNoTimeZone(timeZone);
  if (noTimeZone !== undefined) return { ok: false, reason: noTimeZone };
  const parsed = parseCron(said);
  return parsed.ok
    ? { ok: true, schedule: { kind: "cron", times: parsed.times, timeZone } }
    : { ok: false, reason: parsed.reason };
}

/** Undefined: it is one. */
export function whyNoTimeZone(name: string): string | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return undefined;
  } catch {
    return `"${name}" is no time zone such as Europe/Berlin or UTC`;
  }
}

/** Some dates come every 28 years or so: "0 0 29 2 1". */
const MOST_DAYS = 366 * 41;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * The first moment after `after` at which it is due, ms since the epoch; null: never. A time that
 * the clock leaves out, as in spring, is due when it jumps; one that comes twice, as in autumn, is
 * due the first time. `since`: when the job was made, from which "every" counts, also back: it may
 * have been made by a clock that was ahead.
 */
export function dueAfter(schedule: Schedule, after: number, since: number): number | null {
  switch (schedule.kind) {
    case "every": {
      const times = Math.floor((after - since) / schedule.everyMs) + 1;
      return since + times * schedule.everyMs;
    }
    case "at":
      return schedule.at > after ? schedule.at : null;
    case "cron":
      return nextByClock(schedule, after);
  }
}

function nextByClock(
  { times, timeZone }: Extract<Schedule, { kind: "cron" }>,
  after: number,
): number | null {
  // A day before: where the clock went back, today's date came twice.
  const first = wallTimeOf(after - DAY_MS, timeZone);
  const firstDay = Date.UTC(first.year, first.month - 1, first.day);
  const leastOffset = leastOffsetAround(after, timeZone);
  for (let days = 0; days < MOST_DAYS; days++) {
    const day = new Date(firstDay + days * DAY_MS);
    const date = {
      year: day.getUTCFullYear(),
      month: day.getUTCMonth() + 1,
      day: day.getUTCDate(),
    };
    if (!times.isDay(date.month, date.day, day.getUTCDay())) continue;
    for (const hour of times.hours)
      for (const minute of times.minutes) {
        // Over already, whatever the clock did: that needs no calendar.
        if (day.getTime() + (hour * 60 + minute) * MINUTE_MS - leastOffset <= after) continue;
        const [at] = instantsOf({ ...date, hour, minute }, timeZone);
        if (at! > after) return at!;
      }
  }
  return null;
}
