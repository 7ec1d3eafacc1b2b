import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

type Tests = Readonly<Record<string, "passed" | "failed" | "pending">>;
const report = (files: Readonly<Record<string, Tests>>) => ({
  testResults: Object.entries(files).map(([name, tests]) => {
    const statuses = Object.values(tests);
    const isBad = statuses.length === 0 || statuses.includes("failed");
    const assertionResults = Object.entries(tests).map(([fullName, status]) => ({
      fullName,
      status,
    }));
    return {
      name: join(process.cwd(), name),
      status: isBad ? "failed" : "passed",
      assertionResults,
    };
  }),
});

function counted(first: object, again: object | null, ...args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "clew-counts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [one, other] = [join(folder, "first.json"), join(folder, "again.json")];
  writeFileSync(one, JSON.stringify(first));
  if (again !== null) writeFileSync(other, JSON.stringify(again));
  const words = [join(import.meta.dirname, "count-tests.mjs"), one, other, ...args];
  const { stdout, status } = spawnSync(process.execPath, words, { encoding: "utf8" });
  return { lines: stdout.trimEnd().split("\n"), status };
}

describe("the counts of the tests", () => {
  const good = report({ "a.test.ts": { one: "passed", two: "pending" } });
  const bad = report({
    "a.test.ts": { one: "passed" },
    "b.test.ts": { three: "failed", four: "passed" },
  });

  it("are those of the report", () => {
    expect(counted(good, null)).toEqual({ lines: ["1 passed, 0 failed, 1 skipped"], status: 0 });
    expect(counted(bad, null)).toEqual({ lines: ["2 passed, 1 failed"], status: 1 });
  });

  it("name what passed when its file was tried again alone", () => {
    const again = report({ "b.test.ts": { three: "passed", four: "passed" } });
    expect(counted(bad, again)).toEqual({
      lines: [
        "failed at first, passed alone with the same cases: b.test.ts: three",
        "3 passed, 0 failed",
      ],
      status: 0,
    });
  });

  it("are those of the second try where it went no better, or worse", () => {
    const same = report({ "b.test.ts": { three: "failed", four: "passed" } });
    expect(counted(bad, same)).toEqual({ lines: ["2 passed, 1 failed"], status: 1 });
    const worse = report({ "b.test.ts": { three: "passed", four: "failed" } });
    expect(counted(bad, worse)).toMatchObject({ status: 1 });
  });

  it("count a file that could not be read as a failure, also the second time", () => {
    const broken = report({ "a.test.ts": { one: "passed" }, "c.test.ts": {} });
    expect(counted(broken, null)).toEqual({ lines: ["1 passed, 1 failed"], status: 1 });
    expect(counted(broken, report({ "c.test.ts": {} }))).toMatchObject({ status: 1 });
  });

  it("name the files to try again, unless they are many", () => {
    const files = (count: number) =>
      report(
        Object.fromEntries(
          Array.from({ length: count }, (_, index) => [`${index}.test.ts`, { one: "failed" }]),
        ),
      );
    const again = (count: number) => counted(files(count), null, "--failed-files").lines;
    expect(again(2)).toEqual([join(process.cwd(), "0.test.ts"), join(process.cwd(), "1.test.ts")]);
    expect(again(9)).toEqual([""]);
  });
});
