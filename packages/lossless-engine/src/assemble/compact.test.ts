import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameOf } from "../messages/name.ts";
import { temporaryStore, withIds } from "../testing/stored.ts";
import { viewOf } from "./assemble.ts";
import { compactView, tellFocus } from "./compact.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };

describe("a compaction in a host that asks for a view once per turn", () => {
  it("makes a view fit that nobody asked for in a turn, however much the turn brought", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 6_000, max: 40_000 }),
        fc.array(fc.double({ min: 0.02, max: 0.5, noNaN: true }), { minLength: 1, maxLength: 4 }),
        async (tokenBudget, shares) => {
          const store = temporaryStore();
          const ask = (messages: readonly AgentMessage[]) =>
            viewOf(store, { session, messages, tokenBudget });
          const history: AgentMessage[] = [];
          // As full as a view gets before it is cut.
          for (let step = 0; ; step++) {
            const call = toolCall("read", { path: `src/part${step}.ts` }, `full${step}`);
            const more = [user(`Read part ${step}.`), assistant([call])];
            const read = toolResult(call, `part ${step} of it `.repeat(tokenBudget / 500));
            const next = withIds([...more, read, assistant("Read.")], `f${step}-`);
            if ((await ask([...history, ...next])).record !== null) break;
            history.push(...next);
          }
          expect(estimateMessages(history).estimate).toBeGreaterThan(0.6 * tokenBudget);
          const request = withIds([user("Now all the others.")], "request")[0]!;
          history.push(request);
          expect((await ask(history)).tokens.high).toBeLessThanOrEqual(tokenBudget);
          for (const [step, share] of shares.entries()) {
            const call = toolCall("read", { path: `src/more${step}.ts` }, `more${step}`);
            const text = "what stands in it ".repeat((share * tokenBudget) / 4);
            history.push(...withIds([assistant([call]), toolResult(call, text)], `m${step}-`));
          }
          await compactView(store, { session, messages: history, tokenBudget, isOverflow: true });
          const { items, tokens } = await ask(history);
          const messages = items.map(({ message }) => message);
          expect(tokens.high).toBeLessThanOrEqual(tokenBudget);
          expect(messages).toContain(request);
          expect(messages.map(nameOf)).toContain(nameOf(history.at(-1)!));
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});

it("a focus that no summary can have is said to be dropped, where something was compacted", () => {
  const done = { ok: true, compacted: true };
  expect(tellFocus(done, "the birds").reason).toContain("without the focus");
  expect(tellFocus({ ...done, reason: "so" }, "the birds").reason).toMatch(
    /^so; without the focus/,
  );
  for (const focus of [undefined, "", " "]) expect(tellFocus(done, focus)).toBe(done);
  const nothing = { ok: true, compacted: false, reason: "nothing was said" };
  expect(tellFocus(nothing, "the birds")).toBe(nothing);
});

describe("a compaction in a host that asks under two budgets", () => {
  it("tells the size that was shown, and what is shown under its budget is another and less", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 6_000, max: 20_000 }),
        fc.double({ min: 1, max: 4, noNaN: true }),
        fc.integer({ min: 10, max: 120 }),
        fc.boolean(),
        async (small, times, turns, isOverflow) => {
          const store = temporaryStore();
          const large = Math.floor(small * times);
          const ask = (messages: readonly AgentMessage[], tokenBudget: number) =>
            viewOf(store, { session, messages, tokenBudget });
          const history = withIds(
            Array.from({ length: turns }, (_, turn) => [
              user(`Request ${turn}: ${"what to do next ".repeat(10)}`),
              assistant(`Done ${turn}: ${"this was said of it ".repeat(20)}`),
            ]).flat(),
          );
          for (let end = 20; end < history.length; end += 20)
            for (const budget of [small, large]) await ask(history.slice(0, end), budget);
          await ask(history, small);
          const before = await ask(history, large);
          const request = { session, messages: history, tokenBudget: large, isOverflow };
          const { compacted, result } = await compactView(store, request);
          const after = await ask(history, large);
          if (!compacted) return expect(after.tokens).toEqual(before.tokens);
          expect(result?.tokensBefore).toBe(before.tokens.estimate);
          expect(after.tokens.estimate).toBeLessThan(before.tokens.estimate);
          expect(result?.tokensAfter).toBe(after.tokens.estimate);
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});

it("a record stays when a view is compacted again and its newest reply cannot get smaller", async () => {
  const { store, request } = longReply(8_000);
  const names = async () => {
    const { items } = await viewOf(store, request);
    const [{ message }] = items as [(typeof items)[0]];
    return message.role === "compactionSummary" ? message.summary.match(/part\d+\.ts/g) : null;
  };
  await compactView(store, request);
  const known = await names();
  expect(known?.length).toBeGreaterThan(10);
  for (let time = 0; time < 3; time++) {
    expect(await compactView(store, request)).toMatchObject({ compacted: false, code: "no-gain" });
    expect(await names()).toEqual(known);
  }
});

it.each([1, 2, 3, 5, 8, 13].flatMap((count) => [1, 40, 120, 240].map((words) => [count, words])))(
  "a record of %s names keeps half of them where there is room, behind a reply of %s words",
  async (count, words) => {
    const read = Array.from({ length: count! }, (_, number) => {
      const call = toolCall("read", { path: `part${number}/harbour${number}.ts` }, `c${number}`);
      return [assistant([call]), toolResult(call, "says ".repeat(2_000))];
    });
    const last = [user(`Now ${"pad ".repeat(10)}`), assistant(`Done ${"so it is ".repeat(12)}`)];
    const first = [user("What is here?"), ...read.flat(), assistant("read ".repeat(words!))];
    const messages = withIds([...first, ...last]);
    const store = temporaryStore();
    const request = { session, messages, tokenBudget: 2_200 };
    for (let time = 0; time < 3; time++) {
      await compactView(store, request);
      const shown = JSON.stringify((await viewOf(store, request)).items);
      const names = new Set(shown.match(/harbour\d+/g));
      expect(names.size).toBeGreaterThanOrEqual(count! / 2);
    }
  },
);

it("a record gives way where the view nearly fills the room", async () => {
  const { store, request } = longReply(3_000);
  const sizes: number[] = [];
  for (let time = 0; time < 3; time++) {
    await compactView(store, request);
    sizes.push((await viewOf(store, request)).tokens.estimate);
  }
  expect(sizes.at(-1)).toBeLessThan(sizes[0]!);
});

/** Files that were read one after the other, and a reply of 2,300 tokens that nothing shortens. */
function longReply(tokenBudget: number) {
  const messages = withIds(
    Array.from({ length: 20 }, (_, number) => {
      const call = toolCall("read", { path: `src/part${number}.ts` }, `c${number}`);
      const asked = user(`What stands in src/part${number}.ts?`);
      return [asked, assistant([call]), toolResult(call, "says ".repeat(200)), assistant("Read.")];
    }).flat(),
  );
  messages.push({ ...assistant("so it is ".repeat(780)), __openclaw: { id: "reply" } });
  const request = { session, messages, tokenBudget, isOverflow: true };
  return { store: temporaryStore(), request };
}

describe("a view that is compacted again, though it has room", () => {
  const read = (place: string, chars: number) => {
    const call = toolCall("read", { path: `docs/${place}.md` }, place);
    return [assistant([call]), toolResult(call, `${place} ${"says ".repeat(chars / 5)}`)];
  };
  const history = withIds([
    ...[user("What stands in docs/harbour.md?"), ...read("harbour", 12_000)],
    ...[...read("ferry", 12_000), assistant("Both have a berth.")],
    ...[user(`And in docs/light.md? ${"why ".repeat(800)}`), ...read("light", 12_000)],
    assistant(`It burns. ${"so ".repeat(1_800)}`),
  ]);

  it.each([true, false])(
    "goes on to name what its record named (overflow: %s)",
    async (isOverflow) => {
      const store = temporaryStore();
      const request = { session, messages: history, tokenBudget: 5_000, isOverflow };
      const first = await compactView(store, request);
      const { result } = await compactView(store, request);
      const last = result ?? first.result!;
      if (isOverflow) expect(last.tokensAfter).toBeLessThan(0.75 * first.result!.tokensAfter!);
      for (const name of ["harbour.md", "ferry.md"]) expect(last.summary).toContain(name);
      const { items, tokens } = await viewOf(store, request);
      expect(tokens.high).toBeLessThanOrEqual(5_000);
      expect(items.at(-1)?.message).toEqual(history.at(-1));
    },
  );
});
