import { setImmediate } from "node:timers/promises";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { afterEach, describe, expect, it, vi } from "vitest";
import { countAhead } from "./count.ts";

/** A message that says when it is read. */
function watched(text: string, onRead: () => void): AgentMessage {
  return {
    role: "user",
    get content() {
      onRead();
      return text;
    },
  };
}

const ahead = { contextWindow: undefined, by: "high" } as const;

afterEach(() => {
  vi.restoreAllMocks();
});

describe("counting ahead", () => {
  it("reads nothing twice, and nothing beyond the budget or before the first that counts", async () => {
    const reads = Array.from({ length: 40 }, () => 0);
    const messages = reads.map((_, at) => watched("word ".repeat(80), () => reads[at]!++));
    const one = estimateMessage({ role: "user", content: "word ".repeat(80) }).high;
    await countAhead({ ...ahead, messages, most: 3.5 * one });
    expect(reads.map(Boolean).lastIndexOf(false)).toBe(35);
    const known = [...reads];
    await countAhead({ ...ahead, messages, most: 3.5 * one });
    expect(reads).toEqual(known);
    await countAhead({ ...ahead, messages, most: Infinity, isFirst: (one) => one === messages[9] });
    expect(reads.map(Boolean).lastIndexOf(false)).toBe(8);
  });

  it("reads no more of an older message than is shown of it", async () => {
    let reads = 0;
    const long = watched("word ".repeat(80), () => reads++);
    const part: AgentMessage = { role: "user", content: "word" };
    const newest: AgentMessage = { role: "user", content: "and now?" };
    const shownOf = (message: AgentMessage) => (message === long ? part : message);
    await countAhead({ ...ahead, messages: [long, newest], most: Infinity, shownOf });
    expect(reads).toBe(0);
    await countAhead({ ...ahead, messages: [newest, long], most: Infinity, shownOf });
    expect(reads).toBeGreaterThan(0);
  });

  it("gives others a turn before a piece is longer than its time", async () => {
    await setImmediate();
    let [time, inThisTurn, longest, turns, isRunning] = [0, 0, 0, 0, true];
    vi.spyOn(performance, "now").mockImplementation(() => time);
    const watch = () => {
      turns++;
      inThisTurn = 0;
      if (isRunning) void setImmediate().then(watch);
    };
    void setImmediate().then(watch);
    const messages = Array.from({ length: 60 }, () =>
      watched("word", () => {
        time++;
        longest = Math.max(longest, ++inThisTurn);
      }),
    );
    await countAhead({ ...ahead, messages, most: Infinity });
    isRunning = false;
    expect(time).toBeGreaterThanOrEqual(messages.length);
    expect(longest).toBeLessThanOrEqual(16);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});
