import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newestFirst } from "../sessions/list-sessions.ts";
import type { Child } from "./child.ts";
import { pageOfList } from "./page-of-list.ts";
import { planSpawn } from "./plan-spawn.ts";
import { inTree } from "./session-tree.ts";

const LIMITS = {
  ...{ enabled: true, maxSpawnDepth: 9, maxChildrenPerAgent: 4 },
  ...{ maxConcurrent: 100, runTimeoutSeconds: 600 },
};

function spawn(parent: string, id: string, children: readonly Child[] = [], now = 0): Child {
  const plan = planSpawn(
    { task: `task ${id}` },
    {
      parent: { key: parent, agentId: "main", sessionId: "s" },
      ...{ children, limits: LIMITS, maxModelCalls: 200, agents: ["main"], engines: [] },
      ...{ whyNoModel: () => undefined, id, now },
    },
  );
  if (plan.kind !== "spawn") throw new Error(plan.reason);
  return plan.child;
}

const MAIN = "agent:main:main";

describe("a list of sessions", () => {
  it("shows children below those that started them", () => {
    const first = spawn(MAIN, "1");
    const second = spawn(first.key, "2", [first]);
    const rows = [second.key, "agent:main:other", first.key, MAIN].map((key) => ({ key }));
    expect(inTree(rows, [first, second]).map(({ key, depth }) => [key, depth])).toEqual([
      ["agent:main:other", 0],
      [MAIN, 0],
      [first.key, 1],
      [second.key, 2],
    ]);
  });

  it("shows each once, also where a record names a circle or a parent that is gone", () => {
    const one = spawn("agent:main:subagent:b", "a");
    const other = spawn("agent:main:subagent:a", "b");
    const orphan = spawn("agent:main:gone", "c");
    const rows = [one, other, orphan].map(({ key }) => ({ key }));
    const shown = inTree(rows, [one, other, orphan]);
    expect(shown.map(({ key }) => key).toSorted()).toEqual(rows.map(({ key }) => key).toSorted());
    expect(shown.map(({ depth }) => depth)).toEqual([0, 1, 0]);
    expect(shown[2]).toMatchObject({ key: orphan.key, depth: 0, child: { state: "running" } });
  });

  it("has every session on one of its pages, whatever is said of who started it", () => {
    const place = fc.record({ time: fc.nat(9), parent: fc.option(fc.nat(40)) });
    fc.assert(
      fc.property(
        fc.array(place, { maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 5 }),
        fc.integer({ min: 1, max: 7 }),
        (places, more, limit) => {
          const key = (at: number) => `agent:main:s${at}`;
          const said = [...places.map(({ parent }, at) => [at, parent] as const), ...more];
          const started = said.flatMap(([at, parent]) =>
            parent === null ? [] : [{ ...spawn(key(parent), "x"), key: key(at) }],
          );
          const rows = places
            .map(({ time }, at) => ({ key: key(at), updatedAt: `2026-0${time}` }))
            .sort(newestFirst);
          const listed = inTree(rows, started);
          const seen: string[] = [];
          let after: string | undefined;
          do {
            const page = pageOfList(listed, { limit, after });
            seen.push(...page.sessions.map((row) => row.key));
            after = page.next ?? undefined;
          } while (after !== undefined && seen.length <= rows.length);
          expect(seen.toSorted()).toEqual(rows.map((row) => row.key).toSorted());
        },
      ),
    );
  });

  it("may be as deep as it is long", () => {
    const rows = Array.from({ length: 20_000 }, (_, at) => ({ key: `s${at}` }));
    const started = rows.slice(1).map(({ key }, at) => ({ ...spawn(`s${at}`, "x"), key }));
    expect(inTree(rows.toReversed(), started).map(({ depth }) => depth)).toEqual([...rows.keys()]);
  });
});

describe("a child", () => {
  it("gets a share of its parent's model calls, and no more time than that one has left", () => {
    const first = spawn(MAIN, "1");
    expect([first.maxModelCalls, first.boundMs]).toEqual([50, 600_000]);
    const second = spawn(first.key, "2", [first], 200_000);
    expect([second.maxModelCalls, second.boundMs]).toEqual([12, 400_000]);
    expect(() => spawn(first.key, "3", [first], 600_000)).toThrow("own time is over");
  });
});
