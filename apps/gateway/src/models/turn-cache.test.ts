import type { CacheReport } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { describeCache } from "./describe-cache.ts";
import { cacheOf } from "./turn-cache.ts";

const read = (billed: number, broke?: CacheReport["broke"]): { cache: CacheReport } => ({
  cache: { predicted: 4_237, billed, written: null, ...(broke !== undefined && { broke }) },
});

describe("what is told of the cache of a turn with several calls", () => {
  it("is the last call, and a break before it, which the last one hides", () => {
    const calls = [read(0, { code: "messages-changed", at: 1 }), read(4_237)];
    expect(cacheOf(calls)).toEqual({
      ...calls[1]!.cache,
      earlier: {
        ...{ call: 1, predicted: 4_237, billed: 0 },
        broke: { code: "messages-changed", at: 1 },
      },
    });
    expect(describeCache(cacheOf(calls)!)).toBe(
      "the last call read 4,237 tokens, about 4,237 expected; call 1 of this turn read 0, about 4,237 expected (the history changed from message 2 on)",
    );
  });

  it("is the last call alone where nothing that was kept was lost", () => {
    for (const before of [[], [read(9)], [read(0, { code: "first-call" })], [{}]])
      expect(cacheOf([...before, read(4_237)])).toEqual(read(4_237).cache);
  });

  it("is nothing where no call was made, or the last has no reply", () => {
    expect(cacheOf([])).toBeUndefined();
    expect(cacheOf([read(0, { code: "expired" }), {}])).toBeUndefined();
  });
});
