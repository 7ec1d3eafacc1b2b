import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { promptTotal } from "./bill.ts";
import { type CacheRules, createPromptCache, type Segment } from "./prompt-cache.ts";

const RULES: CacheRules = { writes: "marked", keepMs: 300_000, minimumTokens: 10 };
const words = (content: string, tokens: number, keepMs?: number): Segment => ({
  content,
  tokens,
  ...(keepMs !== undefined && { keepMs }),
});

describe("the prompt cache", () => {
  it("counts each token once, whatever is marked, kept and forgotten", () => {
    const segment = fc.record(
      {
        content: fc.constantFrom("a", "b"),
        tokens: fc.integer({ min: 1, max: 20 }),
        keepMs: fc.constantFrom(300_000, 3_600_000),
      },
      { requiredKeys: ["content", "tokens"] },
    );
    const request = fc.record({
      segments: fc.array(segment, { maxLength: 8 }),
      pause: fc.nat(400_000),
      writes: fc.constantFrom("marked", "automatic"),
      isRead: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(request), (requests) => {
        let time = 0;
        const cache = createPromptCache(RULES, () => time);
        for (const { segments, pause, writes, isRead } of requests) {
          const settled = cache.settle("one", segments, { writes });
          if (isRead) cache.keep();
          const total = segments.reduce((sum, { tokens }) => sum + tokens, 0);
          expect(promptTotal(settled)).toBe(total);
          expect(Math.min(...Object.values(settled))).toBeGreaterThanOrEqual(0);
          time += pause;
        }
      }),
    );
  });

  it("reads all of an unchanged prompt that it writes by itself, once somebody has read that", () => {
    const cache = createPromptCache({ ...RULES, writes: "automatic" }, () => 0);
    const prompt = [words("a", 20), words("b", 30)];
    cache.settle("one", prompt);
    expect(cache.settle("one", prompt).read).toBe(0);
    cache.keep();
    expect(cache.settle("one", [...prompt, words("c", 5)])).toMatchObject({ read: 50, written: 5 });
  });

  it("looks back from a mark so far and no farther", () => {
    const cache = createPromptCache({ ...RULES, lookback: 2 }, () => 0);
    const prompt = (length: number) => [
      ...Array.from({ length: length - 1 }, (_, index) => words(`${index}`, 20)),
      words(`${length - 1}`, 20, 300_000),
    ];
    cache.settle("one", prompt(3));
    cache.keep();
    expect(cache.settle("one", prompt(5)).read).toBe(60);
    expect(cache.settle("one", prompt(8)).read).toBe(0);
  });

  it("keeps what is read for as long again", () => {
    let time = 0;
    const cache = createPromptCache(RULES, () => time);
    const prompt = [words("a", 20, 300_000)];
    for (let use = 0; use < 4; use++) {
      expect(cache.settle("one", prompt).read).toBe(use === 0 ? 0 : 20);
      cache.keep();
      time += 200_000;
    }
  });
});
