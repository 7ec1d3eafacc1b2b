import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import { assistant, conversation, toolCall, toolResult, user } from "../testing/messages.ts";
import type { TranscriptEntry } from "./entries.ts";
import {
  applySessionPrune,
  type SessionProjection,
  sessionProjections,
  sessionPruneEntry,
} from "./session-projection.ts";
import {
  DEFAULT_SESSION_PRUNE,
  parsePruneTtl,
  planSessionPrune,
  type SessionPruneInput,
} from "./session-prune.ts";
import { textOf } from "./text.ts";
import { pairToolCalls } from "./tool-pairs.ts";

/** Entries are named by position. */
function session(messages: readonly AgentMessage[], input: Partial<SessionPruneInput> = {}) {
  const ids = new Map(messages.map((message, index) => [message, `e${index}`]));
  const entryIdOf = (message: AgentMessage) => ids.get(message);
  return {
    entryIdOf,
    plan: planSessionPrune({
      messages,
      entryIdOf,
      now: 1_000_000,
      contextWindow: 10_000,
      ...input,
    }),
    show: (projections: readonly SessionProjection[]) =>
      applySessionPrune(messages, projections, entryIdOf),
  };
}

/** `sizes[i]` characters in the result of turn i, four more turns after them. */
function withResults(
  sizes: readonly number[],
  extras: Partial<ToolResultMessage> = {},
  tool = "exec",
): AgentMessage[] {
  const turns = sizes.flatMap((size, turn): AgentMessage[] => {
    const call = toolCall(tool, {}, `c${turn}`);
    return [
      user(`run ${turn}`),
      assistant([call]),
      toolResult(call, "y".repeat(size), { details: { turn }, ...extras }),
      assistant("done"),
    ];
  });
  return [...turns, ...conversation({ turns: 3 })];
}

const kinds = (projections: readonly SessionProjection[]) =>
  projections.map(({ entryId, kind }) => `${entryId} ${kind}`);

describe("planSessionPrune", () => {
  it("shortens long results from 30 % of the window on, and not the short ones", () => {
    const { plan, show } = session(withResults([4_001, 4_000, 9_000]));
    expect(plan.reason).toBe("pruned");
    expect(kinds(plan.projections)).toEqual(["e2 soft", "e10 soft"]);
    const shown = textOf(show(plan.projections)[10]!);
    expect(shown.startsWith(`${"y".repeat(1_500)}\n...\n${"y".repeat(1_500)}\n\n`)).toBe(true);
    expect(shown).toContain("9000");
    expect(session(withResults([4_001, 4_000]), { contextWindow: 20_000 }).plan).toMatchObject({
      projections: [],
      reason: "below-ratio",
    });
  });

  it("clears the oldest results, one by one, until half of the window is free", () => {
    const { plan, show } = session(withResults(Array(30).fill(4_000)), { contextWindow: 40_000 });
    expect(plan.added.every(({ kind }) => kind === "hard")).toBe(true);
    expect(plan.added[0]!.entryId).toBe("e2");
    const chars = (messages: readonly AgentMessage[]) =>
      messages.reduce((sum, message) => sum + textOf(message).length, 0);
    expect(chars(show(plan.projections))).toBeLessThan(80_000);
    expect(chars(show(plan.projections.slice(0, -1)))).toBeGreaterThan(79_900);
    expect(textOf(show(plan.projections)[2]!)).toBe("[Old tool result content cleared]");
  });

  it("clears nothing below 50,000 characters of results, nor when clearing is switched off", () => {
    expect(session(withResults(Array(12).fill(4_000)), { contextWindow: 12_000 }).plan.reason).toBe(
      "nothing-to-prune",
    );
    const settings = { hardClear: { enabled: false, placeholder: "" } };
    expect(
      session(withResults(Array(30).fill(4_000)), { contextWindow: 40_000, settings }).plan.reason,
    ).toBe("nothing-to-prune");
  });

  it("waits until the cache has gone cold, and is off when it is switched off", () => {
    const messages = withResults([9_000, 9_000]);
    expect(session(messages, { lastCacheTouchAt: 1_000_000 - 299_999 }).plan.reason).toBe(
      "cache-warm",
    );
    expect(session(messages, { lastCacheTouchAt: 1_000_000 - 300_000 }).plan.reason).toBe("pruned");
    expect(session(messages, { lastCacheTouchAt: null }).plan.reason).toBe("pruned");
    expect(session(messages, { settings: { mode: "off" } }).plan.reason).toBe("off");
  });

  it("touches nothing before the first user message or from the third-last assistant message on", () => {
    const early = toolCall("exec", {}, "early");
    const late = toolCall("exec", {}, "late");
    const messages = [
      assistant([early]),
      toolResult(early, "y".repeat(30_000)),
      ...withResults([30_000]).slice(0, 4),
      user("and now"),
      assistant([late]),
      toolResult(late, "y".repeat(30_000)),
      assistant("one"),
      assistant("two"),
    ];
    expect(kinds(session(messages).plan.projections)).toEqual(["e4 soft"]);
    expect(session([user("a"), assistant("b"), assistant("c")]).plan.reason).toBe("too-short");
  });

  it("asks the lists of tools, where * stands for anything, case does not count and deny wins", () => {
    const pruned = (tools: { allow: string[]; deny: string[] }) =>
      session(withResults([30_000], {}, "Browser_Open"), { settings: { tools } }).plan;
    expect(pruned({ allow: ["browser_*"], deny: [] }).added).toHaveLength(1);
    expect(pruned({ allow: ["exec"], deny: [] }).added).toHaveLength(0);
    expect(pruned({ allow: ["*"], deny: ["*_open"] }).added).toHaveLength(0);
    expect(pruned({ allow: [], deny: ["browser"] }).added).toHaveLength(1);
  });

  it("leaves out images with a word, protected results, results without an entry, and what a durable prune cleared", () => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const withImages = withResults([0]).map((message) =>
      message.role === "toolResult"
        ? { ...message, content: [{ type: "text" as const, text: "a plot" }, image, image, image] }
        : message,
    );
    const pictured = session(withImages);
    expect(textOf(pictured.show(pictured.plan.projections)[2]!)).toBe(
      "a plot\n[image not shown]\n[image not shown]\n[image not shown]",
    );
    expect(session(withResults([30_000], { pruneProtect: true })).plan.added).toEqual([]);
    expect(session(withResults([30_000], { prunedAt: 1 })).plan.added).toEqual([]);
    expect(session(withResults([30_000]), { entryIdOf: () => undefined }).plan.added).toEqual([]);
  });
});

describe("decisions of earlier prunes", () => {
  const entry = (added: readonly SessionProjection[], index: number) =>
    ({
      ...sessionPruneEntry(added),
      id: `p${index}`,
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
    }) as TranscriptEntry;

  it("are read from the branch: the harder counts, and of equal ones the first", () => {
    const soft: SessionProjection = { entryId: "a", kind: "soft", headChars: 1, tailChars: 1 };
    const hard: SessionProjection = { entryId: "a", kind: "hard", placeholder: "x" };
    const records = [
      [soft],
      [{ ...soft, headChars: 9 }],
      [hard],
      [soft],
      [{ ...hard, placeholder: "y" }],
    ];
    expect(sessionProjections(records.map(entry))).toEqual([hard]);
    expect(sessionProjections(records.slice(0, 2).map(entry))).toEqual([soft]);
    const odd = { ...entry([hard], 1), data: { v: 2, projections: [hard] } } as TranscriptEntry;
    expect(sessionProjections([odd])).toEqual([]);
  });

  it("hold when settings change: only a harder decision changes bytes", () => {
    const messages = withResults([9_000, 9_000]);
    const first = session(messages).plan;
    const settings = { softTrim: { maxChars: 100, headChars: 10, tailChars: 10 } };
    expect(session(messages, { previous: first.projections, settings }).plan).toMatchObject({
      projections: first.projections,
      added: [],
    });
  });

  it("keep the objects, so that estimates and prefixes found for them hold", () => {
    const { plan, show } = session(withResults([9_000, 9_000]));
    expect(show(plan.projections)).toEqual(show(plan.projections));
    expect(show(plan.projections)[2]).toBe(show(plan.projections)[2]);
    const untouched = withResults([10]);
    expect(applySessionPrune(untouched, plan.projections, () => undefined)).toBe(untouched);
  });

  it("for any history: each run only adds or hardens, parts no pair, grows nothing, changes no input, and replays from its entries byte for byte", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 12_000 }), { maxLength: 25 });
    fc.assert(
      fc.property(
        sizes,
        sizes,
        fc.constantFrom(2_000, 10_000, 40_000),
        (before, after, contextWindow) => {
          const messages = withResults([...before, ...after]);
          const ids = new Map(messages.map((message, index) => [message, `e${index}`]));
          const entryIdOf = (message: AgentMessage) => ids.get(message);
          const given = JSON.stringify(messages);
          const young = messages.slice(0, before.length * 4);
          const first = planSessionPrune({ messages: young, entryIdOf, now: 0, contextWindow });
          const second = planSessionPrune({
            messages,
            entryIdOf,
            now: 0,
            contextWindow,
            previous: first.projections,
          });
          const [shownFirst, shown] = [first, second].map(({ projections }) =>
            applySessionPrune(messages, projections, entryIdOf),
          );
          const hardened = new Set(second.added.map(({ entryId }) => entryId));
          messages.forEach((message, index) => {
            expect(textOf(shown![index]!).length).toBeLessThanOrEqual(textOf(message).length);
            if (!hardened.has(`e${index}`)) expect(shown![index]).toEqual(shownFirst![index]);
          });
          for (const { entryId, kind } of second.added) {
            const earlier = first.projections.find((projection) => projection.entryId === entryId);
            expect(earlier === undefined || (earlier.kind === "soft" && kind === "hard")).toBe(
              true,
            );
          }
          expect(pairToolCalls(shown!)).toEqual(pairToolCalls(messages));
          expect(JSON.stringify(messages)).toBe(given);
          const entries: TranscriptEntry[] = JSON.parse(
            JSON.stringify([entry(first.added, 1), entry(second.added, 2)]),
          );
          const copies: AgentMessage[] = JSON.parse(given);
          const replayed = applySessionPrune(
            copies,
            sessionProjections(entries),
            (message) => `e${copies.indexOf(message)}`,
          );
          expect(JSON.stringify(replayed)).toBe(JSON.stringify(shown));
        },
      ),
    );
  });
});

describe("parsePruneTtl", () => {
  it("reads times with a unit, and bare numbers as minutes", () => {
    expect(["5m", "1h", "90s", "250ms", "1d", "7", 7, "1.5m"].map(parsePruneTtl)).toEqual([
      300_000, 3_600_000, 90_000, 250, 86_400_000, 420_000, 420_000, 90_000,
    ]);
    expect(["", "soon", "-1", "5 weeks"].map(parsePruneTtl)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(DEFAULT_SESSION_PRUNE.ttlMs).toBe(parsePruneTtl("5m"));
  });
});
