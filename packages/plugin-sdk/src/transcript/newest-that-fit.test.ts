import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../contract/message.ts";
import { createMemoryEngine } from "../testing/memory-engine.ts";
import { conversation } from "../testing/messages.ts";
import { estimateMessage } from "../tokens/message.ts";
import { freshTail } from "./fresh-tail.ts";
import { newestThatFit } from "./newest-that-fit.ts";

const count = (message: AgentMessage) => estimateMessage(message).high;
const summary: AgentMessage = {
  ...{ role: "compactionSummary", summary: "The boat is called Kestrel. ".repeat(20) },
  ...{ tokensBefore: 9000, timestamp: 1 },
};

describe("the newest messages that fit", () => {
  const history = [summary, ...conversation({ turns: 12, tools: 2 })];

  it("stand behind the host's summary at every budget that has room for it, else it is said that it lacks", () => {
    fc.assert(
      fc.property(fc.nat({ max: 8000 }), (maxTokens) => {
        const { messages, tokens, lacksSummary } = newestThatFit(history, { maxTokens, count });
        const { tokens: newest } = freshTail(history, { count });
        expect(lacksSummary).toBe(newest + count(summary) > maxTokens);
        expect(messages.includes(summary)).toBe(!lacksSummary);
        expect(messages.slice(lacksSummary ? 0 : 1)).toEqual(
          history.slice(history.length - messages.length + (lacksSummary ? 0 : 1)),
        );
        expect(tokens).toBe(messages.reduce((sum, message) => sum + count(message), 0));
        if (newest <= maxTokens) expect(tokens).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });

  it("are what they always were where the host wrote no summary", () => {
    const plain = history.slice(1);
    fc.assert(
      fc.property(fc.nat({ max: 8000 }), (maxTokens) => {
        const { start, tokens } = freshTail(plain, { tokens: Infinity, maxTokens, count });
        expect(newestThatFit(plain, { maxTokens, count })).toEqual({
          ...{ messages: plain.slice(start), tokens, lacksSummary: false },
        });
      }),
    );
  });

  it("are what the engine to copy from shows, which says what lacks", async () => {
    const assemble = (tokenBudget: number) =>
      createMemoryEngine().assemble({ sessionId: "s", messages: history, tokenBudget });
    const roomy = await assemble(2000);
    expect(roomy.messages[0]).toBe(summary);
    expect(roomy.messages.length).toBeLessThan(history.length);
    expect(roomy.systemPromptAddition).toBeUndefined();
    const tight = await assemble(1);
    expect(tight.messages).not.toContain(summary);
    expect(tight.systemPromptAddition).toMatch(/is left out for lack of room/);
  });
});
