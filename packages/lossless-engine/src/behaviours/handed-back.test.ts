import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLosslessEngine } from "../engine.ts";
import { isOwn } from "../messages/own.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { withIds } from "../testing/stored.ts";

const timed = (messages: readonly AgentMessage[]) =>
  messages.map((message, at) => ({ ...message, timestamp: 1_000 * (at + 1) }));

/** What hosts do to a view before they hand it back. */
const HANDS: Record<string, (message: AgentMessage) => AgentMessage> = {
  "as it was": (message) => message,
  copied: (message) => structuredClone(message),
  "without ids": (message) => {
    const { __openclaw: note, ...rest } = message;
    const { id: _, ...others } = (note ?? {}) as { id?: unknown };
    return { ...rest, ...(Object.keys(others).length > 0 && { __openclaw: others }) } as never;
  },
  "with other ids": (message) =>
    isOwn(message) ? message : { ...message, __openclaw: { id: `new-${message.timestamp}` } },
  "without any mark": ({ __openclaw: _, ...rest }) => rest as AgentMessage,
  "without details": (message) => {
    if (message.role !== "toolResult") return message;
    const { details: _, ...rest } = message;
    return rest;
  },
};

const textOfAll = (messages: readonly AgentMessage[]) =>
  messages.filter((message) => !isOwn(message)).map(({ timestamp }) => timestamp);

const wordsOf = (messages: readonly AgentMessage[]) =>
  messages.map((message) => JSON.stringify({ ...message, __openclaw: undefined }));

describe("a view that the host hands back", () => {
  it.each(Object.keys(HANDS))(
    "%s is the same under any larger budget, however small the one was that it was made for",
    async (way) => {
      const history = timed(withIds(conversation({ turns: 90, tools: 1, toolResultChars: 900 })));
      for (const [first, later] of [
        [28_400, 47_900],
        [8_173, 31_900],
        [3_000, 200_000],
      ] as const) {
        const { engine } = startLife();
        const given = { ...SESSION, availableTools: new Set(["lcm_grep"]) };
        const made = await engine.assemble({ ...given, messages: history, tokenBudget: first });
        expect(made.messages.length).toBeLessThan(history.length);
        const handed = made.messages.map(HANDS[way]!);
        const again = await engine.assemble({ ...given, messages: handed, tokenBudget: later });
        expect(wordsOf(again.messages)).toEqual(wordsOf(made.messages));
        expect(again.systemPromptAddition).toBe(made.systemPromptAddition);
        expect(again.contextProjection?.epoch).not.toBe("lossless-1:whole");
      }
    },
  );

  it("keeps the record of a database that is gone, and one that stands alone", async () => {
    const history = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 900 }));
    const made = await startLife().engine.assemble({
      ...{ ...SESSION, messages: history, tokenBudget: 8_000 },
    });
    for (const messages of [made.messages, made.messages.slice(0, 1)]) {
      const { engine } = startLife();
      const again = await engine.assemble({ ...SESSION, messages, tokenBudget: 64_000 });
      expect(wordsOf(again.messages)).toEqual(wordsOf(messages));
    }
    const { engine } = startLife();
    const more = withIds([user("And what came of it?")], "more");
    const messages = [...made.messages, ...more];
    const smaller = await engine.assemble({ ...SESSION, messages, tokenBudget: 2_000 });
    const said = ([record]: readonly AgentMessage[]) =>
      Number(/(\d+) earlier messages/.exec(JSON.stringify(record))?.[1]);
    const hidden = messages.length - smaller.messages.length;
    expect(said(smaller.messages)).toBe(said(made.messages) + hidden);
  });

  it("hides nothing without a marker, in any order of budgets, and is not stored", async () => {
    const budget = fc.integer({ min: 1_500, max: 60_000 });
    const step = fc.record({
      ...{ budget, way: fc.constantFrom(...Object.keys(HANDS)), handsBack: fc.boolean() },
      size: fc.integer({ min: 10, max: 3_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
        const life = startLife();
        let { engine } = life;
        const history = timed(withIds(conversation({ turns: 30, tools: 1, toolResultChars: 700 })));
        await life.tell(history);
        let view: readonly AgentMessage[] = [...history];
        for (const [at, { budget, way, handsBack, size }] of steps.entries()) {
          const call = toolCall("read", { path: `src/${at}.ts` }, `later:${at}`);
          const said = [
            ...(at % 3 === 0 ? [user(`And now part ${at}.`)] : []),
            ...[assistant([call]), toolResult(call, "line ".repeat(size / 5), { details: { at } })],
          ];
          const more = withIds(said, `later${at}-`).map((message, index) => ({
            ...message,
            timestamp: 1_000 * (history.length + index + 1),
          }));
          history.push(...more);
          const handed = handsBack ? [...view.map(HANDS[way]!), ...more] : history;
          const { messages, promptAuthority } = await engine.assemble({
            ...{ ...SESSION, messages: handed, tokenBudget: budget },
          });
          const shown = textOfAll(messages);
          expect(shown).toEqual([...new Set(shown)].sort((a, b) => a! - b!));
          expect(shown.at(-1)).toBe(history.at(-1)!.timestamp);
          if (shown.length < history.length) expect(isOwn(messages[0]!)).toBe(true);
          expect(messages.filter(isOwn).length).toBeLessThanOrEqual(1);
          if (promptAuthority === undefined)
            expect(estimateMessages(messages).high).toBeLessThanOrEqual(budget);
          view = messages;
          if (at % 3 === 2) {
            await engine.dispose?.();
            engine = createLosslessEngine({ agentDir: life.agentDir });
          }
        }
        await engine.dispose?.();
        expect(life.stored().filter(({ message }) => isOwn(message))).toEqual([]);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  });
});
