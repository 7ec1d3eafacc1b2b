import { expect, it } from "vitest";
import { createAskedBudgets } from "./asked-budgets.ts";

const one = { sessionId: "1", sessionKey: "agent:main:one" };
const other = { sessionId: "2", sessionKey: "agent:main:other" };

it("the smallest budget of the newest turn and the newest are known, of each session by itself", () => {
  const { asked, told, smallest, newest } = createAskedBudgets();
  expect(smallest(one)).toBeUndefined();
  asked(one, 5_000);
  asked(one, 9_000);
  asked(other);
  expect(smallest(one)).toBe(5_000);
  expect(newest(one)).toBe(9_000);
  expect(newest({ sessionId: "3" })).toBeUndefined();
  expect(smallest(other)).toBe(Infinity);
  told(one);
  expect(smallest(one)).toBe(5_000);
  asked(one, 9_000);
  expect(smallest(one)).toBe(9_000);
});

it("of many sessions those asked for last are remembered", () => {
  const { asked, smallest } = createAskedBudgets();
  asked(one, 1);
  for (let id = 0; id < 1_000; id++) asked({ sessionId: String(id) }, id);
  expect(smallest(one)).toBeUndefined();
  expect(smallest({ sessionId: "999" })).toBe(999);
});
