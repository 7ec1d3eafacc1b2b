import { describe, expect, it } from "vitest";
import { isLeftAlone, planChain, planRest, type Rests, restOf, whoRests } from "./plan-rest.ts";

const NOW = Date.UTC(2026, 10, 22);
const minutes = (rest: { until: string }) => (Date.parse(rest.until) - NOW) / 60_000;
const resting = (kind: "overloaded" | "auth", minutesLeft: number) => ({
  kind,
  at: new Date(NOW).toISOString(),
  until: new Date(NOW + minutesLeft * 60_000).toISOString(),
  failures: 1,
});

describe("a model that failed", () => {
  it("rests longer each time, up to an hour", () => {
    let rest = planRest(undefined, { kind: "overloaded", now: NOW });
    const rests = [minutes(rest)];
    for (let again = 0; again < 4; again++) {
      rest = planRest(rest, { kind: "overloaded", now: NOW });
      rests.push(minutes(rest));
    }
    expect(rests).toEqual([1, 5, 25, 60, 60]);
    expect(rest.failures).toBe(5);
  });

  it("rests as long as its provider asks, and for a day at most", () => {
    const asking = (retryAfterMs: number) =>
      minutes(planRest(undefined, { kind: "rate_limited", retryAfterMs, now: NOW }));
    expect([asking(10), asking(600_000), asking(1e12)]).toEqual([1, 10, 1440]);
  });

  it("rests longer when somebody has to pay first", () => {
    expect(minutes(planRest(undefined, { kind: "billing", now: NOW }))).toBe(60);
  });

  it("takes its provider's other models along when the account or the address is at fault", () => {
    expect(whoRests("openai/gpt", "auth")).toBe("openai/*");
    expect(whoRests("openai/gpt", "network")).toBe("openai/*");
    expect(whoRests("openai/gpt", "overloaded")).toBe("openai/gpt");
    for (const kind of ["signature", "overflow", "refused", "aborted", "engine"] as const)
      expect(whoRests("openai/gpt", kind)).toBeUndefined();
  });
});

describe("a chain of models", () => {
  const chain = ["a/1", "a/2", "b/1"] as const;
  const order = (rests: Rests) => planChain([...chain], rests, NOW);

  it("is asked in order", () => {
    expect(order({})).toEqual({ order: [...chain], because: null });
    expect(planChain(["a/1", "b/1", "a/1"], {}, NOW).order).toEqual(["a/1", "b/1"]);
  });

  it("asks those that rest last, and says why", () => {
    const rest = resting("overloaded", 1);
    expect(order({ "a/1": rest })).toEqual({ order: ["a/2", "b/1", "a/1"], because: rest });
    expect(order({ "a/*": rest })).toMatchObject({ order: ["b/1", "a/1", "a/2"], because: rest });
    expect(order({ "a/2": rest })).toEqual({ order: ["a/1", "b/1", "a/2"], because: null });
  });

  it("is asked as it stands when all rest, and when the rest is over", () => {
    const rest = resting("auth", 1);
    expect(order({ "a/*": rest, "b/*": rest })).toEqual({ order: [...chain], because: null });
    expect(order({ "a/1": resting("auth", -1) })).toEqual({ order: [...chain], because: null });
    expect(restOf({ "a/1": resting("auth", 0) }, "a/1", NOW)).toBeUndefined();
  });
});

describe("a model that rests", () => {
  it("is left alone where another one is awake, also one that only a session asks", () => {
    const rests = { "a/1": resting("overloaded", 1), "c/9": resting("overloaded", 1) };
    const alone = (name: string, chains: string[][]) =>
      isLeftAlone(name, { chains, rests, now: NOW });
    expect(alone("a/1", [["a/1"]])).toBe(false);
    expect(alone("a/1", [["a/1"], ["b/1"]])).toBe(false);
    expect(alone("a/1", [["a/1", "b/1"]])).toBe(true);
    expect(alone("c/9", [["b/1"]])).toBe(true);
    expect(alone("c/9", [["a/1"]])).toBe(false);
  });
});
