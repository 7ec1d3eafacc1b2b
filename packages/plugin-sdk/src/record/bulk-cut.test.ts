import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import { estimateMessages } from "../tokens/message.ts";
import { withMessageId } from "../transcript/message-id.ts";
import { textOf } from "../transcript/text.ts";
import { planBulkCut } from "./bulk-cut.ts";
import { foldLedger } from "./ledger.ts";
import { EMPTY_LEDGER } from "./state.ts";

const result = (text: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
});
const WIDE = { contextWindow: 1_000_000 };
const ALL = { ...WIDE, freeTokens: Number.MAX_VALUE, leastTokens: 0 };
const applied = (messages: readonly AgentMessage[], plan: ReturnType<typeof planBulkCut>) => {
  const cut = new Map(plan.cuts.map(({ index, message }) => [index, message]));
  return messages.map((message, index) => cut.get(index) ?? message);
};

describe("a cut in bulk", () => {
  const long = "word ".repeat(2_000);

  it("takes the oldest results, as many as are needed, and never the newest", () => {
    const messages = Array.from({ length: 4 }, () => result(long));
    const one = planBulkCut(messages, { ...WIDE, freeTokens: 500, leastTokens: 0 });
    expect(one.cuts.map(({ index }) => index)).toEqual([0]);
    expect(planBulkCut(messages, ALL).cuts.map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  it("is left where it would free too little in one step", () => {
    const messages = [result(long), result(long), result(long)];
    const { freedTokens } = planBulkCut(messages, ALL);
    expect(planBulkCut(messages, { ...ALL, leastTokens: freedTokens }).cuts).toHaveLength(2);
    expect(planBulkCut(messages, { ...ALL, leastTokens: freedTokens + 1 })).toEqual({
      cuts: [],
      freedTokens: 0,
    });
  });

  it("counts what requests show, which is less than what is stored", () => {
    const messages = [result("word ".repeat(60_000)), result("newest")];
    const freed = (contextWindow: number) =>
      planBulkCut(messages, { ...ALL, contextWindow }).freedTokens;
    expect(freed(1_000_000)).toBeGreaterThan(9_000);
    expect(freed(32_000)).toBeLessThan(4_000);
  });

  it("does not shorten again what was shortened, nor what is hardly longer", () => {
    const messages = [result(long), result("word ".repeat(280)), result("newest")];
    const plan = planBulkCut(messages, ALL);
    expect(plan.cuts.map(({ index }) => index)).toEqual([0]);
    expect(planBulkCut(applied(messages, plan), ALL).cuts).toEqual([]);
  });

  it("leaves the names of what was cut, for the ledger, and says where the whole is", () => {
    const listing = Array.from({ length: 30 }, (_, index) => `src/area/file${index}.ts ok`);
    const text = `${"start ".repeat(400)}\n${listing.join("\n")}\n${"end. ".repeat(2_000)}`;
    const messages = [withMessageId(result(text), "e3"), result("newest")];
    const [cut] = planBulkCut(messages, { ...ALL, reader: "session_read" }).cuts;
    expect(textOf(cut!.message)).toContain('session_read with id "e3" shows the whole result');
    const { items } = foldLedger(EMPTY_LEDGER, {
      ...{ type: "message", id: "e9", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" },
      message: cut!.message,
    });
    const kept = listing.filter((line) => items.has(line.split(" ")[0]!));
    expect(kept.length).toBeGreaterThanOrEqual(25);
  });

  it("names nothing of which the cut took a part only", () => {
    const files = Array.from({ length: 400 }, (_, index) => `src/area/file${index}.ts`);
    for (let shift = 0; shift < 20; shift++) {
      const messages = [result(`${"x".repeat(shift)} ${files.join(" ")}`), result("newest")];
      const [cut] = planBulkCut(messages, ALL).cuts;
      const named = /named in it: ([^;\]]*)/.exec(textOf(cut!.message))![1]!.split(", ");
      expect(named.length).toBeGreaterThan(5);
      for (const name of named) expect(files).toContain(name.replace(/[^a-z0-9]+$/, ""));
    }
  });

  it("leaves the newest where the others free what must go", () => {
    const others = Array.from({ length: 5 }, () => result("word ".repeat(400)));
    const messages = [...others, result("word ".repeat(60))];
    const sizeOf = (message: AgentMessage) => estimateMessages([message]).estimate;
    const all = estimateMessages(messages).estimate;
    for (let mustFreeTokens = 0; mustFreeTokens < all; mustFreeTokens += 3) {
      const { cuts } = planBulkCut(messages, { ...ALL, mustFreeTokens });
      const freed = cuts
        .filter(({ index }) => index < others.length)
        .reduce((sum, { index, message }) => sum + sizeOf(messages[index]!) - sizeOf(message), 0);
      const isNewestCut = cuts.some(({ index }) => index === others.length);
      expect(isNewestCut && freed >= mustFreeTokens, `${mustFreeTokens}`).toBe(false);
    }
  });

  it("goes shorter, and at last to the newest, where a request would not fit otherwise", () => {
    const dense = Array.from({ length: 90 }, (_, n) => `src/mod_${n}/file_${n}.ts ok`).join("\n");
    const messages = Array.from({ length: 6 }, () => result(dense));
    const size = estimateMessages(messages).estimate;
    expect(planBulkCut(messages, { ...ALL, mustFreeTokens: 0.7 * size }).cuts).toHaveLength(5);
    expect(planBulkCut(messages, { ...ALL, mustFreeTokens: 0.85 * size }).cuts).toHaveLength(6);
    const { freedTokens } = planBulkCut(messages, { ...ALL, mustFreeTokens: size });
    expect(freedTokens).toBeGreaterThan(0.85 * size);
  });

  it("frees what it says, and changes nothing but old results", () => {
    const message = fc.oneof(
      fc.nat(4_000).map((size): AgentMessage => result("ab1 ".repeat(size))),
      fc.constant<AgentMessage>({ role: "user", content: "hi" }),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), fc.nat(9_000), (messages, freeTokens) => {
        const plan = planBulkCut(messages, { ...WIDE, freeTokens, leastTokens: 100 });
        const after = applied(messages, plan);
        const freed = estimateMessages(messages).estimate - estimateMessages(after).estimate;
        expect(freed).toBeCloseTo(plan.freedTokens);
        const last = messages.findLastIndex(({ role }) => role === "toolResult");
        after.forEach((each, index) => {
          if (each === messages[index]) return;
          expect(each.role).toBe("toolResult");
          expect(index).toBeLessThan(last);
        });
      }),
    );
  });
});
