import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { rewriting } from "../store/chain.ts";
import { storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import {
  coverageOf,
  coverageOfConversation,
  leavesBetween,
  partsOfSummary,
  storeCondensed,
  storeLeaf,
  storeWords,
  summariesOver,
  summariseAgain,
  summaryById,
} from "../store/summaries.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { READER } from "./facts.ts";
import { growGraph } from "./grow.ts";

const session = { sessionId: "s", sessionKey: "k" };
const SMALL = { leafTokens: 120, fanIn: 2, kept: 1 };
const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1, 9);

function tell(store: Store, messages: readonly AgentMessage[], of = session, prefix = "e"): void {
  storeMessages(store, { session: of, messages: namedWithIds(messages, prefix), from: "told" });
}

/** Some days of work, each on a file of its own. */
function days(count: number): AgentMessage[] {
  return Array.from({ length: count }, (_, day) => {
    const call = toolCall("edit", { path: `src/day${day}.ts`, text: "x" }, `call${day}`);
    const timestamp = START + day * DAY;
    return [
      user(`Please write the part of day ${day} in src/day${day}.ts.`, { timestamp }),
      { ...assistant([call]), timestamp: timestamp + 1 },
      { ...toolResult(call, "written ".repeat(40)), timestamp: timestamp + 2 },
      { ...assistant(`Day ${day} is written.`), timestamp: timestamp + 3 },
    ] as AgentMessage[];
  }).flat();
}

describe("the graph of a conversation", () => {
  it("stands for every message once, also where conversations come in turns", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 9 })), {
          minLength: 1,
          maxLength: 12,
        }),
        async (portions) => {
          const store = temporaryStore();
          const grown = new Set<number>();
          for (const [at, [of, turns]] of portions.entries()) {
            const told = { sessionId: `s${of}`, sessionKey: `k${of}` };
            tell(store, conversation({ turns, tools: 1 }), told, `${at}-`);
            const { conversation: id } = coverageOf(store, told)!;
            grown.add(id);
            if (at % 2 === 0) await growGraph(store, id, { sizes: SMALL });
          }
          for (const id of grown) await growGraph(store, id, { sizes: SMALL });
          expect((await verifyStore(store)).faults).toEqual([]);
          for (const id of grown) {
            const { frontier, upTo } = coverageOfConversation(store, id);
            expect(frontier.at(-1)?.last ?? 0).toBe(upTo);
          }
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("leads from any summary to its messages in as many steps as it is deep, and one", async () => {
    const store = temporaryStore();
    tell(store, days(40));
    const { conversation: id } = coverageOf(store, session)!;
    await growGraph(store, id, { sizes: SMALL });
    const { frontier } = coverageOfConversation(store, id);
    expect(frontier[0]!.depth).toBeGreaterThanOrEqual(3);
    const leavesOf = (summary: (typeof frontier)[number], steps: number): number[] => {
      if (summary.depth === 0) return [steps];
      return partsOfSummary(store, summary.id).flatMap((part) => leavesOf(part, steps + 1));
    };
    for (const summary of frontier)
      for (const steps of leavesOf(summary, 1)) expect(steps).toBe(summary.depth + 1);
  });

  it("stops when its time is up, and goes on from there", async () => {
    const store = temporaryStore();
    tell(store, days(40));
    const { conversation: id } = coverageOf(store, session)!;
    expect(await growGraph(store, id, { sizes: SMALL, boundMs: 0 })).toBe(false);
    expect(coverageOfConversation(store, id).frontier).toHaveLength(1);
    expect(await growGraph(store, id, { sizes: SMALL })).toBe(true);
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("takes no leaf or condensed summary that was made from another frontier", async () => {
    const store = temporaryStore();
    tell(store, days(12));
    const { conversation: id } = coverageOf(store, session)!;
    await growGraph(store, id, { sizes: { ...SMALL, kept: 99 } });
    const { frontier, upTo } = coverageOfConversation(store, id);
    const of = { conversation: id, reader: READER, created: 1 };
    const late = { ...of, after: upTo - 4, last: upTo };
    expect(storeLeaf(store, late)).toBe(false);
    expect(storeLeaf(store, { ...late, after: upTo })).toBe(false);
    const parts = frontier.slice(0, 2);
    expect(storeCondensed(store, { ...of, parts })).toBe(true);
    expect(storeCondensed(store, { ...of, parts })).toBe(false);
    const mixed = coverageOfConversation(store, id).frontier.slice(0, 2);
    expect(mixed.map(({ depth }) => depth)).toEqual([1, 0]);
    expect(storeCondensed(store, { ...of, parts: mixed })).toBe(false);
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("says of each day what was asked, which files were at hand and what was answered", async () => {
    const store = temporaryStore();
    tell(store, days(30));
    const { conversation: id } = coverageOf(store, session)!;
    await growGraph(store, id, { sizes: SMALL });
    const second = START + DAY;
    const [leaf] = leavesBetween(store, {
      ...{ scope: [id], since: second, before: second + 9, limit: 9 },
    });
    expect(leaf!.facts.days).toMatchObject([
      {
        ...{ from: "2026-01-02", to: "2026-01-02", messages: 4, requests: 1 },
        asked: [{ text: "Please write the part of day 1 in src/day1.ts." }],
        files: [["src/day1.ts", 4]],
        answered: [{ text: "Day 1 is written." }],
      },
    ]);
    const { frontier } = coverageOfConversation(store, id);
    expect(frontier[0]!.facts.days.map(({ from }) => from)).toContain("2026-01-02");
  });

  it("keeps a model's words where they are of use, and counts how often one was asked", async () => {
    const store = temporaryStore();
    tell(store, days(12));
    const { conversation: id } = coverageOf(store, session)!;
    await growGraph(store, id, { sizes: SMALL });
    const [oldest] = coverageOfConversation(store, id).frontier;
    const [part] = partsOfSummary(store, oldest!.id);
    const said = (words: string | null) => storeWords(store, part!, { words, model: "m" });
    expect([said(null), said("It was written."), said("Otherwise.")]).toEqual([true, true, false]);
    expect(summaryById(store, [id], part!.id)).toMatchObject({
      ...{ words: "It was written.", model: "m", asked: 2 },
    });
    expect(summaryById(store, [], part!.id)).toBeUndefined();
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("knows every summary of a message, and makes them anew from what it says now", async () => {
    const store = temporaryStore();
    tell(store, days(40));
    const { conversation: id } = coverageOf(store, session)!;
    await growGraph(store, id, { sizes: SMALL });
    const [oldest] = coverageOfConversation(store, id).frontier;
    const over = store.read((sql) => summariesOver(sql, [1]));
    expect(over).toHaveLength(oldest!.depth + 1);
    expect(over.at(-1)).toBe(oldest!.id);
    storeWords(store, oldest!, { words: "Day 0 was written.", model: "m" });
    store.change((sql) => {
      const empty = sql("UPDATE message SET body = json_object('role', role) WHERE seq = ?");
      for (const seq of [1, 2, 4]) rewriting(sql, seq, () => empty.run(seq));
      summariseAgain(sql, [1, 2, 4], READER);
    });
    const now = summaryById(store, null, oldest!.id)!;
    expect(now.words).toBeNull();
    expect(JSON.stringify(now.facts.days)).not.toMatch(/day ?0\b/i);
    expect(JSON.stringify(now.facts.days)).toContain("src/day1.ts");
    expect((await verifyStore(store)).faults).toEqual([]);
  });
});
