import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateText } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { storeSeen } from "../ingest/seen.ts";
import { coveredBy, isOwn } from "../messages/own.ts";
import { expire } from "../store/forget.ts";
import type { Store } from "../store/store.ts";
import { coverageOf } from "../store/summaries.ts";
import { growSession } from "../summaries/grow-session.ts";
import { temporaryStore, withIds } from "../testing/stored.ts";
import { assemblyOf, viewOf } from "./assemble.ts";
import { compactView } from "./compact.ts";
import type { View } from "./show.ts";
import { pastRoomOf } from "./write-record.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };

async function shown(store: Store, messages: readonly AgentMessage[], tokenBudget: number) {
  await storeSeen(store, { session, messages });
  return viewOf(store, { session, messages, tokenBudget, listsPast: true });
}

/** The lines of a view's record, without what stands before them. */
function linesIn({ record }: View): string[] {
  return (record?.record ?? "").split("\n").filter((line) => /^- (?:sum_\d+ )?#\d/.test(line));
}

/** Numbers of messages that each line names. */
const spansIn = (view: View) =>
  linesIn(view).map((line) => {
    const [, first, last = first] = /^- (?:sum_\d+ )?#(\d+)(?:-#(\d+))?/.exec(line)!;
    return [Number(first), Number(last)] as const;
  });

const growing = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });

describe("a record that lists the past", () => {
  it("names each message before the view in one line, in order, and is within the budget", async () => {
    await fc.assert(
      fc.asyncProperty(
        growing,
        fc.constantFrom(4_000, 9_000, 32_000),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        async (portions, budget, isTidied) => {
          const store = temporaryStore();
          const history: AgentMessage[] = [];
          let before: View | undefined;
          for (const [at, turns] of portions.entries()) {
            const more = conversation({ turns, tools: 2, toolResultChars: 3_000 });
            history.push(...withIds(more, `p${at}-`));
            const view = await shown(store, history, budget);
            if (isTidied[at]) await growSession(store, session);
            expect(view.tokens.high).toBeLessThanOrEqual(budget);
            if (view.record === null) continue;
            const from = history.length - view.items.filter(({ why }) => why === "kept").length;
            const spans = spansIn(view);
            expect(spans[0]?.[0]).toBe(1);
            for (const [index, [first]] of spans.slice(1).entries())
              expect(first).toBe(spans[index]![1] + 1);
            expect(spans.at(-1)![1]).toBe(from);
            const tokens = estimateText(linesIn(view).join("\n")).estimate;
            expect(tokens).toBeLessThanOrEqual(pastRoomOf(budget));
            if (before?.record?.name === view.record.name)
              expect(view.record.record).toBe(before.record.record);
            before = view;
          }
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("is known as ours when a host hands it back, and is listed in a compaction, too", async () => {
    const store = temporaryStore();
    const history = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 2_000 }));
    const view = await shown(store, history, 16_000);
    const messages = view.items.map(({ message }) => message);
    expect(isOwn(JSON.parse(JSON.stringify({ ...messages[0], __openclaw: {} })))).toBe(true);
    const again = await shown(store, messages, 16_000);
    expect(again.record?.record).toBe(view.record?.record);
    const more = withIds(conversation({ turns: 2, tools: 1, toolResultChars: 2_000 }), "more");
    await compactView(store, {
      ...{ session, messages: [...history, ...more], tokenBudget: 16_000, listsPast: true },
      isOverflow: true,
    });
    const after = await shown(store, [...history, ...more], 16_000);
    expect(after.record?.name).not.toBe(view.record?.name);
    expect(spansIn(after).at(-1)![1]).toBeGreaterThan(spansIn(view).at(-1)![1]);
  });

  it("costs a record nothing that does not list it", async () => {
    const history = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 2_000 }));
    const store = temporaryStore();
    await storeSeen(store, { session, messages: history });
    await growSession(store, session);
    const request = { session, messages: history, tokenBudget: 16_000 };
    const view = await viewOf(store, request);
    const alone = temporaryStore();
    await storeSeen(alone, { session, messages: history });
    expect(await viewOf(alone, request)).toEqual(view);
    expect(linesIn(view)).toEqual([]);
  });

  it("says how many messages there are where there was no time to read them", async () => {
    const store = temporaryStore();
    const big = Array.from({ length: 1_500 }, (_, at): AgentMessage[] => {
      const call = toolCall("read", { path: `src/part${at}.ts` }, `c${at}`);
      return [user(`Read part ${at}.`), assistant([call]), toolResult(call, "line ".repeat(900))];
    });
    const view = await shown(store, withIds(big.flat()), 32_000);
    const { frontier } = coverageOf(store, session)!;
    const spans = spansIn(view);
    expect(frontier.length).toBeGreaterThan(0);
    expect(spans[0]![0]).toBe(1);
    expect(spans.at(-1)![1]).toBeGreaterThan(4_400);
    const again = await shown(store, withIds(big.flat()), 32_000);
    expect(again.record?.record).toBe(view.record?.record);
  });
});

describe("a record of messages that are no longer kept", () => {
  it("says so, in views that stand and in new ones, and is known as ours", async () => {
    const store = temporaryStore();
    const history = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 2_000 }));
    const before = await shown(store, history, 16_000);
    expect(before.record!.record).toContain("every byte of them is kept");
    expire(store, [1, 2, 3]);
    const standing = await shown(store, history, 16_000);
    expect(standing.record!.name).toBe(before.record!.name);
    expect(standing.items.slice(1)).toEqual(before.items.slice(1));
    const more = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 2_000 }), "m");
    const next = await shown(store, [...history, ...more], 16_000);
    expect(next.record!.name).not.toBe(before.record!.name);
    for (const { record, items } of [standing, next]) {
      expect(record!.record).toContain("stand behind this record, as far as they are still kept:");
      expect(record!.record).not.toContain("every byte");
      expect(coveredBy(record!.record)).toBe(record!.covered);
      expect(isOwn({ ...items[0]!.message, __openclaw: {} })).toBe(true);
    }
    const of = { messages: history, tokenBudget: 16_000 };
    expect(assemblyOf(standing, of).reasons![0]!.reason).toContain("as far as they are still kept");
    expect((await verifyStore(store)).faults).toEqual([]);
  });
});
