import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dueAfter, parseSchedule, type Schedule } from "./schedule.ts";
import { instantsOf, wallTimeOf } from "./wall-time.ts";

const BERLIN = "Europe/Berlin";

function scheduleOf(text: string, timeZone = BERLIN): Schedule {
  const parsed = parseSchedule(text, timeZone);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.schedule;
}

function dueTimes(
  text: string,
  {
    from,
    times,
    timeZone = BERLIN,
  }: {
    from: string;
    times: number;
    timeZone?: string;
  },
): string[] {
  const schedule = scheduleOf(text, timeZone);
  const found: string[] = [];
  let after = Date.parse(from);
  while (found.length < times) {
    const due = dueAfter(schedule, after, Date.parse(from));
    if (due === null) break;
    found.push(new Date(due).toISOString().slice(0, 16));
    after = due;
  }
  return found;
}

describe("the schedule", () => {
  it.each([
    ["0 8 * * 1-5", ["2026-01-02T07:00", "2026-01-05T07:00", "2026-01-06T07:00"]],
    ["*/20 9 1 * *", ["2026-02-01T08:00", "2026-02-01T08:20", "2026-02-01T08:40"]],
    ["30 6 13 * fri", ["2026-01-02T05:30", "2026-01-09T05:30", "2026-01-13T05:30"]],
    ["0 0 29 feb *", ["2028-02-28T23:00", "2032-02-28T23:00", "2036-02-28T23:00"]],
    ["0 12 * * 7", ["2026-01-04T11:00", "2026-01-11T11:00", "2026-01-18T11:00"]],
    ["every 36h", ["2026-01-02T22:00", "2026-01-04T10:00", "2026-01-05T22:00"]],
    ["at 2026-12-01T08:00:00+01:00", ["2026-12-01T07:00"]],
    ["0 0 30 2 *", []],
  ])("%s is due at %j", (text, expected) => {
    expect(dueTimes(text, { from: "2026-01-01T10:00:00Z", times: 3 })).toEqual(expected);
  });

  it("of a time that the clock leaves out in spring is due when it jumps, and once", () => {
    expect(dueTimes("30 2 * * *", { from: "2026-03-27T12:00:00Z", times: 3 })).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
  });

  it("of a time that comes twice in autumn is due the first time only", () => {
    expect(dueTimes("30 2 * * *", { from: "2026-10-24T12:00:00Z", times: 2 })).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect(dueTimes("30 2 * * *", { from: "2026-10-25T00:45:00Z", times: 1 })).toEqual([
      "2026-10-26T01:30",
    ]);
  });

  it.each([
    ["", "five fields"],
    ["every 10s", "not between a minute and a year"],
    ["every", "five fields"],
    ["at tomorrow", "no moment such as"],
    ["61 * * * *", '"61" is no minute: it goes from 0 to 59'],
    ["* * * * mon-sun-tue", "no weekday"],
    ["* * 0 * *", "no day"],
    ["*/0 * * * *", "no minute"],
    ["5-1 * * * *", "no minute"],
  ])("says of %j what is wrong", (text, reason) => {
    expect(parseSchedule(text, BERLIN)).toEqual({
      ok: false,
      reason: expect.stringContaining(reason),
    });
  });

  it("says that a time zone is none", () => {
    expect(parseSchedule("* * * * *", "Mars/Olympus")).toMatchObject({ ok: false });
  });

  const zones = fc.constantFrom(
    ...[BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"],
    ...["Pacific/Apia", "America/St_Johns", "Africa/Casablanca"],
  );
  const moments = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2040) });

  it("is due after the moment, at a minute that it names, and at no such minute in between", () => {
    fc.assert(
      fc.property(
        ...[zones, moments, fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 })],
        (timeZone, after, hour, minute) => {
          const due = dueAfter(scheduleOf(`${minute} ${hour} * * *`, timeZone), after, 0)!;
          expect(due).toBeGreaterThan(after);
          expect(due - after).toBeLessThanOrEqual(49 * 3_600_000);
          const shown = wallTimeOf(due, timeZone);
          // Left out: then it is the first minute behind the gap.
          if (shown.hour !== hour || shown.minute !== minute) {
            const before = wallTimeOf(due - 60_000, timeZone);
            const asked = hour * 60 + minute;
            expect(before.hour * 60 + before.minute).toBeLessThan(asked);
            expect(shown.hour * 60 + shown.minute).toBeGreaterThan(asked);
          }
          for (let at = Math.ceil((after + 1) / 60_000) * 60_000; at < due; at += 60_000) {
            const { hour: h, minute: m, ...date } = wallTimeOf(at, timeZone);
            if (h !== hour || m !== minute) continue;
            // It came before `after` already: this is the second time that the clock shows it.
            expect(instantsOf({ ...date, hour: h, minute: m }, timeZone)[0]).toBeLessThanOrEqual(
              after,
            );
          }
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});
