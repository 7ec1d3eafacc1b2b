import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { atomicGroups } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chunkMessagesByMaxTokens,
  computeAdaptiveChunkRatio,
  conversationOnly,
  isOversized,
  maxChunkTokens,
  splitMessagesByTokenShare,
} from "./chunks.ts";

/** A message's text says how many tokens it counts. */
const of = (tokens: number) => user(String(tokens));
const count = (message: AgentMessage) => (message.role === "user" ? Number(message.content) : 1);
const sizes = (chunks: readonly (readonly AgentMessage[])[]) =>
  chunks.map((chunk) => chunk.map(count));

describe("the share of the window for one chunk", () => {
  it.each([
    // average tokens, window, ratio: r = average × 1.2 / window; above 0.1 it is
    // max(0.15, 0.4 − min(2r, 0.25))
    [1_000, 200_000, 0.4],
    [16_666, 200_000, 0.4],
    [20_000, 200_000, 0.4 - 0.24],
    [18_000, 200_000, 0.4 - 0.216],
    [50_000, 200_000, 0.15],
    [200_000, 200_000, 0.15],
  ])("messages of %i tokens on average in a window of %i: %f", (average, window, ratio) => {
    expect(computeAdaptiveChunkRatio([of(average), of(average)], window, count)).toBeCloseTo(
      ratio,
      10,
    );
  });

  it("is the base share for no messages", () => {
    expect(computeAdaptiveChunkRatio([], 200_000, count)).toBe(0.4);
  });
});

describe("the size of a chunk", () => {
  it.each([
    [200_000, 0.4, 75_904],
    [200_000, 0.15, 25_904],
    [128_000, 0.4, 47_104],
    [64_000, 0.4, 21_504],
    [32_000, 0.4, 8_704],
    // So small that the overhead would take more than half: half of the share.
    [16_000, 0.4, 3_200],
    [8_000, 0.15, 600],
    [1, 0.4, 1],
  ])("window %i, share %f: %i tokens", (window, ratio, tokens) => {
    expect(maxChunkTokens(window, ratio)).toBe(tokens);
  });
});

describe("splitting by token share", () => {
  it.each([
    {
      tokens: [10, 10, 10, 10],
      parts: 2,
      chunks: [
        [10, 10],
        [10, 10],
      ],
    },
    { tokens: [30, 10, 10, 10], parts: 2, chunks: [[30], [10, 10, 10]] },
    { tokens: [10, 10, 10, 30], parts: 2, chunks: [[10, 10, 10], [30]] },
    { tokens: [50, 1, 1], parts: 3, chunks: [[50], [1, 1]] },
    { tokens: [1, 1, 1], parts: 9, chunks: [[1], [1], [1]] },
    { tokens: [1, 1], parts: 1, chunks: [[1, 1]] },
    { tokens: [1, 1], parts: Number.NaN, chunks: [[1, 1]] },
    { tokens: [1, 1], parts: Number.POSITIVE_INFINITY, chunks: [[1, 1]] },
    { tokens: [1, 1], parts: -3, chunks: [[1, 1]] },
    { tokens: [], parts: 2, chunks: [] },
  ])("$tokens in $parts parts", ({ tokens, parts, chunks }) => {
    expect(sizes(splitMessagesByTokenShare(tokens.map(of), parts, count))).toEqual(chunks);
  });

  it("keeps a call with its results even above the target", () => {
    const call = toolCall("read", { path: "a" });
    const messages = [of(10), assistant([call]), toolResult(call, "x"), of(10)];
    const heavy = (message: AgentMessage) => (message.role === "toolResult" ? 100 : count(message));
    for (const chunk of splitMessagesByTokenShare(messages, 4, heavy)) {
      expect(chunk.some(({ role }) => role === "toolResult")).toBe(
        chunk.some(({ role }) => role === "assistant"),
      );
    }
  });
});

describe("chunks of at most so many tokens", () => {
  it.each([
    // the limit is divided by the margin of 1.2
    { tokens: [40, 40, 40], max: 120, chunks: [[40, 40], [40]] },
    { tokens: [10, 500, 10], max: 120, chunks: [[10], [500], [10]] },
    { tokens: [5, 5], max: 0, chunks: [[5], [5]] },
  ])("$tokens in chunks of $max", ({ tokens, max, chunks }) => {
    expect(sizes(chunkMessagesByMaxTokens(tokens.map(of), max, count))).toEqual(chunks);
  });
});

describe("any way of dividing", () => {
  const block = fc.oneof(
    fc.integer({ min: 0, max: 500 }).map((tokens) => [of(tokens)]),
    fc.integer({ min: 1, max: 3 }).chain((calls) =>
      fc.constantFrom("a", "b").map((id) => {
        const all = Array.from({ length: calls }, (_, index) =>
          toolCall("read", {}, `${id}${index}`),
        );
        return [assistant(all), ...all.map((call) => toolResult(call, "done"))];
      }),
    ),
    fc.constant([toolResult({ id: "nobody", name: "x" }, "orphan")]),
  );
  const history = fc.array(block, { maxLength: 12 }).map((blocks) => blocks.flat());

  it("keeps every message, in order, and never parts a group", () => {
    fc.assert(
      fc.property(
        history,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 600 }),
        (messages, parts, max) => {
          const starts = new Set(atomicGroups(messages).map(({ start }) => start));
          for (const chunks of [
            splitMessagesByTokenShare(messages, parts, count),
            chunkMessagesByMaxTokens(messages, max, count),
          ]) {
            expect(chunks.flat()).toEqual(messages);
            expect(chunks.every((chunk) => chunk.length > 0)).toBe(true);
            let at = 0;
            for (const chunk of chunks) {
              expect(starts.has(at)).toBe(true);
              at += chunk.length;
            }
          }
          expect(splitMessagesByTokenShare(messages, parts, count).length).toBeLessThanOrEqual(
            parts,
          );
        },
      ),
    );
  });
});

describe("what no request should hold", () => {
  it.each([
    [41_666, 100_000, false],
    [41_667, 100_000, true],
  ])("%i tokens in a window of %i: oversized %s", (tokens, window, oversized) => {
    expect(isOversized(of(tokens), window, count)).toBe(oversized);
  });

  it("leaves out what a host injected for one run", () => {
    const injected: AgentMessage = {
      role: "custom",
      customType: "openclaw.runtime-context",
      content: "clock",
    };
    const note: AgentMessage = { role: "custom", customType: "note", content: "keep" };
    expect(conversationOnly([of(1), injected, note])).toEqual([of(1), note]);
  });
});
