import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCodePoint } from "../__fixtures__/code-points.ts";
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import {
  applyToolResultTruncation,
  capToolResults,
  planToolResultTruncation,
  toolResultCaps,
} from "./tool-result-caps.ts";

const result = (text: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
});
const textOf = (message: AgentMessage) =>
  (message as ToolResultMessage).content
    .map((block) => ("text" in block ? block.text : ""))
    .join("");

describe("caps on tool results", () => {
  it.each([
    [8_000, 9_600, 38_400],
    [32_000, 16_000, 64_000],
    [100_000, 32_000, 200_000],
    [200_000, 64_000, 400_000],
  ])(
    "for a window of %d tokens: %d characters each, %d together",
    (window, perResult, aggregate) => {
      expect(toolResultCaps(window)).toEqual({ perResult, aggregate });
    },
  );

  it("shows the head and says how much is missing", () => {
    const [view] = capToolResults([result("x".repeat(20_000))], 32_000);
    expect(textOf(view!)).toMatch(/^x{16000}\n\[4000 characters cut here/);
  });

  it("keeps the tail when it tells how things ended", () => {
    const [view] = capToolResults([result(`${"x".repeat(20_000)}\nError: disk full`)], 32_000);
    expect(textOf(view!)).toMatch(/Error: disk full$/);
  });

  it("gives the same object for the same result, and the same list when nothing is long", () => {
    const long = result("y".repeat(50_000));
    expect(capToolResults([long], 32_000)[0]).toBe(capToolResults([long], 32_000)[0]);
    const short = [result("short")];
    expect(capToolResults(short, 32_000)).toBe(short);
  });

  it("shortens the oldest first when all together are too long, and once shortened leaves them alone", () => {
    const messages = Array.from({ length: 6 }, () => result("z".repeat(15_000)));
    const plan = planToolResultTruncation(messages, { contextWindow: 32_000 });
    expect(plan.cuts.map(({ index }) => index)).toEqual([0, 1]);
    const after = applyToolResultTruncation(messages, plan);
    expect(
      planToolResultTruncation(after, { contextWindow: 32_000 }).cuts.length,
    ).toBeLessThanOrEqual(1);
    expect(after[5]).toBe(messages[5]);
  });

  it("frees as many characters as it is asked for, oldest results first", () => {
    const messages = [result("a".repeat(9_000)), result("b".repeat(9_000))];
    const plan = planToolResultTruncation(messages, { contextWindow: 32_000, freeChars: 5_000 });
    expect(plan).toEqual({ cuts: [{ index: 0, keep: 4_000 }], reducibleChars: 5_000 });
    expect(
      planToolResultTruncation(messages, {
        contextWindow: 32_000,
        freeChars: Number.POSITIVE_INFINITY,
      }).reducibleChars,
    ).toBe(2 * (9_000 - 1_024));
  });

  it("never makes a result longer, never splits a surrogate pair, never changes its input", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: anyCodePoint, maxLength: 6_000 }), { maxLength: 6 }),
        fc.integer({ min: 1_000, max: 3_000 }),
        (texts, contextWindow) => {
          const messages = texts.map(result);
          const before = JSON.stringify(messages);
          const after = applyToolResultTruncation(
            messages,
            planToolResultTruncation(messages, { contextWindow }),
          );
          expect(JSON.stringify(messages)).toBe(before);
          after.forEach((message, index) => {
            expect(textOf(message).length).toBeLessThanOrEqual(
              Math.max(textOf(messages[index]!).length, 0),
            );
            expect(textOf(message)).not.toMatch(
              /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/,
            );
          });
        },
      ),
    );
  });
});
