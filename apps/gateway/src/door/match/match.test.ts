// Plays nine kinds of clients at once and holds every match against what was really said.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HABITS, ODD_HABITS } from "../testing/habits.ts";
import { play } from "../testing/play.ts";
import { PROGRAMS } from "../testing/programs.ts";

/** One case is many requests. */
const FEWER = { numRuns: fc.readConfigureGlobal().numRuns! / 4 };

describe("sessions of one client", () => {
  it.each([...HABITS, ...ODD_HABITS, ...PROGRAMS])(
    "$name: none is merged, split, lost or stored twice",
    (habits) => {
      fc.assert(
        fc.property(fc.nat(), (dice) => {
          expect(play(dice, [habits, habits, habits], 150).wrong).toEqual([]);
        }),
        FEWER,
      );
    },
  );
});

describe("sessions of all clients at one door", () => {
  it("are recognised in every way there is", () => {
    const ways = [1, 2, 3, 4].flatMap((dice) => [...play(dice, HABITS, 400).ways]);
    expect([...new Set(ways)].sort()).toEqual([
      "call-id",
      "key",
      "nothing",
      "prefix",
      "summary",
      "words",
    ]);
  });

  it.each([
    ["as they are", HABITS],
    ["also with ids that repeat, and in windows", ODD_HABITS],
    ["also of programs that are no agents for code", PROGRAMS],
  ])("none is merged, split, lost or stored twice, %s", (_, habits) => {
    fc.assert(
      fc.property(fc.nat(), (dice) => {
        expect(play(dice, [...habits, ...habits], 400).wrong).toEqual([]);
      }),
      FEWER,
    );
  });
});
