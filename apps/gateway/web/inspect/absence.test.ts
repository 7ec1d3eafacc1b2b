import { describe, expect, it } from "vitest";
import { callRow } from "../testing/calls.ts";
import {
  absenceOf,
  absenceOfCalls,
  absenceOfDiff,
  describeUnreadable,
  nameMissing,
} from "./absence.ts";
import { initialInspect, missingCalls } from "./inspect-state.ts";

const rows = [callRow("1.1"), callRow("1.2")];
const reading = { ...initialInspect("main"), rows };

describe("a column with nothing to show", () => {
  it("waits only as long as there may be an answer", () => {
    expect([absenceOf(reading), absenceOfDiff(reading)]).toEqual([null, null]);
    const answered = { ...reading, answered: { call: "1.2", from: "1.1" } };
    expect(absenceOf(answered)).toMatch(
      /^The gateway can tell nothing of call 1\.2: .*clew doctor/,
    );
    expect(absenceOfDiff(answered)).toMatch(/^The gateway cannot compare call 1\.1 with call 1\.2/);
    const failed = { ...reading, problem: "The gateway answered 500." };
    expect(absenceOf(failed)).toMatch(/^Call 1\.2 could not be read, as is said above/);
    expect(absenceOfDiff(failed)).toMatch(/could not be read, as is said above/);
  });

  it("says why nobody can tell, and what to do next", () => {
    const lost = callRow("1.2", { lost: "Its report is damaged." });
    const state = { ...reading, rows: [rows[0]!, lost], entries: { ...reading.entries, of: lost } };
    expect(absenceOf(state)).toBe(
      "Its report is damaged. “clew doctor” names damaged files; other calls can be looked at.",
    );
    expect(absenceOfDiff(state)).toMatch(
      /^What is different cannot be told, since what call 1\.2 /,
    );
  });

  it("says of no session that no model was called in it where nobody knows", () => {
    const none = initialInspect("main");
    expect(absenceOfCalls(none)).toBe("Reading the calls…");
    const read = { ...none, isReading: false };
    expect(absenceOfCalls(read)).toMatch(
      /^No model was called in this session yet, or there is no session of this name any more\./,
    );
    expect(absenceOfCalls({ ...read, unreadableTurns: [1, 2] })).toMatch(
      /^Of turns 1–2 nothing can/,
    );
    const away = { ...read, problem: "The gateway does not answer." };
    const named = { ...read, place: { ...read.place, call: "1.1" } };
    expect(absenceOfCalls({ ...named, problem: missingCalls(named)[0] ?? null })).toMatch(
      /^No model/,
    );
    expect(absenceOfCalls(away)).toMatch(/is not known, for the reason above/);
  });

  it("names the turns of which there are no calls to show", () => {
    expect(describeUnreadable([])).toBeNull();
    expect(describeUnreadable([30])).toMatch(/^Of turn 30 nothing can be read: /);
    expect(describeUnreadable([30, 36, 37, 38, 53, 54])).toMatch(/^Of turns 30, 36–38, 53–54 /);
  });
});

it("turns without a report are named in a few words", () => {
  const named = (...turns: (number | null)[]) => nameMissing(turns.map((turn) => ({ turn })));
  expect(named()).toBeNull();
  expect(named(4)).toBe("Turn 4 has no report");
  expect(named(4, 5, 6, 9)).toBe("Turns 4–6, 9 have no report");
  expect(named(4, null)).toBe("Turn 4 and a turn without number have no report");
  expect(named(null)).toBe("A turn without number has no report");
});
