import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { countMessage, type ExactCounter, loadExactCounter } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryStore, withIds } from "../testing/stored.ts";
import { assemblyOf, viewOf } from "./assemble.ts";
import { counter, sum } from "./count.ts";
import { countedBy } from "./counted.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const count = counter(undefined);

/** As a provider's reply tells what its prompt took. */
const replied = (message: AgentMessage, input: number): AgentMessage => ({
  ...message,
  ...(message.role === "assistant" && {
    usage: { input, output: 9, cacheRead: 0, cacheWrite: 0, totalTokens: input + 9 },
  }),
});

/** A call, its result, and the prompt that each reply was counted with. */
function steps(prompts: readonly number[]): AgentMessage[] {
  return prompts.flatMap((input, step) => {
    const call = toolCall("read", { path: `src/step${step}.ts` }, `c${step}`);
    return [
      replied(assistant([call]), input),
      toolResult(call, `line of step ${step} `.repeat(80)),
    ];
  });
}

const tokensOf = (messages: readonly AgentMessage[]) => sum(messages, count).estimate;

describe("counts of a provider", () => {
  const newest = ["reply", "tokens"];
  const counting = { count, ratio: 1, most: Infinity };
  const [one, two] = [1, 2].map((step) => steps([0, 0, 0]).slice(2 * step, 2 * step + 2));
  const size = tokensOf(one!);

  it("are taken for what stands between two replies, and estimates for what came since", () => {
    const messages = [user("Go on."), ...steps([500, 500 + size - 20, 500 + 2 * size - 10])];
    const counted = countedBy({ ...counting, messages });
    const between = sum(messages.slice(1, 3), counted.count);
    expect(Math.abs(between.estimate - (size - 20))).toBeLessThanOrEqual(2);
    expect([between.low, between.high]).toEqual([between.estimate, between.estimate]);
    expect(sum(messages.slice(-2), counted.count)).toEqual(sum(two!, count));
    expect(newest.map((key) => counted.newest?.[key as "reply"])).toEqual([5, 490 + 2 * size]);
  });

  it("are not taken where something was left out, nothing was told, or the prompt grew besides", () => {
    for (const prompts of [
      [9_000, 500, 480],
      [500, 0, 500 + size],
      [500, 500 + 3 * size, 600 + 9 * size],
    ]) {
      const messages = steps(prompts);
      const counted = countedBy({ ...counting, messages });
      for (const message of messages) expect(counted.count(message)).toEqual(count(message));
    }
  });

  it("are not taken of a request that may have been cut, and of the largest that cannot", () => {
    const messages = steps([500, 500 + size, 0]);
    const { high } = sum(messages.slice(0, 2), count);
    const isTaken = (most: number) => {
      const counted = countedBy({ ...counting, messages, most });
      return counted.count(messages[1]!).low === counted.count(messages[1]!).high;
    };
    expect([500 + high - 1, 500 + high].map(isTaken)).toEqual([false, true]);
  });

  it("are taken though what was thought was left out", () => {
    const call = toolCall("read", { path: "a.ts" }, "c");
    const thought = assistant([
      { type: "thinking", thinking: "Shall I read it? ".repeat(60) },
      call,
    ]);
    const rest = [toolResult(call, "line ".repeat(40)), replied(assistant("Read."), 700)];
    const seen = tokensOf([assistant([call]), rest[0]!]);
    const messages = [replied(thought, 700 - seen), ...rest];
    const counted = countedBy({ ...counting, messages });
    expect(sum(messages.slice(0, 2), counted.count).high).toBeLessThanOrEqual(seen + 2);
  });

  it("are of the model's own tokens, of which one of the budget may stand for more", () => {
    const messages = steps([1_000, 1_000 + 1.5 * size, 0]);
    const counted = countedBy({ ...counting, messages, ratio: 1.5 });
    expect(sum(messages.slice(0, 2), counted.count).high).toBeLessThanOrEqual(size + 2);
  });
});

describe("a view of a session whose provider counts", () => {
  let exact: ExactCounter;
  beforeAll(async () => {
    exact = await loadExactCounter();
  });
  const FIXED = 300;

  /** The sizes of the views of every call, and how often the beginning of the view changed. */
  async function play(results: readonly string[], { tokenBudget, tells = true }: Playing) {
    const store = temporaryStore();
    const history: AgentMessage[] = withIds([user("Look at all of it, please.")]);
    const sizes: number[] = [];
    const epochs = new Set<string | undefined>();
    for (const [step, text] of results.entries()) {
      const view = await viewOf(store, { session, messages: history, tokenBudget });
      const { messages, promptAuthority, contextProjection } = assemblyOf(view, {
        messages: history,
        tokenBudget,
      });
      const size = messages.reduce((total, one) => total + countMessage(one, exact), 0);
      if (promptAuthority === undefined) sizes.push(size);
      epochs.add(contextProjection?.epoch);
      const call = toolCall("read", { path: `src/step${step}.ts` }, `c${step}`);
      const reply = replied(assistant([call]), tells ? FIXED + size : 0);
      history.push(...withIds([reply, toolResult(call, text)], `s${step}-`));
    }
    return { most: Math.max(...sizes), epochs: epochs.size };
  }

  interface Playing {
    tokenBudget: number;
    tells?: boolean;
  }

  it("keeps to the budget as that provider counts, whatever was estimated", async () => {
    const text = fc.oneof(
      fc.integer({ min: 1, max: 900 }).map((times) => "the quick brown fox ".repeat(times)),
      fc.integer({ min: 1, max: 300 }).map((times) => "x9_Qz::/7fA+".repeat(times)),
      fc.integer({ min: 1, max: 300 }).map((times) => "数据库已经关闭。".repeat(times)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 4, maxLength: 24 }),
        fc.integer({ min: 4_000, max: 12_000 }),
        async (results, tokenBudget) => {
          const { most } = await play(results, { tokenBudget });
          expect(most).toBeLessThanOrEqual(tokenBudget);
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("is cut later and more rarely than one that nobody counts", async () => {
    const results = Array.from({ length: 160 }, (_, step) =>
      `export function step${step}(path: string): string {\n  return path;\n}\n`.repeat(40),
    );
    const told = await play(results, { tokenBudget: 20_000 });
    const untold = await play(results, { tokenBudget: 20_000, tells: false });
    expect(told.most).toBeGreaterThan(untold.most);
    expect(told.epochs).toBeLessThan(untold.epochs);
  });

  it("stays whole where it was, though a smaller budget was asked for since", async () => {
    const store = temporaryStore();
    const said: AgentMessage[] = [];
    for (let turn = 0; turn < 8; turn++) {
      said.push(user(`Question ${turn}? ${"what of it ".repeat(20)}`));
      said.push(replied(assistant(`Answer ${turn}.`), tokensOf(said)));
    }
    const messages = withIds(said);
    const tokenBudget = Math.ceil(1.1 * tokensOf(messages));
    const ask = (budget: number) => viewOf(store, { session, messages, tokenBudget: budget });
    const before = await ask(tokenBudget);
    expect(before.record).toBeNull();
    expect((await ask(Math.floor(tokenBudget / 3))).record).not.toBeNull();
    expect(await ask(tokenBudget)).toEqual(before);
  });
});
