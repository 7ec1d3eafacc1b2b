import { describe, expect, it } from "vitest";
import { judge, slopeOf, slopePerMinute, storedKeys } from "./judge.ts";
import { runSoak, type SoakResult } from "./run-soak.ts";

const NOTHING_WRONG = { lost: [], doubled: [], saidAnyway: [], misplaced: [], left: 0 };

type Wrong = Pick<SoakResult, keyof typeof NOTHING_WRONG>;

const wrongIn = ({ lost, doubled, saidAnyway, misplaced, left }: Wrong): Wrong => ({
  ...{ lost, doubled, saidAnyway, misplaced, left },
});

describe("a soak", () => {
  it("of twelve clients with faults and a kill loses and doubles nothing, at the door neither", async () => {
    const seed = Number(process.env.CLEW_SEED ?? Date.now() % 1_000_000);
    const { clients, door, ...told } = await runSoak({ sessions: 12, seconds: 10, seed });
    expect({ seed, ...wrongIn(told) }).toEqual({ seed, ...NOTHING_WRONG });
    expect(told.messages).toBeGreaterThan(20);
    expect(clients.waited).toBeGreaterThan(0);
    expect(door.replies).toBeGreaterThan(10);
    expect(door.again).toBeGreaterThan(0);
  }, 240_000);

  it("that is steady leaves sessions for new ones, and loses and doubles nothing in them", async () => {
    const seed = Number(process.env.CLEW_SEED ?? Date.now() % 1_000_000);
    const { door, samples, ...told } = await runSoak({
      ...{ sessions: 6, seconds: 6, seed, steady: true, messagesOfASession: 3 },
      ...{ sampleMs: 500, restMs: 100 },
    });
    expect({ seed, ...wrongIn(told) }).toEqual({ seed, ...NOTHING_WRONG });
    expect(told.messages).toBeGreaterThan(5);
    expect(door.messages).toBeGreaterThan(3);
    expect(samples.at(-1)?.liveMB).toBeGreaterThan(0);
  }, 240_000);

  it("reads of a transcript what people said", () => {
    const lines = [
      { type: "session" },
      { type: "message", message: { role: "user", idempotencyKey: "a" } },
      { type: "message", message: { role: "assistant" } },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    expect(storedKeys(`${text}\n{"torn`)).toEqual(["a"]);
  });

  it("tells growth from noise", () => {
    const noisy = (perMinute: number) =>
      Array.from({ length: 240 }, (_, at) => {
        const noise = ((at * 7919) % 101) / 101;
        return [at * 5, 100 + (perMinute * at * 5) / 60 + noise] as const;
      });
    expect(slopeOf(noisy(0)).grows).toBe(false);
    const growing = slopeOf(noisy(1));
    expect(growing.grows).toBe(true);
    expect(Math.abs(growing.perMinute - 1)).toBeLessThan(growing.within + 0.02);
    expect(slopeOf([[0, 1]]).grows).toBe(false);
  });

  it("takes nothing for growth that only warms up", () => {
    const after = (seconds: number) => (at: number) => {
      const noise = ((at * 7919) % 101) / 101;
      return [at * 30, 60 + 10 * (1 - Math.exp((-at * 30) / seconds)) + noise] as const;
    };
    const moments = Array.from({ length: 240 }, (_, at) => at);
    const slope = slopeOf(moments.map(after(600)));
    expect(slope.perMinute).toBeGreaterThan(slope.within);
    expect(slope.grows).toBe(false);
    expect(slopeOf(moments.map(after(3e4))).grows).toBe(true);
  });

  it("names what is lost, doubled, or said although it was taken back", () => {
    const sent = ["a", "b", "c", "d", "e"].map((key) => ({
      ...{ session: "s", key, isTaken: key !== "e" },
      takenBack: key === "d" ? ("yes" as const) : ("no" as const),
      trail: ["sent"],
    }));
    expect(judge(sent, ["a", "b", "b", "d"])).toEqual({
      ...{
        messages: 5,
        lost: ["c"],
        doubled: ["b"],
        saidAnyway: ["d"],
        misplaced: [],
        saidTwice: [],
      },
      trails: ["b sent", "c sent", "d sent"],
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
