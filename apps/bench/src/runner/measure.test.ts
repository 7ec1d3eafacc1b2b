import { describe, expect, it } from "vitest";
import { type BenchCase, defineBench } from "./bench.ts";
import { DEFAULTS, measure, median, quantile } from "./measure.ts";

/** Cases that take `ms` of a clock of their own, and a record of the order they ran in. */
function scene(costs: Record<string, number>, compareTo?: Record<string, string>) {
  let time = 0;
  const order: string[] = [];
  const disposed: string[] = [];
  const cases = Object.entries(costs).map(
    ([name, ms]): BenchCase => ({
      name,
      ...(compareTo?.[name] !== undefined && { compareTo: compareTo[name] }),
      prepare: () => ({
        run: () => {
          order.push(name);
          time += ms;
        },
        facts: () => ({ cost: ms }),
        dispose: () => void disposed.push(name),
      }),
    }),
  );
  const bench = defineBench({ name: "scene", description: "", cases });
  return { bench, order, disposed, options: { ...DEFAULTS, minSampleMs: 0, now: () => time } };
}

describe("measure", () => {
  it("runs every case once per round, starting with another one each round, after the warm-up", async () => {
    const { bench, order, options } = scene({ a: 1, b: 2, c: 3 });
    const results = await measure(bench, { ...options, rounds: 3, warmups: 1 });
    expect(order.join("")).toBe("abc" + "abc" + "bca" + "cab");
    expect(results.map(({ samplesMs }) => samplesMs)).toEqual([
      [1, 1, 1],
      [2, 2, 2],
      [3, 3, 3],
    ]);
  });

  it("reports median, extremes, ratios and facts", async () => {
    const { bench, options } = scene({ small: 2, large: 8 }, { large: "small" });
    const [small, large] = await measure(bench, { ...options, rounds: 5, warmups: 0 });
    expect(small).toMatchObject({
      name: "small",
      medianMs: 2,
      minMs: 2,
      maxMs: 2,
      facts: { cost: 2 },
    });
    expect(small).not.toHaveProperty("ratio");
    expect(large).toMatchObject({ ratio: 4, compareTo: "small" });
  });

  it("tells what 99 of 100 rounds took at most, where there are so many", async () => {
    const { bench, options } = scene({ steady: 2 });
    const [few] = await measure(bench, { ...options, rounds: 99, warmups: 0 });
    expect(few).not.toHaveProperty("p99Ms");
    const [many] = await measure(bench, { ...options, rounds: 100, warmups: 0 });
    expect(many).toMatchObject({ p99Ms: 2 });
    const upTo100 = Array.from({ length: 100 }, (_, at) => 100 - at);
    expect([quantile(upTo100, 0.5), quantile(upTo100, 0.99)]).toEqual([50, 99]);
  });

  it("repeats work that is too fast to be measured and divides", async () => {
    const { bench, order, options } = scene({ fast: 0.5 });
    const [fast] = await measure(bench, { ...options, minSampleMs: 5, rounds: 2, warmups: 1 });
    expect(fast).toMatchObject({ runsPerSample: 10, medianMs: 0.5 });
    expect(order).toHaveLength(1 + 2 * 10);
  });

  it("awaits asynchronous work and disposes of every case, even when one throws", async () => {
    const { bench, disposed, options } = scene({ a: 1 });
    const failing: BenchCase = {
      name: "bad",
      prepare: () => ({ run: async () => Promise.reject(new Error("broken case")) }),
    };
    await expect(
      measure(
        { ...bench, cases: [...bench.cases, failing] },
        { ...options, rounds: 1, warmups: 0 },
      ),
    ).rejects.toThrow("broken case");
    expect(disposed).toEqual(["a"]);
  });
});

describe("median", () => {
  it("is the middle value, or the mean of the middle two", () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([7])]).toEqual([2, 2.5, 7]);
  });
});

describe("defineBench", () => {
  it("refuses two cases of one name and a comparison without partner", () => {
    const one = { name: "a", prepare: () => ({ run: () => 1 }) };
    expect(() => defineBench({ name: "x", description: "", cases: [one, one] })).toThrow(
      "two cases of one name",
    );
    expect(() =>
      defineBench({ name: "x", description: "", cases: [{ ...one, compareTo: "b" }] }),
    ).toThrow('to "b"');
  });
});
