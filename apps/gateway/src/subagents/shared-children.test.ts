import { describe, expect, it } from "vitest";
import type { Child } from "./child.ts";
import { planKnown } from "./shared-children.ts";

const child = (id: string, change: Partial<Child> = {}): Child => ({
  ...{ v: 1, key: `agent:main:subagent:${id}`, agentId: "main" },
  parent: { key: "agent:main:main", agentId: "main", sessionId: "s" },
  ...{ label: id, task: "Look.", contextMode: "isolated", lightContext: false },
  ...{ model: null, engine: null, depth: 1, cleanup: "keep", boundMs: 1000, maxModelCalls: 10 },
  ...{ startedAt: 1, state: "running", preparedBy: null, end: null, reply: null },
  ...{ isAnnounced: false, plugin: null },
  ...change,
});
const plan = (given: Partial<Parameters<typeof planKnown>[0]>) =>
  planKnown({ known: [], kept: [], own: new Set(), now: 9, ...given });
const end = { outcome: "completed", reason: null, notice: "completed", at: 5 } as const;

describe("what is known of children of several gateways", () => {
  it("is what is shared, and of a home what nobody shared yet, oldest first", () => {
    const [a, b] = [child("a", { startedAt: 2 }), child("b")];
    const kept = [child("a", { label: "old" }), b];
    expect(plan({ known: [{ child: a, lives: true }], kept })).toEqual([b, a]);
  });

  it("is that a child is lost whose gateway is dead, unless it had ended", () => {
    const lost = { outcome: "lost", reason: null, notice: "swept", at: 9 };
    const told = (given: Child) => plan({ known: [{ child: given, lives: false }] });
    expect(told(child("a"))).toEqual([child("a", { state: "ended", end: lost as never })]);
    const ending = child("a", { state: "ending", end, reply: "Seen." });
    expect(told(ending)).toEqual([{ ...ending, state: "ended" }]);
    const ended = child("a", { state: "ended", end });
    expect(told(ended)).toEqual([ended]);
  });

  it("leaves it to a home that starts again to end what it ran", () => {
    const a = child("a");
    expect(plan({ known: [{ child: a, lives: false }], own: new Set([a.key]) })).toEqual([a]);
  });
});
