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

const DAY = 86_400_000;
const START = Date.UTC(2026, 8, 1, 8);
const TOPICS = ["parser", "billing", "login", "search", "export", "reports", "cache"];
const topicOf = (day: number) => `${TOPICS[day % TOPICS.length]}${day}`;

/** Days of work on one thing each; a step is a request, a call, its result and an answer. */
const workOn = (days: number, steps: number) =>
  withIds(
    Array.from({ length: days * steps }, (_, at): AgentMessage[] => {
      const [day, step] = [Math.floor(at / steps), at % steps];
      const timestamp = START + day * DAY + step * 100_000;
      const call = toolCall("read", { path: `src/${topicOf(day)}/part${step}.ts` }, `c${at}`);
      const messages = [
        user(`Step ${step}, mend the ${topicOf(day)}. ${"Say what you do. ".repeat(9)}`),
        assistant([call]),
        toolResult(call, `line ${at} of it `.repeat(60)),
        assistant(`Mended part ${step}. ${"It was the bulb. ".repeat(9)}`),
      ];
      return messages.map((message, index) => ({
        ...message,
        timestamp: timestamp + 1_000 * index,
      }));
    }).flat(),
  );

/** What the lines say of a day: behind its date, or in a line that is of it alone. */
const saidOfDay = (lines: readonly string[], date: string) =>
  lines
    .flatMap((line) => {
      const dated = line.split(/: | \| /).filter((part) => /^\d{4}-\d\d-\d\d /.test(part));
      if (dated.length === 0) return line.includes(` ${date}`) ? [line] : [];
      return dated.filter((part) => part.startsWith(date));
    })
    .join("\n");

describe("a record of days of work", () => {
  const shape = fc.oneof(
    fc.tuple(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 500, max: 6_000 })),
    fc.tuple(fc.integer({ min: 20, max: 40 }), fc.integer({ min: 800, max: 6_000 })),
  );

  it("tells in each line what was asked and which summary it is, and what was done on each day", async () => {
    await fc.assert(
      fc.asyncProperty(
        shape,
        fc.constantFrom(24_000, 32_000, 128_000),
        fc.boolean(),
        async ([days, messages], budget, isGrown) => {
          const store = temporaryStore();
          const history = workOn(days, Math.ceil(messages / days / 4));
          await storeSeen(store, { session, messages: history });
          if (isGrown) await growSession(store, session);
          const view = await shown(store, history, budget);
          if (view.record === null) return; // all is shown
          const [lines, spans] = [linesIn(view), spansIn(view)];
          const kept = view.items.filter(({ why }) => why === "kept").length;
          expect(spans[0]![0]).toBe(1);
          for (const [at, [first]] of spans.slice(1).entries())
            expect(first).toBe(spans[at]![1] + 1);
          expect(spans.at(-1)![1]).toBe(history.length - kept);
          expect(estimateText(lines.join("\n")).estimate).toBeLessThanOrEqual(pastRoomOf(budget));
          const { frontier, upTo } = coverageOf(store, session)!;
          const before = frontier.filter(({ last }) => last < spans.at(-1)![1]);
          for (const { id } of before)
            expect(lines.filter((line) => new RegExp(`sum_${id}\\b`).test(line))).toHaveLength(1);
          for (const [at, line] of lines.entries()) {
            expect(line).toMatch(/ asked "Step \d+, mend the /);
            const isNewest = at === lines.length - 1 || spans[at]![1] > upTo;
            expect(line.includes("sum_") || isNewest).toBe(true);
          }
          if (budget >= 32_000) expect(lines.length).toBeGreaterThanOrEqual(before.length);
          expect(lines.length).toBeGreaterThan(before.length / 4);
          const last = history[spans.at(-1)![1] - 1]!.timestamp!;
          const past = Array.from({ length: days }, (_, day) => day).filter(
            (day) => START + day * DAY < last,
          );
          for (const day of past) {
            const said = saidOfDay(lines, new Date(START + day * DAY).toISOString().slice(0, 10));
            expect(said).toContain(topicOf(day));
          }
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 50 },
    );
  }, 120_000);
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

describe("a record that lists the past of a session that went back", () => {
  const ROOM = 16_000;
  const told = (name: string, turns: number) =>
    withIds(
      Array.from({ length: turns }, (_, at) => [
        user(`What stands in docs/${name}${at}.md?`),
        assistant(`It says: ${"w ".repeat(4_000)}`),
      ]).flat(),
      name,
    );
  const said = (view: View) => view.record?.record ?? "";

  it("says nothing of what was left, whatever its summaries said before, and says it again after a return", async () => {
    const store = temporaryStore();
    const [kept, left, other] = [told("kept", 1), told("left", 3), told("other", 6)];
    await shown(store, [...kept, ...left], 1_000_000);
    await growSession(store, session);
    const another = said(await shown(store, [...kept, ...other], ROOM));
    expect(another).toContain("docs/kept0.md");
    expect(another).toContain("docs/other0.md");
    expect(another).not.toContain("docs/left");
    expect((await verifyStore(store)).faults).toEqual([]);
    const back = said(await shown(store, [...kept, ...left, ...told("after", 4)], ROOM));
    expect(back).toContain("docs/left0.md");
    expect(back).not.toContain("docs/other");
    expect((await verifyStore(store)).faults).toEqual([]);
  });
});
