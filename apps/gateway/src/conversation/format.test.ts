import { describe, expect, it } from "vitest";
import {
  formatAge,
  formatCount,
  formatDollars,
  formatDuration,
  formatNumberOf,
  formatShare,
} from "./format.ts";

describe("numbers and times for people", () => {
  it("group digits and count nouns", () => {
    expect(formatCount(1234567)).toBe("1,234,567");
    expect([
      formatNumberOf(1, "call"),
      formatNumberOf(0, "call"),
      formatNumberOf(1200, "token"),
    ]).toEqual(["1 call", "0 calls", "1,200 tokens"]);
  });

  it("name durations in the unit one would say", () => {
    expect([0.42, 9.96, 12.4, 999, 3210, 59_949, 59_960, 125_000].map(formatDuration)).toEqual([
      "0.4 ms",
      "10 ms",
      "12 ms",
      "999 ms",
      "3.2 s",
      "59.9 s",
      "1 min 0 s",
      "2 min 5 s",
    ]);
  });

  it("tell ages roughly, and no age of what has no time", () => {
    const now = Date.parse("2026-05-10T12:00:00.000Z");
    const ages = [
      "2026-05-10T11:59:30Z",
      "2026-05-10T11:55:00Z",
      "2026-05-10T09:00:00Z",
      "2026-05-08T09:00:00Z",
      "2026-04-01T09:00:00Z",
      "?",
    ];
    expect(ages.map((time) => formatAge(time, now))).toEqual([
      "now",
      "5 min",
      "3 h",
      "2 d",
      "2026-04-01",
      "",
    ]);
  });

  it("do not call a little nothing", () => {
    expect([
      formatShare(0, 10),
      formatShare(1, 200_000),
      formatShare(1, 20),
      formatShare(33, 100),
      formatShare(1, 0),
    ]).toEqual(["0 %", "< 0.1 %", "5.0 %", "33 %", "0 %"]);
  });

  it("writes dollars as fine as they are small", () => {
    expect([0, 0.00001, 0.01244, 0.999, 4.12, 1234.5].map(formatDollars)).toEqual([
      ...["$0", "< $0.0001", "$0.0124", "$0.9990", "$4.12", "$1,234.50"],
    ]);
  });
});
