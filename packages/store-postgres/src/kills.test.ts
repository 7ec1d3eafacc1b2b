import { describe, expect, it } from "vitest";
import { killGateways } from "./testing/kill-gateways.ts";
import { judge } from "./testing/killed-turns.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";

describe("what killed gateways leave", () => {
  it("is whole when every turn stands there once, in order", () => {
    const texts = ["1.0", "1.1", "1.2", "1.3", "2.0"];
    expect(judge(texts, [1])).toEqual({ entries: 5, lost: [], doubled: [], misplaced: [] });
  });

  it.each([
    ["lost", ["1.0", "1.1", "1.2"], ["1"]],
    ["doubled", ["1.0", "1.1", "1.1", "1.2", "1.3"], ["1.1"]],
    ["misplaced", ["1.0", "1.1", "1.3", "1.2"], ["1.3", "1.2"]],
  ] as const)("is found where it is %s", (what, texts, expected) => {
    expect(judge(texts, [1])[what]).toEqual(expected);
  });
});

describe.skipIf(whyNoPostgres() !== null)(`gateways that die in turns ${UNLESS_THERE}`, () => {
  it("lose, double and misplace nothing, killed or frozen", { timeout: 120_000 }, async () => {
    const ends = ["kill", "freeze", "kill", "kill", "kill", "freeze", "kill", "kill"] as const;
    const result = await killGateways({ url: await testDatabase(), ends });
    const { lost, doubled, misplaced, unpaired, outlived } = result;
    expect({ lost, doubled, misplaced, unpaired, outlived }).toEqual({
      ...{ lost: [], doubled: [], misplaced: [], unpaired: [], outlived: [] },
    });
    expect(result.turns).toBeGreaterThan(ends.length);
  });

  it("do damage where nobody asks whose a session is", { timeout: 120_000 }, async () => {
    const ends = ["freeze", "freeze", "freeze"] as const;
    const result = await killGateways({ url: await testDatabase(), ends, isFenced: false });
    expect(result.doubled.length + result.misplaced.length).toBeGreaterThan(0);
  });
});
