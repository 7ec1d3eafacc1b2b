import { describe, expect, it } from "vitest";
import { NO_COST } from "../../src/costs/cost.ts";
import { sumUsage } from "../../src/costs/usage.ts";
import type { SessionRow } from "../api.ts";
import { familyOf, planFamily } from "./family.ts";

const row = (key: string, depth: number): SessionRow => ({
  ...{ key: `agent:main:${key}`, updatedAt: "", busy: false, demo: false, depth, child: null },
});

describe("the family of a session", () => {
  it("is the one that nobody started, and all below it", () => {
    const sessions = [
      row("a", 0),
      row("a1", 1),
      row("a2", 2),
      row("b", 0),
      row("c", 0),
      row("c1", 1),
    ];
    const family = (key: string) => familyOf(sessions, key).map((each) => each.key.slice(11));
    expect(family("a2")).toEqual(["a", "a1", "a2"]);
    expect(family("b")).toEqual(["b"]);
    expect(family("agent:main:c")).toEqual(["c", "c1"]);
    expect(family("new")).toEqual([]);
  });

  it("is told with what each was asked to do, and what it came to", async () => {
    const child = { parent: "agent:main:a", label: "helper", task: "Count the gulls." };
    const sessions: SessionRow[] = [
      row("a", 0),
      { ...row("a1", 1), child: { ...child, state: "completed" } },
      { ...row("a2", 1), child: { ...child, label: null, state: "running" }, busy: true },
    ];
    const { total } = await sumUsage([]);
    const sum = (name: string, dollars: number) => ({
      ...total,
      ...{
        name,
        modelCalls: 3,
        tokens: { input: 1000, cacheRead: 500, cacheWrite: 0, output: 40 },
      },
      cost: { ...NO_COST, total: dollars },
    });
    const usage = { sessions: [sum("agent:main:a", 0.5), sum("a1", 0.25)] };
    const figures = { calls: "3", sent: "1,500", output: "40" };
    expect(planFamily(sessions, "a1", usage)).toMatchObject([
      { name: "a", task: null, state: "", isShown: false, ...figures, cost: "$0.5000" },
      {
        ...{ name: "helper", task: "Count the gulls.", state: "completed", isShown: true },
        ...{ ...figures, cost: "$0.2500" },
      },
      { name: "a2", state: "replying…", calls: "–", sent: "–", output: "–", cost: "–" },
    ]);
    expect(planFamily(sessions, "a", null).map(({ calls, cost }) => [calls, cost])).toEqual([
      ["…", "…"],
      ["…", "…"],
      ["…", "…"],
    ]);
  });
});
