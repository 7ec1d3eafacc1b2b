import { expect, it } from "vitest";
import { callRow } from "../../web/testing/calls.ts";
import { describeTurn } from "./describe-turn.ts";

it("says of a turn without calls why there are none", () => {
  const rows = [callRow("4.1"), callRow("9.2")];
  const missing = {
    promptEntryId: null,
    at: null,
    replies: null,
    calls: null,
    unended: 0,
    cost: null,
  };
  const known = {
    rows,
    letGoTurns: 3,
    unreadableTurns: [6],
    missingTurns: [{ turn: 7, ...missing }],
  };
  const told = (turn: number) => describeTurn({ turn, ...known });
  expect(told(4)).toBeUndefined();
  expect(told(2)).toMatch(/^There are no calls of turn 2 any more: turns 1–3 were let go/);
  expect(told(6)).toMatch(/^The report of turn 6 cannot be read/);
  expect(told(7)).toMatch(/^The report of turn 7 is missing: /);
  expect(told(5)).toBe("Turn 5 called no model.");
  expect(told(12)).toBe("There is no call of turn 12 in this session; the newest one is 9.2.");
  expect(describeTurn({ turn: 1, ...known, rows: [], letGoTurns: 0 })).toContain(
    "no model was called",
  );
});
