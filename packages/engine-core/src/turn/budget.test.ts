import type { AgentMessage, AssistantMessage, ContextEngine } from "@clew/plugin-sdk/core";
import { ESTIMATE_MARGIN, fixedTokensOf } from "@clew/plugin-sdk/host";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  callTool,
  MODEL,
  memoryTranscript,
  passThrough,
  testHost,
  tools,
} from "../__fixtures__/host.ts";
import { createDeliveryLedger } from "../session/delivery-ledger.ts";

const WINDOW = 8_000;
const SYSTEM = [{ id: "base", text: "You are a test. ".repeat(20) }];

const words = (count: number, first: number) =>
  Array.from({ length: count }, (_, index) => `word${(index * 7 + first) % 97}`).join(" ");

/** Newest exchanges for as much as the budget takes, by the SDK's estimates; a turn stays whole. */
const filling = (ownsCompaction: boolean): ContextEngine =>
  passThrough({
    info: { id: "filling", name: "Filling", ownsCompaction },
    assemble: ({ messages, tokenBudget = Number.POSITIVE_INFINITY }) => {
      const starts = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
      const fits = starts.find(
        (start) => estimateMessages(messages.slice(start)).estimate <= tokenBudget,
      );
      return { messages: messages.slice(fits ?? starts.at(-1) ?? 0), estimatedTokens: 0 };
    },
  });

/** Counts `factor` times what the host estimates, so that the host can be wrong about a model. */
const counted = (factor: number, messages: readonly AgentMessage[], output: AssistantMessage) => {
  const input = Math.ceil(
    factor * (estimateMessages(messages).estimate + fixedTokensOf(SYSTEM, [])),
  );
  const usage = { input, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: input + 10 };
  return { ...output, usage };
};

const answer = (text: string): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  stopReason: "stop",
});

const life = fc.record({
  owns: fc.boolean(),
  learned: fc.option(fc.double({ min: 0.6, max: 1.8, noNaN: true }), { nil: undefined }),
  factor: fc.double({ min: 0.7, max: 1.6, noNaN: true }),
  reserveTokens: fc.nat(3_000),
  turns: fc.array(fc.record({ asks: fc.nat(300), says: fc.nat(700), uses: fc.boolean() }), {
    minLength: 2,
    maxLength: 14,
  }),
});

it("an engine that fills its budget by the SDK's estimates is never held back", async () => {
  await fc.assert(
    fc.asyncProperty(life, async ({ owns, learned, factor, reserveTokens, turns }) => {
      const host = testHost({
        engine: filling(owns),
        tools: tools({ t: () => words(40, 1) }),
        replies: turns.flatMap(({ says, uses }, index) => [
          ...(uses
            ? [
                ({ messages }: { messages: readonly AgentMessage[] }) =>
                  counted(factor, messages, callTool("t", {}, `call_${index}`)),
              ]
            : []),
          ({ messages }: { messages: readonly AgentMessage[] }) =>
            counted(factor, messages, answer(words(says, index))),
        ]),
      });
      for (const [index, { asks }] of turns.entries()) {
        const result = await host.say(words(asks, index), {
          model: { ...MODEL, contextWindow: WINDOW },
          systemPrompt: SYSTEM,
          settings: {
            reserveTokens,
            // What tools add after the choice is not the engine's.
            midTurnPrecheck: false,
            ...(learned !== undefined && { tokenRatio: learned }),
          },
        });
        expect(result.outcome).toBe("completed");
        expect(result.report.compactions, `turn ${index}`).toEqual([]);
      }
    }),
  );
});

it("a prompt is taken off a durable engine's budget once, also while its turn goes on", async () => {
  const budgets: number[] = [];
  const host = testHost({
    engine: passThrough({
      info: {
        id: "owner",
        name: "Owner",
        ownsCompaction: true,
        transcriptSemantics: {
          currentTurnFence: "before-current-turn-entry-v1",
          turnAdvancementIdempotency: "atomic-idempotent-v1",
        },
      },
      assemble: ({ messages, tokenBudget }) => {
        budgets.push(tokenBudget ?? 0);
        return { messages, estimatedTokens: 0 };
      },
      commitTurn: () => ({ status: "committed" }),
    }),
    transcript: Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() }),
    tools: tools({ t: () => "x" }),
    replies: [callTool("t"), "done"],
  });
  const prompt = words(2_000, 1);
  await host.say(prompt, { model: { ...MODEL, contextWindow: WINDOW * 2 } });
  const { estimate } = estimateMessages([{ role: "user", content: prompt }]);
  expect(budgets).toHaveLength(2);
  const [first = 0, second = 0] = budgets;
  expect(first).toBeLessThan(WINDOW * 2 - ESTIMATE_MARGIN * estimate);
  // The call and its result.
  expect(first - second).toBeLessThan(60);
});

it("an engine is told by which ratio its budget is smaller, and of none that gives it nothing", async () => {
  const told: unknown[] = [];
  const engine = passThrough({
    info: { id: "asks", name: "Asks", acceptedHostParams: ["runtimeContext"] },
    assemble: ({ messages, runtimeContext }) => {
      told.push(runtimeContext?.tokenRatio);
      return { messages, estimatedTokens: 0 };
    },
  });
  for (const tokenRatio of [1.5, 1, 0.8]) {
    const host = testHost({ engine, replies: ["done"] });
    await host.say("Hello.", { model: MODEL, settings: { tokenRatio } });
  }
  expect(told).toEqual([1.5, undefined, undefined]);
});

it.each([1.5, 2, 3, 6])(
  "an engine that fills its budget settles when a provider counts %s times the estimate",
  async (factor) => {
    const sizes: number[] = [];
    const host = testHost({
      engine: filling(true),
      transcript: Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() }),
      replies: [
        ({ messages }) => {
          const reply = counted(factor, messages, answer(words(300, sizes.length)));
          sizes.push(reply.usage.input);
          return reply;
        },
      ],
    });
    for (let turn = 0; turn < 24; turn++)
      await host.say(words(60, turn), {
        model: { ...MODEL, contextWindow: WINDOW },
        systemPrompt: SYSTEM,
        settings: { reserveTokens: 2_000 },
      });
    const settled = sizes.slice(-8);
    expect(Math.max(...settled)).toBeLessThanOrEqual(WINDOW);
    expect(Math.min(...settled)).toBeGreaterThan(0.25 * Math.max(...settled));
  },
);
