import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assistant, conversation, toolCall, toolResult } from "../testing/messages.ts";
import { freshTail } from "./fresh-tail.ts";
import { isSafeCut } from "./tool-pairs.ts";
import { isUserTurn, splitTurns } from "./turns.ts";

const one = () => 1;

describe("freshTail", () => {
  it("protects the newest turns, messages or tokens, whichever reach furthest", () => {
    const messages = conversation({ turns: 10 });
    expect(freshTail(messages, { turns: 3, count: one })).toEqual({ start: 14, tokens: 6 });
    expect(freshTail(messages, { messages: 5, count: one })).toEqual({ start: 15, tokens: 5 });
    expect(freshTail(messages, { tokens: 9, turns: 1, count: one })).toEqual({
      start: 11,
      tokens: 9,
    });
  });

  it("always protects the newest turn, even above the limit", () => {
    const messages = conversation({ turns: 3, tools: 2 });
    expect(freshTail(messages, {}).start).toBe(10);
    expect(freshTail(messages, { turns: 3, maxTokens: 1 }).start).toBe(10);
    expect(freshTail(messages, { turns: 3, maxTokens: 7, count: one }).start).toBe(9);
  });

  it("protects the newest message and its pair when nobody has spoken", () => {
    const call = toolCall("read");
    expect(freshTail([assistant("a"), assistant([call]), toolResult(call, "r")], {})).toMatchObject(
      { start: 1 },
    );
    expect(freshTail([], { turns: 3 })).toEqual({ start: 0, tokens: 0 });
  });

  it("is a safe cut, holds the newest turn and keeps the limit beyond it, for any wishes", () => {
    const wishes = fc.record(
      {
        turns: fc.nat({ max: 6 }),
        messages: fc.nat({ max: 30 }),
        tokens: fc.nat({ max: 30 }),
        maxTokens: fc.nat({ max: 30 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.nat({ max: 5 }),
        fc.nat({ max: 3 }),
        fc.nat({ max: 25 }),
        wishes,
        (turns, tools, cut, options) => {
          const messages = conversation({ turns, tools }).slice(0, -cut || undefined);
          const { start, tokens } = freshTail(messages, { ...options, count: one });
          const newest = messages.findLastIndex(isUserTurn);
          expect(isSafeCut(messages, start)).toBe(true);
          expect(tokens).toBe(messages.length - start);
          if (newest >= 0) expect(start).toBeLessThanOrEqual(newest);
          if (options.maxTokens !== undefined && start < newest)
            expect(tokens).toBeLessThanOrEqual(options.maxTokens);
          if (options.maxTokens === undefined && options.turns !== undefined) {
            expect(splitTurns(messages.slice(start)).length).toBeGreaterThanOrEqual(
              Math.min(options.turns, splitTurns(messages).length),
            );
          }
        },
      ),
    );
  });
});
