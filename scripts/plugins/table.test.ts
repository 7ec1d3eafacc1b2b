import { expect, it } from "vitest";
import { formatRow, type Outcome, worse } from "./table.ts";

const WELL: Outcome = {
  ...{ version: "1.0.0", installs: true, loads: true, turns: [8, 8], engine: "legacy", tools: 4 },
  ...{ toolAnswers: true, remembers: true, complaints: [], uninstalls: true },
};

it("a row is worse in the columns in which it is", () => {
  const now: Outcome = { ...WELL, turns: [7, 8], remembers: false, complaints: ["a warning"] };
  expect(worse({ a: WELL }, { a: WELL })).toEqual([]);
  expect(worse({ a: WELL }, { a: now })).toEqual([
    "a: turns was [8,8], is [7,8]",
    "a: remembers was true, is false",
    'a: complaints was [], is ["a warning"]',
  ]);
  expect(worse({ a: WELL }, { a: { version: null, installs: "It is broken." } })).toContain(
    'a: installs was true, is "It is broken."',
  );
});

it("what is better, new, or not run is not worse, and is seen all the same", () => {
  const refused: Outcome = { version: "1.0.0", installs: "It is broken." };
  const notRun = { notRun: "npm has it not" };
  expect(worse({ a: refused, b: WELL }, { a: WELL, b: notRun, c: refused })).toEqual([]);
  expect(formatRow("b", notRun)).toMatch(/^b +not run: npm has it not$/);
  expect(formatRow("a", WELL)).toMatch(
    /^a +1\.0\.0: installs: yes; loads: yes; 8 of 8 turns by legacy; 4 tools; answers: yes; remembers: yes; doctor: well; uninstalls: yes$/,
  );
});
