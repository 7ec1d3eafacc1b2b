import type { AgentMessage, CommitTurnParams } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EngineSettings } from "../settings.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { withIds } from "../testing/stored.ts";

/** Of one turn: how long its request and its result are, in words; 0 = no result. */
type Turn = readonly [request: number, result: number];

const turnOf = (number: number, [request, result]: Turn, time: () => number): AgentMessage[] => {
  const call = toolCall("exec", { command: "ls" }, "exec:1");
  const between =
    result === 0
      ? []
      : [assistant([call]), toolResult(call, `out ${number} ${"data ".repeat(result)}`)];
  const asked = {
    ...user(`Ask ${number}: ${"pad ".repeat(request)}`),
    idempotencyKey: `t${number}`,
  };
  return [asked, ...between, assistant(number % 5 === 2 ? "done" : `Answer ${number}`)].map(
    ({ __openclaw: _, ...message }) => ({ ...message, timestamp: time() }) as AgentMessage,
  );
};

/** The host names its first and its last message apart from them, and no other. */
const commitOf = (messages: AgentMessage[], start: number): CommitTurnParams => {
  const anchor = (index: number) => ({
    ...SESSION,
    ...{ agentId: "main", generation: 1, rawSeq: start + index, effectiveParentId: null },
    ...{ entryId: `e${start + index}`, activeMessagePosition: start + index },
  });
  return {
    ...SESSION,
    ...{ advancementKey: `k${start}`, messages, terminal: anchor(messages.length - 1) },
    admission: { ...anchor(0), logicalTurnId: `k${start}`, role: "user" },
  };
};

const turns = fc.array(fc.tuple(fc.nat({ max: 200 }), fc.constantFrom(0, 0, 40, 900, 2_500)), {
  minLength: 3,
  maxLength: 24,
});

describe("a host that commits turns, gives no ids, and asks under two budgets", () => {
  it("is shown something else, and less, after every compaction that says it worked", async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 4_000, max: 20_000 }), async (all, window) => {
        const { engine, stored } = startLife({ durableTurns: true });
        const history: AgentMessage[] = [];
        let clock = 1_000_000;
        // What it is shown under the smaller budget is handed back under the larger one.
        const view = async () => {
          const ask = async (messages: readonly AgentMessage[], share: number) =>
            (
              await engine.assemble({
                ...SESSION,
                ...{ messages: [...messages], tokenBudget: Math.floor(share * window) },
              })
            ).messages;
          return ask(await ask(history, 0.59), 0.98);
        };
        for (const [number, turn] of all.entries()) {
          await view();
          const said = turnOf(number, turn, () => (clock += 1_000));
          await engine.commitTurn!(commitOf(said, history.length));
          history.push(...said);
          if (number % 4 !== 2) continue;
          let before = JSON.stringify(await view());
          for (const isForced of [true, false]) {
            const { compacted } = await engine.compact({
              ...{ ...SESSION, tokenBudget: window, force: true },
              compactionTarget: isForced ? "budget" : "threshold",
            });
            const after = JSON.stringify(await view());
            if (compacted) expect(after.length).toBeLessThan(before.length);
            before = after;
          }
        }
        expect(stored()).toHaveLength(history.length);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("has every message of a turn it commits kept, also where its clock stands still", async () => {
    const { engine, stored } = startLife({ durableTurns: true });
    const history: AgentMessage[] = [];
    for (let number = 0; number < 10; number++) {
      await engine.assemble({ ...SESSION, messages: [...history], tokenBudget: 50_000 });
      const said = turnOf(2, [0, number % 2], () => 5);
      await engine.commitTurn!(
        commitOf(
          said.map((message) => ({ ...message })),
          history.length,
        ),
      );
      await engine.commitTurn!(
        commitOf(
          said.map((message) => ({ ...message })),
          history.length,
        ),
      );
      history.push(...said);
    }
    expect(stored()).toHaveLength(history.length);
  });
});

describe("a view under one budget", () => {
  const messages = withIds(
    Array.from({ length: 40 }, (_, number) => [
      user(`Question ${number}? ${"pad ".repeat(30)}`),
      assistant(`Answer ${number}: ${"so it is ".repeat(number === 39 ? 200 : 20)}`),
    ]).flat(),
  );
  const start = async () => {
    const { engine } = startLife({ highWaterTokens: 1_200, lowWaterTokens: 600 });
    await engine.ingestBatch!({ ...SESSION, messages });
    const ask = (tokenBudget = 1_000_000) =>
      engine.assemble({ ...SESSION, messages: [...messages], tokenBudget });
    return { engine, ask };
  };

  it("is the same after another was asked for, whichever comes first", async () => {
    for (const [own, other] of [
      [700, 1_500],
      [1_500, 700],
    ]) {
      const { ask } = await start();
      const before = await ask(own);
      await ask(other);
      expect(await ask(own)).toEqual(before);
    }
  });

  it("is the same after a look at twice the room, at whatever moment of a session", async () => {
    const sizes = fc.array(fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 60 })), {
      ...{ minLength: 6, maxLength: 20 },
    });
    const all: EngineSettings[] = [{}, { highWaterTokens: 1_200, lowWaterTokens: 600 }];
    await fc.assert(
      fc.asyncProperty(sizes, fc.constantFrom(...all), async (turns, settings) => {
        const { engine } = startLife({ ...settings, summaries: "code" });
        const said = withIds(
          turns.flatMap(([asked, answered], number) => [
            user(`Question ${number}? ${"pad ".repeat(asked)}`),
            assistant(`Answer ${number}: ${"so it is ".repeat(answered)}`),
          ]),
        );
        for (let at = 2; at <= said.length; at += 2) {
          await engine.ingestBatch!({ ...SESSION, messages: said.slice(at - 2, at) });
          const ask = (tokenBudget: number) =>
            engine.assemble({ ...SESSION, messages: said.slice(0, at), tokenBudget });
          const before = await ask(600);
          await ask(1_200);
          expect(await ask(600)).toEqual(before);
        }
        await engine.dispose?.();
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("gets smaller by a compaction for less than it has, though less was shown before", async () => {
    const { engine, ask } = await start();
    await ask(700);
    await engine.ingestBatch!({ ...SESSION, messages: messages.slice(-2) });
    const before = await ask();
    const { compacted, result } = await engine.compact({
      ...{ ...SESSION, tokenBudget: 700, force: true },
    });
    expect(compacted).toBe(true);
    expect(result?.tokensBefore).toBe(before.estimatedTokens);
    expect((await ask()).estimatedTokens).toBeLessThan(before.estimatedTokens);
  });

  it("keeps what was compacted out of it, though a smaller one was asked for since", async () => {
    const { engine, ask } = await start();
    const { compacted } = await engine.compact({ ...SESSION, tokenBudget: 1_000, force: true });
    expect(compacted).toBe(true);
    const before = await ask();
    expect(before.messages.length).toBeLessThan(messages.length);
    for (const budget of [1_000, 700]) await ask(budget);
    expect(await ask()).toEqual(before);
  });
});

it.each([20, 500, 2_000])(
  "a compaction makes smaller what is shown, also after a look at %s tokens in the same turn",
  async (little) => {
    const { engine } = startLife();
    const history = withIds(
      Array.from({ length: 40 }, (_, number) => [
        user(`Ask ${number}: ${"pad ".repeat(40)}`),
        assistant(`Answer ${number}: ${"so it is ".repeat(80)}`),
      ]).flat(),
    );
    const ask = (tokenBudget?: number) =>
      engine.assemble({
        ...SESSION,
        ...{ messages: history, ...(tokenBudget !== undefined && { tokenBudget }) },
      });
    await engine.afterTurn!({ ...SESSION, messages: history, prePromptMessageCount: 0 });
    const whole = await ask();
    await ask(little);
    expect((await ask()).messages).toHaveLength(whole.messages.length);
    const tokenBudget = Math.floor(whole.estimatedTokens / 2);
    const done = await engine.compact({ ...SESSION, tokenBudget, force: true });
    expect(done).toMatchObject({
      compacted: true,
      result: { tokensBefore: whole.estimatedTokens },
    });
    const after = await ask();
    expect(after.estimatedTokens).toBe(done.result?.tokensAfter);
    expect(after.estimatedTokens).toBeLessThan(whole.estimatedTokens / 2);
  },
);
