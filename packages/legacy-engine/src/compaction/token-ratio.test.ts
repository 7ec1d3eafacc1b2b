import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { learnRatio, type TokenRatio, UNKNOWN_RATIO } from "./token-ratio.ts";

const after = (samples: [number, number][]) =>
  samples.reduce<TokenRatio>(
    (known, [measured, estimated]) => learnRatio(known, { measured, estimated }),
    UNKNOWN_RATIO,
  );

describe("the learned ratio", () => {
  it.each([
    [[], 1],
    [[[1200, 1000]], 1.2],
    [
      [
        [1200, 1000],
        [1200, 1000],
      ],
      1.2,
    ],
    [
      [
        [1000, 1000],
        [1500, 1000],
      ],
      1.1,
    ],
    [[[9000, 1000]], 4],
    [[[100, 1000]], 0.5],
  ] as [[number, number][], number][])("of %j is %f", (samples, ratio) => {
    expect(after(samples).ratio).toBeCloseTo(ratio, 10);
  });

  it.each([
    { measured: 0, estimated: 1000 },
    { measured: Number.NaN, estimated: 1000 },
    { measured: 1000, estimated: 0 },
    { measured: 1000, estimated: 499 },
    { measured: 1000, estimated: 1000, usable: false },
  ])("learns nothing from %o", (sample) => {
    const known = { ratio: 1.3, samples: 4 };
    expect(learnRatio(known, sample)).toBe(known);
  });

  it("stays within its bounds and settles on a steady model", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.double({ min: 1, max: 1e7, noNaN: true }),
            fc.double({ min: 500, max: 1e7, noNaN: true }),
          ),
        ),
        fc.double({ min: 0.5, max: 4, noNaN: true }),
        (noise, steady) => {
          const noisy = after(noise);
          expect(noisy.ratio).toBeGreaterThanOrEqual(0.5);
          expect(noisy.ratio).toBeLessThanOrEqual(4);
          let known = noisy;
          for (let call = 0; call < 40; call++)
            known = learnRatio(known, { measured: steady * 10_000, estimated: 10_000 });
          expect(known.ratio).toBeCloseTo(steady, 3);
        },
      ),
    );
  });
});
