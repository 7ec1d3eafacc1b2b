import { describe, expect, it } from "vitest";
import type { Child } from "./child.ts";
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
    expect(shown[0]).toMatchObject({ key: orphan.key, depth: 0, child: { state: "running" } });
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
