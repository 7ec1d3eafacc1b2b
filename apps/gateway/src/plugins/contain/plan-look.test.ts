import { describe, expect, it } from "vitest";
import { isNative, LOOKS_EVERY_MS, planAnswer, planLook, type Watched } from "./plan-look.ts";

const start: Watched = { beats: 1, blockedMs: 0, lookedAt: 0, wasDue: false };

/** Looks at these times; says at which it was due. */
function due(looks: [now: number, beats: number, isHeld?: boolean][], limitMs = 1000): number[] {
  let watched = start;
  return looks.flatMap(([now, beats, isHeld = false]) => {
    const look = planLook(watched, { beats, now, isHeld }, limitMs);
    watched = look.watched;
    return look.isDue ? [now] : [];
  });
}

const every = (from: number, to: number, beats: number): [number, number][] =>
  Array.from({ length: (to - from) / LOOKS_EVERY_MS }, (_, at) => [
    from + (at + 1) * LOOKS_EVERY_MS,
    beats,
  ]);

it("a loop that does not beat for as long as it may is found out, once", () => {
  expect(due(every(0, 5000, 1))).toEqual([1000]);
});

it("a loop that was let go on is found out once more, after ten times as long", () => {
  expect(due(every(0, 30_000, 1))).toEqual([1000, 10_000]);
});

it("time in which others had the processor does not count", () => {
  const look = planLook(
    { ...start, blockedMs: 900 },
    { beats: 1, now: 250, isHeld: false, queuedMs: 400 },
    1000,
  );
  expect(look).toMatchObject({ watched: { blockedMs: 900 }, isDue: false });
});

it("a loop that beats now and then is not", () => {
  expect(due([...every(0, 750, 1), ...every(750, 1500, 2), ...every(1500, 2250, 3)])).toEqual([]);
});

it("a loop that went on and is blocked again is found out again", () => {
  expect(due([...every(0, 2000, 1), [2250, 2], ...every(2250, 4000, 2)])).toEqual([1000, 3250]);
});

it("what a machine slept does not count", () => {
  const asleep: [number, number][] = [...every(0, 250, 1), [3_600_000, 1]];
  expect(due([...asleep, ...every(3_600_000, 3_600_250, 2)])).toEqual([]);
});

it("a loop that a debugger holds is not blocked", () => {
  expect(due(every(0, 5000, 1).map(([now, beats]) => [now, beats, true]))).toEqual([]);
});

describe("a gateway that is asked whether it answers", () => {
  const limitMs = 1000;
  /** Asked for as long as each time says, the loop having turned so often meanwhile. */
  const asked = (answers: [answered: boolean | null, tookMs: number, turns: number][]) => {
    let answering = { beats: 0, silentMs: 0 };
    let beats = 0;
    return answers.map(([answered, tookMs, turns]) => {
      beats += turns;
      const plan = planAnswer(answering, { answered, tookMs, beats }, limitMs);
      answering = plan.answering;
      return plan.isDeaf;
    });
  };

  it("is deaf when its loop turned and nothing came for the whole time", () => {
    expect(
      asked([
        [false, 500, 2],
        [false, 600, 2],
      ]),
    ).toEqual([false, true]);
    expect(
      asked([
        [false, 500, 2],
        [true, 10, 0],
        [false, 600, 2],
      ]),
    ).toEqual([false, false, false]);
  });

  it("is only slow when its loop hardly turns, and held when a debugger may hold it", () => {
    expect(
      asked([
        [false, 1000, 1],
        [false, 1000, 1],
      ]),
    ).toEqual([false, false]);
    expect(
      asked([
        [false, 600, 3],
        [null, 600, 0],
        [false, 600, 3],
      ]),
    ).toEqual([false, false, false]);
  });

  it("has not been silent for as long as the machine slept", () => {
    expect(
      asked([
        [true, 1, 1],
        [false, 60_000, 1],
      ]),
    ).toEqual([false, false]);
  });
});

describe("what does not let itself be halted", () => {
  it("is native code once it had time enough, or the processor, or sleeps", () => {
    const after = (waitedMs: number, cpuMs: number) => isNative({ waitedMs, cpuMs });
    expect(after(4900, 4900)).toBe(false);
    expect(after(5000, 4900)).toBe(true);
    expect(after(5000, 3)).toBe(true);
    // A busy machine gave it a twentieth.
    expect(after(5000, 250)).toBe(false);
    expect(after(30_000, 1500)).toBe(false);
    expect(after(45_000, 2100)).toBe(true);
    expect(after(60_000, 1000)).toBe(true);
  });
});
