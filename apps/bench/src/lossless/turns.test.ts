import { describe, expect, it } from "vitest";
import { type BenchTurn, turnsOf } from "./turns.ts";

function take(count: number, shape: { seed?: number; bytesPerMessage?: number } = {}): BenchTurn[] {
  const { seed = 1, bytesPerMessage = 1_900 } = shape;
  const turns = turnsOf({ seed, bytesPerMessage });
  return Array.from({ length: count }, () => turns.next().value as BenchTurn);
}

describe("a generated session", () => {
  it("is the same from the same seed", () => {
    expect(take(20)).toEqual(take(20));
    expect(take(20)).not.toEqual(take(20, { seed: 2 }));
  });

  it.each([700, 1_900])("has messages of about %i bytes", (bytesPerMessage) => {
    const messages = take(1_000, { bytesPerMessage }).flatMap((turn) => turn.messages);
    const average = JSON.stringify(messages).length / messages.length;
    expect(average / bytesPerMessage).toBeGreaterThan(0.85);
    expect(average / bytesPerMessage).toBeLessThan(1.15);
  });

  it("answers every call, and ends each turn with words", () => {
    for (const { messages, ticket } of take(50)) {
      const calls = messages.flatMap((message) =>
        message.role === "assistant" && Array.isArray(message.content)
          ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
          : [],
      );
      const answered = messages.flatMap((message) =>
        message.role === "toolResult" ? [message.toolCallId] : [],
      );
      expect(answered).toEqual(calls);
      expect(messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
      expect(JSON.stringify(messages[0])).toContain(ticket);
    }
  });
});
