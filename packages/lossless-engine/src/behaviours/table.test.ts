import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const table = readFileSync(join(import.meta.dirname, "../../BEHAVIOURS.md"), "utf8");
const NUMBERED = /\bit\(\s*"(\d+)\. ([^"]+)"/g;

describe("the table of behaviours", () => {
  it("names every test that has a number, word for word, and no other", () => {
    const tests = readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith(".test.ts") && name !== "table.test.ts")
      .flatMap((name) => [
        ...readFileSync(join(import.meta.dirname, name), "utf8").matchAll(NUMBERED),
      ])
      .map(([, number, sentence]) => `${number} | ${sentence}`);
    const lines = [...table.matchAll(/^\| (\d+ \| [^|]+?) \|/gm)]
      .filter(([line]) => !table.slice(table.indexOf(line)).startsWith(`${line} part two`))
      .map(([, line]) => line!);
    expect(lines.sort()).toEqual(tests.sort());
  });

  it("has each of the 41 numbers", () => {
    const [behaviours = ""] = table.split("Six faults");
    const numbers = new Set(
      [...behaviours.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number)),
    );
    expect([...numbers].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 41 }, (_, at) => at + 1),
    );
  });
});
