import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { atomicGroups, pairToolCalls } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyHistory } from "../__fixtures__/histories.ts";
import { findCut } from "./cut.ts";

const call = toolCall("read", { path: "a" });
const turn: AgentMessage[] = [user("u"), assistant([call]), toolResult(call, "r"), assistant("a")];
const two = [...turn, ...turn];

function cutOf(
  messages: readonly AgentMessage[],
  keepTokens: number,
  extras: {
    start?: number;
    maxTailTokens?: number;
    preferKeptFrom?: number;
    maxReplyTokens?: number;
    each?: readonly number[];
  } = {},
) {
  const tokens = extras.each ?? messages.map(() => 10);
  const {
    start = 0,
    maxTailTokens = Number.POSITIVE_INFINITY,
    preferKeptFrom,
    maxReplyTokens,
  } = extras;
  return findCut({
    messages,
    start,
    tokens,
    highTokens: tokens,
    keepTokens,
    maxTailTokens,
    preferKeptFrom,
    maxReplyTokens,
  });
}

describe("the cut point", () => {
  it.each([
    // two turns of user, call, result, answer with 10 tokens each
    { keep: 10, cut: 7, turnStart: 4 },
    { keep: 11, cut: 7, turnStart: 4 },
    { keep: 30, cut: 5, turnStart: 4 },
    { keep: 40, cut: 4, turnStart: 4 },
    { keep: 50, cut: 3, turnStart: 0 },
    { keep: 70, cut: 1, turnStart: 0 },
  ])("for $keep tokens to keep is $cut", ({ keep, cut, turnStart }) => {
    expect(cutOf(two, keep)).toEqual({ cut, turnStart });
  });

  it("is at the end, nothing kept, when the newest reply alone has no room beside a summary; never for what a tool or a person said", () => {
    const writes = [...turn, user("write it"), assistant([call]), toolResult(call, "r")];
    expect(cutOf(writes, 10, { each: [10, 10, 10, 10, 10, 90, 10], maxReplyTokens: 80 })).toEqual({
      cut: 7,
      turnStart: 4,
    });
    expect(cutOf(writes, 10, { each: [10, 10, 10, 10, 10, 80, 90], maxReplyTokens: 80 })).toEqual({
      cut: 5,
      turnStart: 4,
    });
    expect(
      cutOf(writes.slice(0, 5), 10, { each: [10, 10, 10, 10, 90], maxReplyTokens: 80 }),
    ).toEqual({ cut: 4, turnStart: 4 });
    expect(
      cutOf([assistant([call]), toolResult(call, "r")], 10, { each: [90, 10], maxReplyTokens: 80 }),
    ).toEqual({ cut: 2, turnStart: 2 });
  });

  it("is none when all is kept", () => {
    expect(cutOf(two, 81)).toBeUndefined();
    expect(cutOf(two, 80)).toBeUndefined();
    expect(cutOf([], 1)).toBeUndefined();
    expect(cutOf([user("only")], 1)).toBeUndefined();
  });

  it("comes after an earlier summary, which is never a turn's start", () => {
    const messages: AgentMessage[] = [
      { role: "compactionSummary", summary: "before" },
      assistant("b"),
      ...turn,
    ];
    expect(cutOf(messages, 40, { start: 1 })).toEqual({ cut: 2, turnStart: 2 });
    expect(cutOf(messages, 60, { start: 1 })).toBeUndefined();
  });

  it("is the newest group when that alone is more than asked for", () => {
    const messages = [user("u"), assistant("a"), assistant([call]), toolResult(call, "huge")];
    expect(cutOf(messages, 20, { each: [10, 10, 10, 90_000] })).toEqual({ cut: 2, turnStart: 0 });
  });

  it("moves on while the kept part cannot fit, but keeps the newest group", () => {
    expect(cutOf(two, 60, { maxTailTokens: 40 })).toEqual({ cut: 4, turnStart: 4 });
    expect(cutOf(two, 60, { maxTailTokens: 0 })).toEqual({ cut: 7, turnStart: 4 });
  });

  it("keeps the open request with all after it where that fits", () => {
    expect(cutOf(two, 10, { preferKeptFrom: 4 })).toEqual({ cut: 4, turnStart: 4 });
    expect(cutOf(two, 10, { preferKeptFrom: 4, maxTailTokens: 30 })).toEqual({
      cut: 7,
      turnStart: 4,
    });
  });

  it("never leads with a tool result and never parts a call from its result, in any history", () => {
    fc.assert(
      fc.property(
        anyHistory,
        fc.nat(40_000),
        fc.nat(40_000),
        fc.nat(20),
        (messages, keepTokens, maxTailTokens, preferred) => {
          const tokens = messages.map((message) => JSON.stringify(message).length / 4);
          const found = findCut({
            messages,
            start: 0,
            tokens,
            highTokens: tokens,
            keepTokens,
            maxTailTokens,
            preferKeptFrom: preferred,
          });
          if (found === undefined) return;
          expect(messages[found.cut]!.role).not.toBe("toolResult");
          expect(atomicGroups(messages).map(({ start }) => start)).toContain(found.cut);
          for (const { call: made, result } of pairToolCalls(messages).pairs)
            expect(made.message < found.cut).toBe(result < found.cut);
          expect(found.turnStart).toBeLessThanOrEqual(found.cut);
          expect(found.cut).toBeGreaterThan(0);
          expect(found.cut).toBeLessThan(messages.length);
        },
      ),
    );
  });
});
