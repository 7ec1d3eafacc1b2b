import { describe, expect, it } from "vitest";
import { planPutBack } from "./plan-put-back.ts";

const session = (sessionId: string) => ({
  ...{ agentId: "main", sessionId, key: `agent:main:${sessionId}`, step: 1, rows: "r" },
});
const [one, two, three] = [session("one"), session("two"), session("three")];
const sessions = [one, two, three];
const FILES = {
  "agents/main/sessions/one.jsonl": "1",
  "agents/main/reports/two.jsonl": "2",
  "agents/main/sessions/three.jsonl": "3",
  "agents/main/reports/parts/abc": "p",
  "agents/main/waiting/00.json": "w",
  "cron/daily.runs.jsonl": "c",
};
const plan = (
  changes: Record<string, string | undefined>,
  { rows = {}, removed = [] }: { rows?: Record<string, string>; removed?: typeof sessions } = {},
) => {
  const files = Object.fromEntries(
    Object.entries({ ...FILES, ...changes }).filter((entry) => entry[1] !== undefined),
  ) as Record<string, string>;
  return planPutBack(
    { sessions, files: FILES },
    { files, rows: ({ sessionId }) => rows[sessionId] ?? "r", removed },
  );
};

describe("what is put back of a copy in which something was forgotten", () => {
  it("is nothing where nothing is otherwise", () => {
    expect(plan({})).toMatchObject({ removed: [], changed: [], jobs: [] });
    expect(plan({}).parts.size + plan({}).places.size).toBe(0);
  });

  it("is a session of which a file, or what its engine has, is otherwise", () => {
    const files = { "agents/main/sessions/one.jsonl": "x", "agents/main/reports/two.jsonl": "" };
    expect(plan(files).changed).toEqual([one, two]);
    expect(plan({}, { rows: { three: "x" } }).changed).toEqual([three]);
  });

  it("takes a session away only where it was to go, and not where its file is lost", () => {
    const lost = { "agents/main/sessions/one.jsonl": undefined };
    expect(plan(lost)).toMatchObject({ removed: [], changed: [one] });
    expect(plan(lost, { removed: [one] })).toMatchObject({ removed: [one], changed: [] });
  });

  it("takes parts away that are gone, and tells what else is otherwise", () => {
    const planned = plan({
      "agents/main/reports/parts/abc": undefined,
      "agents/main/waiting/00.json": undefined,
      "cron/daily.runs.jsonl": "x",
    });
    expect([...planned.parts]).toEqual([["main", ["abc"]]]);
    expect([...planned.places]).toEqual(["agents/main/waiting/00.json", "cron/daily.runs.jsonl"]);
    expect(planned).toMatchObject({ changed: [], jobs: ["daily"] });
  });
});
