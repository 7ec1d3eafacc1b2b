import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ContextSizeInput,
  messageTokenSteps,
  newestTokensOf,
  planContextSize,
} from "./context-size.ts";
import type { AgentMessage } from "./contract/message.ts";
import { stepsAtOnce } from "./slices.ts";
import { estimateMessages } from "./tokens/message.ts";
import { toolResultCap } from "./transcript/tool-result-caps.ts";

const size = (given: Partial<ContextSizeInput> = {}) =>
  planContextSize({
    contextWindow: 100_000,
    reserveTokens: 20_000,
    fixedTokens: 1_000,
    messages: { estimate: 10_000, counted: null },
    ...given,
  });

const tokensOf = (...given: Parameters<typeof messageTokenSteps>) =>
  stepsAtOnce(messageTokenSteps(...given));

const counted = (tokens: number, after: number) => ({
  estimate: 10_000,
  counted: { tokens, after },
});

const user = (content: string): AgentMessage => ({ role: "user", content });
const result = (text: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
});
const view = (messages: readonly AgentMessage[]) =>
  messages.map((message, index) => ({ id: `m${index}`, message }));

describe("the size of a request", () => {
  it("is the model's: estimates times its ratio, with a margin on what is fixed", () => {
    expect(size()).toMatchObject({ tokens: 11_200, fixed: 1_200, messages: 10_000 });
    expect(size({ tokenRatio: 1.5 })).toMatchObject({ tokens: 16_800, fixed: 1_800 });
    expect(size({ tokenRatio: 0.7 })).toMatchObject({ tokens: 7_840, source: "estimated" });
  });

  it("corrects its own estimates by the ratio, never what a provider or an engine counted", () => {
    expect(size({ tokenRatio: 1.5, engineEstimate: 20_000 }).tokens).toBe(20_000 + 1_800);
    expect(size({ tokenRatio: 1.5, engineEstimate: 9_000 }).tokens).toBe(15_000 + 1_800);
    const both = size({ tokenRatio: 1.5, messages: counted(5_000, 100), engineEstimate: 20_000 });
    expect(both).toMatchObject({ tokens: 5_150, source: "counted" });
  });

  it("has no margin where a provider counted it: what is not messages is what it says", () => {
    const small = size({ messages: { estimate: 24, counted: { tokens: 1_020, after: 0 } } });
    expect(small).toMatchObject({ tokens: 1_020, fixed: 996, messages: 24 });
    const dear = size({ messages: { estimate: 100, counted: { tokens: 5_000, after: 0 } } });
    expect(dear).toMatchObject({ tokens: 5_000, fixed: 1_200, messages: 3_800 });
    const cheap = size({ messages: { estimate: 9_000, counted: { tokens: 4_000, after: 0 } } });
    expect(cheap).toMatchObject({ tokens: 4_000, fixed: 0, messages: 4_000 });
  });

  it("is that of the whole history where an engine says that more may have to fit", () => {
    const more = { estimate: 90_000, counted: null };
    expect(size({ unwindowed: more })).toMatchObject({
      source: "unwindowed",
      overflow: 91_200 - 80_000,
      verdict: "over",
    });
    expect(size({ unwindowed: { estimate: 10, counted: null } }).source).toBe("estimated");
  });

  it("is compared to what the reserve leaves of the window", () => {
    expect(size({ messages: { estimate: 78_800, counted: null } }).overflow).toBe(0);
    expect(size({ messages: { estimate: 78_801, counted: null } })).toMatchObject({
      overflow: 1,
      promptBudget: 80_000,
      reserve: 20_000,
      verdict: "over",
    });
    const whole = size({ reserveTokens: 0, messages: { estimate: 78_801, counted: null } });
    expect(whole.overflow).toBe(0);
  });

  it("rises with everything it is made of, and what is over is never called fitting", () => {
    const tokens = fc.nat(400_000);
    const input = fc.record({
      contextWindow: fc.integer({ min: 1, max: 400_000 }),
      reserveTokens: fc.nat(60_000),
      fixedTokens: fc.nat(30_000),
      tokenRatio: fc.double({ min: 0.7, max: 1.8, noNaN: true }),
      newestTokens: fc.nat(50_000),
      pace: fc.record({ calls: fc.nat(400), growthTokens: fc.nat(5_000) }),
    });
    fc.assert(
      fc.property(input, tokens, tokens, tokens, (given, estimate, more, extra) => {
        const at = (messages: number, fixedTokens = given.fixedTokens) =>
          planContextSize({
            ...given,
            fixedTokens,
            messages: { estimate: messages, counted: null },
          });
        const before = at(estimate);
        expect(at(estimate + more).tokens).toBeGreaterThanOrEqual(before.tokens);
        expect(at(estimate, given.fixedTokens + extra).tokens).toBeGreaterThanOrEqual(
          before.tokens,
        );
        expect(before.tokens).toBe(before.fixed + before.messages);
        expect(before.verdict === "over").toBe(before.tokens > before.promptBudget);
        expect(before.overflow).toBe(Math.max(0, before.tokens - before.promptBudget));
        if (before.verdict === "full" || before.verdict === "unpaid")
          expect(before.messages).toBeGreaterThan(before.water.high);
        if (before.verdict === "fits")
          expect(before.messages).toBeLessThanOrEqual(before.water.high);
      }),
    );
  });
});

describe("the tokens of messages", () => {
  it("are those a model is shown: a tool result that is too long counts as it is cut", () => {
    const long = "word ".repeat(60_000);
    const { estimate } = tokensOf(view([user("hi"), result(long)]), {
      contextWindow: 32_000,
    });
    expect(estimate).toBeLessThan(toolResultCap(32_000) / 2);
    expect(estimateMessages([result(long)]).estimate).toBeGreaterThan(40_000);
  });

  it("rest on the provider's count where the view begins with what it counted, and only there", () => {
    const messages = [user("one"), user("two"), user("three")];
    const ids = ["m0", "m1"];
    const at = (given: readonly (string | undefined)[]) =>
      tokensOf(view(messages), {
        contextWindow: 32_000,
        counted: { ids: given, tokens: 700 },
      }).counted;
    expect(at(ids)).toEqual({ tokens: 700, after: estimateMessages([user("three")]).estimate });
    expect(at(["m0", "m1", "m2"])?.after).toBe(0);
    for (const other of [["m1"], ["m0", "x"], ["m0", "m1", "m2", "m3"], ["m0", undefined], []])
      expect(at(other)).toBeNull();
    const nameless = messages.map((message) => ({ id: undefined, message }));
    const counted = { ids: [undefined], tokens: 700 };
    expect(tokensOf(nameless, { contextWindow: 32_000, counted }).counted).toBeNull();
  });

  it("of the newest exchange are those of a reply and its results, or of a person's message", () => {
    const reply: AgentMessage = { role: "assistant", content: [], stopReason: "toolUse" };
    const [a, b] = [result("a"), result("b b")];
    expect(newestTokensOf([user("hi"), reply, a, b])).toBe(
      estimateMessages([reply, a, b]).estimate,
    );
    expect(newestTokensOf([reply, a, user("hi")])).toBe(estimateMessages([user("hi")]).estimate);
    expect(newestTokensOf([])).toBe(0);
  });
});

describe("a session that is compacted as the plan says", () => {
  const WRITE = 1.25;
  const READ = 0.1;
  interface Life {
    promptBudget: number;
    fixedTokens: number;
    /** Tokens each call adds. */
    growth: readonly number[];
    costFirst: boolean;
  }
  const life: fc.Arbitrary<Life> = fc.record({
    promptBudget: fc.integer({ min: 8_000, max: 300_000 }),
    fixedTokens: fc.nat(4_000),
    growth: fc.array(fc.integer({ min: 50, max: 12_000 }), { minLength: 2, maxLength: 400 }),
    costFirst: fc.boolean(),
  });

  /**
   * Cost of all calls and of sending everything, and what its compactions cost by themselves; a
   * compaction's summariser reads what goes.
   */
  function live({ promptBudget, fixedTokens, growth, costFirst }: Life) {
    const compactions: { at: number; forced: boolean; price: number }[] = [];
    let held = 0;
    let whole = 0;
    let cost = 0;
    let costOfAll = 0;
    growth.forEach((grown, calls) => {
      const { verdict, water, tokens } = planContextSize({
        contextWindow: promptBudget,
        reserveTokens: 0,
        fixedTokens,
        messages: { estimate: held + grown, counted: null },
        newestTokens: grown,
        pace: { calls, growthTokens: grown },
        water: { costFirst },
      });
      costOfAll += READ * whole + WRITE * grown;
      whole += grown;
      const sent = READ * held + WRITE * grown;
      held += grown;
      if (verdict === "full" || verdict === "over") {
        const left = Math.min(water.low, held);
        const compacted = WRITE * left + (held - left);
        compactions.push({
          at: calls,
          forced: tokens > 0.95 * promptBudget,
          price: compacted - sent,
        });
        cost += compacted;
        held = left;
      } else cost += sent;
    });
    return { cost, costOfAll, compactions };
  }

  it("costs no more than sending everything, but for what it had to, and what came in its second half", () => {
    fc.assert(
      fc.property(life, (given) => {
        const { cost, costOfAll, compactions } = live(given);
        const open = compactions
          .filter(({ at, forced }) => forced || 2 * at > given.growth.length)
          .reduce((sum, { price }) => sum + Math.max(0, price), 0);
        expect(cost - open).toBeLessThanOrEqual(costOfAll + 1e-6 * costOfAll);
      }),
    );
  });

  it("costs no more than sending everything from twice the length of its first compaction on", () => {
    for (const promptBudget of [32_000, 64_000, 128_000, 400_000]) {
      const growth = new Array<number>(400).fill(900);
      const first = live({ promptBudget, fixedTokens: 0, growth, costFirst: false })
        .compactions[0]!;
      for (let calls = 2 * first.at + 1; calls < 400; calls++) {
        const { cost, costOfAll } = live({
          ...{ promptBudget, fixedTokens: 0, costFirst: false },
          growth: growth.slice(0, calls),
        });
        expect(cost / costOfAll).toBeLessThanOrEqual(1);
      }
    }
  });

  it("is left alone when it is short", () => {
    const { verdict } = size({
      contextWindow: 128_000,
      reserveTokens: 0,
      messages: { estimate: 115_000, counted: null },
      pace: { calls: 4, growthTokens: 28_750 },
    });
    expect(verdict).toBe("unpaid");
  });

  it("is not left alone where estimates that are a little off would not fit", () => {
    const at = (estimate: number) =>
      size({
        contextWindow: 128_000,
        reserveTokens: 0,
        fixedTokens: 0,
        messages: { estimate, counted: null },
        pace: { calls: 4, growthTokens: 30_000 },
      }).verdict;
    expect([121_600, 121_601, 128_001].map(at)).toEqual(["unpaid", "full", "over"]);
  });

  it("says finite numbers of whatever it is told, and its marks stand in order", () => {
    const odd = fc.oneof(
      fc.constantFrom(0, -0, -1, Number.NaN, Infinity, -Infinity, 1e-9, 0.5, 1, 7, 1e9),
      fc.integer({ min: -10, max: 300_000 }),
    );
    const maybe = fc.option(odd, { nil: undefined });
    const told = fc.record({
      ...{ contextWindow: odd, reserveTokens: odd, fixedTokens: odd },
      messages: fc.record({
        estimate: odd,
        counted: fc.option(fc.record({ tokens: odd, after: odd })),
      }),
      ...{ tokenRatio: maybe, engineEstimate: maybe, newestTokens: maybe },
      water: fc.record({ highWaterTokens: maybe, lowWaterTokens: maybe, costFirst: fc.boolean() }),
    });
    fc.assert(
      fc.property(told, (input) => {
        const { water, source: _, verdict, ...numbers } = planContextSize(input);
        for (const value of [...Object.values(numbers), water.high, water.low]) {
          expect(Number.isFinite(value)).toBe(true);
          expect(value).toBeGreaterThanOrEqual(0);
        }
        expect(water.low).toBeLessThan(water.high);
        expect(verdict === "over").toBe(numbers.overflow > 0);
      }),
    );
  });

  it("costs less than a third to half of sending everything, when it is long", () => {
    const shares = [32_000, 64_000, 128_000].map((promptBudget) => {
      const growth = new Array<number>(300).fill(800);
      const { cost, costOfAll } = live({ promptBudget, fixedTokens: 0, growth, costFirst: false });
      return Math.round((100 * cost) / costOfAll) / 100;
    });
    expect(shares).toEqual([0.31, 0.44, 0.57]);
  });
});
