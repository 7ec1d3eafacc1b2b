import type { CostFollower } from "@clew/store-postgres";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createAllTotals } from "./all-totals.ts";
import { NO_COST } from "./cost.ts";
import { createCostLedger } from "./ledger.ts";
import { type CostLine, dayOf } from "./line.ts";
import { createCosts } from "./meter.ts";
import { createOtherTotals } from "./other-totals.ts";
import { countLine, noTotals, nothingSpent } from "./totals.ts";

const NOON = new Date(2026, 2, 5, 12).getTime();
const quiet = { info() {}, warn() {}, error() {} };

/** What other homes brought, in the order in which it came. */
function shelf() {
  let pieces: { day: string; text: string }[] = [];
  let read = 0;
  let isAway = false;
  const ask = () => {
    if (isAway) throw new Error("away");
    read = pieces.length;
  };
  const follower: CostFollower = {
    async *all() {
      ask();
      yield* pieces.toSorted((one, other) => (one.day < other.day ? -1 : 1));
    },
    async more() {
      const before = read;
      ask();
      return pieces.slice(before);
    },
  };
  return {
    follower,
    bring(lines: readonly CostLine[]) {
      const piece = (line: CostLine) => ({
        day: dayOf(Date.parse(line.at)),
        text: `${JSON.stringify(line)}\n`,
      });
      pieces = [...pieces, ...lines.map(piece)];
    },
    away: (is: boolean) => {
      isAway = is;
    },
  };
}

const at = (ms: number) => new Date(NOON + ms).toISOString();
const call = (root: string, dollars: number, ms: number): CostLine => ({
  ...{ kind: "call", v: 1, at: at(ms), agent: "main", session: root, root, engine: null },
  ...{ model: "p/m", for: "reply", plugin: null, input: 1, cacheRead: 0, cacheWrite: 0, output: 1 },
  ...{ failure: null, cost: { ...NO_COST, output: dollars, total: dollars } },
});
const deleted = (session: string, ms: number): CostLine => ({
  ...{ kind: "deleted", v: 1, at: at(ms), session },
});
const renewed = (session: string, ms: number): CostLine => ({
  ...{ kind: "renewed", v: 1, at: at(ms), session, archivedAs: null },
});
const LINES = {
  call: (root: string, step: number) => call(root, 2 ** -step, step),
  renewed,
  deleted,
};

async function gateway(warn: (text: string) => void = () => {}) {
  const others = shelf();
  const home = await temporaryHome();
  let time = 0;
  const start = () => {
    const ledger = createCostLedger({ home, log: quiet, now: () => NOON });
    const totals = createAllTotals({
      ...{ ledger, others: createOtherTotals(others.follower), log: { warn } },
      now: () => time,
    });
    return { ledger, ...totals };
  };
  const pass = (ms: number) => {
    time += ms;
  };
  return { ...others, start, pass };
}

describe("what all gateways spent", () => {
  it("is what their lines say in the order of their times, in whichever they come", async () => {
    const steps = fc.array(
      fc.record({
        home: fc.nat({ max: 2 }),
        root: fc.constantFrom("one", "two"),
        kind: fc.constantFrom<keyof typeof LINES>("call", "call", "call", "renewed", "deleted"),
        /** Steps until others hear of it. */
        late: fc.nat({ max: 6 }),
      }),
      { maxLength: 24 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.nat({ max: 24 }), async (done, restartAt) => {
        const { bring, start, pass } = await gateway();
        let here = start();
        const told: CostLine[] = [];
        const waiting: { line: CostLine; from: number }[] = [];
        for (const [step, { home, root, kind, late }] of done.entries()) {
          const line = LINES[kind](root, step);
          if (home === 0) {
            await here.ledger.append(line);
            told.push(line);
          } else waiting.push({ line, from: step + late });
          const due = waiting.filter(({ from }) => from <= step);
          for (const each of due) waiting.splice(waiting.indexOf(each), 1);
          const lines = due.map((each) => each.line);
          bring(lines);
          told.push(...lines);
          if (step === restartAt) here = start();
          pass(2_000);
          const expected = noTotals();
          for (const each of told.toSorted((a, b) => (a.at < b.at ? -1 : 1)))
            countLine(expected, dayOf(NOON), each);
          for (const asked of ["one", "two"]) {
            const totals = await here.totals({ root: asked, isForCap: true });
            expect(totals.sessions[asked]).toEqual(expected.sessions[asked] ?? nothingSpent());
            expect(totals.days).toEqual(expected.days);
          }
        }
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  });

  it("of a session that was opened here is asked for without a cap, and not again", async () => {
    const { bring, start, pass } = await gateway();
    const here = start();
    const dollars = async () => {
      const { sessions } = await here.totals({ root: "s", isForCap: false });
      return sessions.s?.dollars;
    };
    bring([call("s", 1, 0)]);
    expect(await dollars()).toBe(0);
    here.opened("s");
    expect(await dollars()).toBe(1);
    pass(6_000);
    bring([call("s", 2, 1)]);
    expect(await dollars()).toBe(3);
    bring([call("s", 4, 2)]);
    expect(await dollars()).toBe(3);
  });

  it("is asked for once more before a session is refused that began anew a moment ago", async () => {
    const { bring, start } = await gateway();
    const { ledger, ...totals } = start();
    const caps = { sessionDollars: 1, warnShare: 0.8 };
    const costs = createCosts({
      ...{ ledger, totals, log: quiet, caps, capsNow: async () => caps, now: () => NOON },
      rootOf: (key) => key,
    });
    const stop = () => costs.stopOf({ agentId: "main", sessionKey: "s" });
    bring([call("s", 1, 0)]);
    expect(await stop()).toContain("The cost cap");
    bring([renewed("s", 1)]);
    expect(await stop()).toBeUndefined();
  });

  it("stays as it was known while others cannot be asked, which is said once", async () => {
    const warned: string[] = [];
    const { bring, start, pass, away } = await gateway((text) => warned.push(text));
    const here = start();
    const dollars = async () => {
      pass(2_000);
      return (await here.totals({ root: "s", isForCap: true })).sessions.s?.dollars;
    };
    bring([call("s", 1, 0)]);
    expect(await dollars()).toBe(1);
    bring([call("s", 2, 1)]);
    away(true);
    expect([await dollars(), await dollars()]).toEqual([1, 1]);
    expect(warned).toHaveLength(1);
    away(false);
    expect(await dollars()).toBe(3);
  });
});
