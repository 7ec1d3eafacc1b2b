import { describe, expect, it } from "vitest";
import { CALLS, planFactSession } from "./door-facts.ts";
import { compactByClient } from "./play-facts.ts";

describe("a plan of facts for the door", () => {
  it("is the same for a seed, and tells each of twenty facts in the first fifteen calls", () => {
    const plan = planFactSession(5);
    expect(planFactSession(5)).toEqual(plan);
    expect(plan.calls).toHaveLength(CALLS);
    expect(plan.facts).toHaveLength(20);
    const early = JSON.stringify([plan.person, plan.calls.slice(0, 15)]);
    const late = JSON.stringify(plan.calls.slice(15));
    for (const { answer, query } of plan.facts) {
      expect(early).toContain(answer);
      expect(late).not.toContain(answer);
      expect(query).not.toContain(answer);
    }
  });

  it("is whole to a client whose window holds all of it, and hardly to one that compacts", () => {
    const plan = planFactSession(6);
    expect(compactByClient(plan, 1_000_000).held.size).toBe(20);
    expect(compactByClient(plan, 32_000).held.size).toBeLessThan(5);
  });
});
