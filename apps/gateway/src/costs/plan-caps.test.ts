import { describe, expect, it } from "vitest";
import { type CostCaps, CostCapsSchema } from "../config/cost-caps.ts";
import { describeNear, describeStop, planCaps } from "./plan-caps.ts";
import { noTotals, nothingSpent, type Totals } from "./totals.ts";

const asked = { root: "agent:main:main", agent: "main", day: "2026-03-05" };
const spent = (dollars: number, unknown = 0) => ({ dollars, unknown, modelCalls: 4 });
const totals = (given: Partial<Totals> = {}): Totals => ({
  ...noTotals(),
  sessions: {
    "agent:main:main": { ...nothingSpent(), ...spent(0.85, 1) },
  },
  days: { "2026-03-05": { main: spent(2), other: spent(3) }, "2026-03-04": { main: spent(90) } },
  ...given,
});
const plan = (caps: Partial<CostCaps>, given?: Partial<Totals>) =>
  planCaps(CostCapsSchema.parse(caps), totals(given), asked);

describe("a cost cap", () => {
  it("that is not set keeps nobody from anything", () => {
    expect(plan({})).toEqual({ stop: null, near: [] });
    expect(plan({ sessionDollars: 10, agentDayDollars: 10, dayDollars: 10 }).near).toEqual([]);
  });

  it("stops at what was spent: of the session, of the agent today, of all agents today", () => {
    expect(plan({ sessionDollars: 0.85 }).stop?.setting).toBe("sessionDollars");
    expect(plan({ sessionDollars: 0.86 }).stop).toBeNull();
    expect(plan({ agentDayDollars: 2 }).stop?.setting).toBe("agentDayDollars");
    expect(plan({ agentDayDollars: 2.01 }).stop).toBeNull();
    expect(plan({ dayDollars: 5 }).stop?.setting).toBe("dayDollars");
  });

  it("is said to come near once, and again when it was raised", () => {
    const [near] = plan({ sessionDollars: 1 }).near;
    expect(near?.name).toBe("session agent:main:main 1");
    const warned = { [near!.name]: "2026-03-05" };
    expect(plan({ sessionDollars: 1 }, { warned }).near).toEqual([]);
    expect(plan({ sessionDollars: 1.05 }, { warned }).near).toHaveLength(1);
    expect(plan({ sessionDollars: 1, warnShare: 1 }).near).toEqual([]);
  });

  it("is told to the last digit, and never as reached before it is", () => {
    const of = (dollars: number, cap: number) => {
      const sessions = {
        "agent:main:main": { ...nothingSpent(), ...spent(dollars) },
      };
      const { stop, near } = plan({ sessionDollars: cap }, { sessions });
      return stop === null ? describeNear(near[0]!) : describeStop(stop);
    };
    expect(of(0.1249, 0.125)).toMatch(/spent to 99 %, \$0\.124 of \$0\.125; at \$0\.125 no/);
    expect(of(0.125, 0.125)).toMatch(/spent to 100 %, \$0\.125 of \$0\.125, so no model/);
    expect(of(4.9996, 5)).toMatch(/spent to 99 %, \$4\.99 of \$5\.00; at \$5\.00 no/);
    // 0.57 × 100 ÷ 0.57 is less than 100.
    for (let cents = 1; cents <= 300; cents++)
      expect(of(cents / 100, cents / 100)).toMatch(/spent to 100 %, \$(\d\.\d\d) of \$\1, so no/);
    expect(of(1.1, 1.1)).toMatch(/\$1\.10 of \$1\.10, .*sessionDollars 2\.2"/);
  });

  it("says what was spent, of what, how to raise it, and what is not counted", () => {
    const { stop } = plan({ sessionDollars: 0.5 });
    expect(describeStop(stop!)).toBe(
      'The cost cap of session "main" is spent to 170 %, $0.85 of $0.50, and 1 of 4 calls are not counted, as nobody knows what they cost, so no model was asked: raise it with "clew config set gateway.costCaps.sessionDollars 1", or begin anew with /new.',
    );
    expect(describeStop(stop!, { isOneOfMany: true })).toMatch(
      /no model was asked: raise it, in the home of the gateway that has the session, with "clew config set/,
    );
    // Twice the cap would not be enough here.
    expect(describeStop(plan({ sessionDollars: 0.2 }).stop!)).toMatch(
      /\$0\.85 of \$0\.20, .*sessionDollars 1\.6"/,
    );
    expect(describeStop(plan({ dayDollars: 4 }).stop!)).toMatch(
      /of all agents for today is spent to 125 %, \$5\.00 of \$4\.00, .* or wait until tomorrow/,
    );
    expect(describeNear(plan({ agentDayDollars: 2.5 }).near[0]!)).toBe(
      'The cost cap of agent "main" for today is spent to 80 %, $2.00 of $2.50; at $2.50 no model is asked any more (gateway.costCaps.agentDayDollars).',
    );
  });
});
