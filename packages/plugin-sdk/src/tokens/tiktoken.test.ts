import * as fc from "fast-check";
import { get_encoding } from "tiktoken";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { corpora } from "./__fixtures__/corpora.ts";
import { byteBound } from "./counter.ts";
import { type ExactCounter, loadExactCounter, recentCounts } from "./tiktoken.ts";

describe("loadExactCounter", () => {
  const plain = get_encoding("o200k_base");
  let exact: ExactCounter;
  beforeAll(async () => {
    exact = await loadExactCounter();
  });
  afterAll(() => {
    exact.free();
    plain.free();
  });

  it.each(["english", "code", "json", "logs", "csv", "uuids", "hex", "base64", "german"])(
    "counts %s exactly as the tokeniser does",
    (kind) => {
      const text = corpora(40_000)[kind]!;
      expect(exact.count(text)).toBe(plain.encode_ordinary(text).length);
    },
  );

  it.each(["chinese", "japanese", "russian", "emoji", "lowercase", "newlines", "oneLetter"])(
    "counts %s at most 6 %% above the tokeniser, never below it",
    (kind) => {
      const text = corpora(3000)[kind]!;
      const counted = plain.encode_ordinary(text).length;
      expect(exact.count(text)).toBeGreaterThanOrEqual(counted);
      expect(exact.count(text)).toBeLessThanOrEqual(Math.ceil(counted * 1.06));
    },
  );

  it("takes special tokens as the text they are", () => {
    expect(exact.count("<|endoftext|>")).toBeGreaterThan(1);
  });

  it("never counts more tokens than bytes, lone surrogates included", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (codes) => {
        const text = String.fromCharCode(...codes);
        expect(exact.count(text)).toBeLessThanOrEqual(byteBound(text));
      }),
    );
  });

  it("says so when it is used after free", async () => {
    const counter = await loadExactCounter();
    counter.free();
    counter.free();
    expect(() => counter.count("x")).toThrow("was freed");
  });
});

describe("recentCounts", () => {
  it("forgets the least recently used texts when their characters exceed the limit", () => {
    const counts = recentCounts(10);
    counts.set("aaaa", 1);
    counts.set("bbbb", 2);
    expect(counts.get("aaaa")).toBe(1);
    counts.set("cccc", 3);
    expect([counts.get("aaaa"), counts.get("bbbb"), counts.get("cccc")]).toEqual([1, undefined, 3]);
  });

  it("never keeps a text larger than the limit", () => {
    const counts = recentCounts(3);
    counts.set("aaaa", 1);
    expect(counts.get("aaaa")).toBeUndefined();
  });
});
