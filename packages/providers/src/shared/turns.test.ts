import type { AgentMessage } from "@clew/plugin-sdk/core";
import { expect, it } from "vitest";
import { writeTurns } from "./turns.ts";

interface Said {
  text: string;
}

/** The turns of one call with `count` results, on a wire of texts. */
function write(count: number): string {
  const ids = Array.from({ length: count }, (_, place) => `c${place}`);
  const messages: AgentMessage[] = [
    { role: "user", content: "Look." },
    {
      role: "assistant",
      content: ids.map((id) => ({ type: "toolCall", id, name: "look", arguments: {} })),
      stopReason: "toolUse",
    },
    ...ids.map((toolCallId): AgentMessage => {
      const content = [{ type: "text" as const, text: toolCallId }];
      return { role: "toolResult", toolCallId, toolName: "look", content, isError: false };
    }),
  ];
  return writeTurns<Said>(messages, {
    shape: [],
    stableMessages: 0,
    blocks: {
      user: () => [{ text: "Look." }],
      assistant: () => [{ text: "calls" }],
      result: ({ toolCallId }) => ({ result: { text: toolCallId }, after: [{ text: "shown" }] }),
    },
    markEnd: (turn) => turn,
  });
}

/** How many elements of arrays are copied while `work` runs. */
function copiesDuring(work: () => unknown): number {
  const { concat, slice } = Array.prototype;
  const iterate = Array.prototype[Symbol.iterator];
  let copies = 0;
  Array.prototype[Symbol.iterator] = function (this: unknown[]) {
    copies += this.length;
    return iterate.call(this);
  };
  Array.prototype.concat = function (this: unknown[], ...others: unknown[]) {
    const joined = concat.apply(this, others);
    copies += joined.length;
    return joined;
  };
  Array.prototype.slice = function (this: unknown[], ...range) {
    const part = slice.apply(this, range);
    copies += part.length;
    return part;
  };
  try {
    work();
  } finally {
    Object.assign(Array.prototype, { concat, slice });
    Array.prototype[Symbol.iterator] = iterate;
  }
  return copies;
}

it("the results of one turn stand before all that is shown besides, in order", () => {
  const [, , results] = JSON.parse(`[${write(3)}]`) as { content: Said[] }[];
  expect(results?.content.map(({ text }) => text)).toEqual([
    ...["c0", "c1", "c2"],
    ...["shown", "shown", "shown"],
  ]);
});

it("the results of one turn are copied a fixed number of times, however many they are", () => {
  const [few, many] = [200, 2000].map((count) => copiesDuring(() => write(count)) / count);
  expect(few).toBeGreaterThan(1);
  expect(many).toBeLessThan(2 * few!);
});
