import { describe, expect, it } from "vitest";
import { judge, slopePerMinute } from "./judge.ts";
import { runSoak } from "./run-soak.ts";

describe("a soak", () => {
  it("of ten sessions with faults and a kill loses and doubles nothing", async () => {
    const seed = Number(process.env.CLEW_SEED ?? Date.now() % 1_000_000);
    const { lost, doubled, saidAnyway, left, clients, messages } = await runSoak({
      ...{ sessions: 10, seconds: 10, seed },
    });
    expect({ seed, lost, doubled, saidAnyway, left }).toEqual({
      ...{ seed, lost: [], doubled: [], saidAnyway: [], left: 0 },
    });
    expect(messages).toBeGreaterThan(20);
    expect(clients.waited).toBeGreaterThan(0);
  }, 240_000);

  it("names what is lost, doubled, or said although it was taken back", () => {
    const sent = ["a", "b", "c", "d", "e"].map((key) => ({
      ...{ session: "s", key, isTaken: key !== "e" },
      takenBack: key === "d" ? ("yes" as const) : ("no" as const),
    }));
    expect(judge(sent, ["a", "b", "b", "d"])).toEqual({
      ...{ messages: 5, lost: ["c"], doubled: ["b"], saidAnyway: ["d"] },
    });
  });

  it("tells growth by the minute", () => {
    expect(
      slopePerMinute([
        [0, 1],
        [30, 2],
        [60, 3],
      ]),
    ).toBeCloseTo(2);
  });
});
