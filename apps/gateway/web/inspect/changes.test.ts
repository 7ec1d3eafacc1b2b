import { describe, expect, it } from "vitest";
import { signed } from "../../src/text/number.ts";
import { callRow, dollars, sentItem } from "../testing/calls.ts";
import { planChanges } from "./changes.ts";

const none = { items: 41, tokens: 930, share: 0.93 };

describe("changes between two calls", () => {
  it("come after the facts: prefix, cache, size, cost, what happened", () => {
    const { facts, rows } = planChanges({
      from: callRow("58.2", { tokens: 2000, cost: dollars(0.0387) }),
      to: callRow("58.3", {
        tokens: 1000,
        cost: { ...dollars(0.0124), summariser: 0.5, total: 0.5124 },
        cache: { predicted: 900, read: 0, written: null, broke: "messages-changed" },
        happened: ["compaction: 3 entries → 20 tokens"],
        marks: ["cache-broken"],
      }),
      prefix: none,
      recounted: -40,
      added: [sentItem(5, { tokens: 20, reason: "summary" })],
      removed: [
        { item: sentItem(1, { tokens: 400 }), why: "in summary C2" },
        { item: sentItem(2, { tokens: 600 }), why: "cleared" },
      ],
      changed: [
        {
          before: sentItem(3, { tokens: 50 }),
          after: sentItem(3, { tokens: 30 }),
          why: "shortened",
        },
      ],
    });
    expect(facts.map(({ text }) => text)).toEqual([
      "Prefix kept: 41 items, 930 tokens (93 %).",
      "Cache broken: the history changed.",
      "1,000 tokens, were 2,000 (−1,000).",
      "Of that −960 by what changed, and −40 by counting again what both have: each call is counted on its own scale.",
      "Cost $0.0124, was $0.0387. Side calls before it, such as for a summary: $0.5000.",
      "compaction: 3 entries → 20 tokens",
    ]);
    expect(rows.map(({ kind, tokens }) => [kind, tokens])).toEqual([
      ["heading", -1000],
      ["removed", -400],
      ["removed", -600],
      ["heading", -20],
      ["changed", -20],
      ["heading", 20],
      ["added", 20],
    ]);
  });

  it("name what changed besides a pause, where both lost something of the cache", () => {
    const { facts } = planChanges({
      from: callRow("1.1"),
      to: callRow("1.2", {
        cache: { predicted: 900, read: 0, written: null, broke: "expired" },
        marks: ["cache-broken"],
        waste: [
          { cause: "after-pause", tokens: 300, dollars: 0.1 },
          { cause: "broken-prefix", tokens: 600, dollars: 0.2 },
        ],
      }),
      ...{ prefix: none, recounted: 0, added: [], removed: [], changed: [] },
    });
    expect(facts.map(({ text }) => text)).toContain(
      "Cache broken: the call before it was too long ago, and the history had changed besides.",
    );
  });

  it("may be none", () => {
    const { facts, rows } = planChanges({
      ...{ from: callRow("1.1"), to: callRow("1.2"), prefix: { items: 0, tokens: 0, share: 0 } },
      ...{ recounted: 0, added: [], removed: [], changed: [] },
    });
    expect(rows).toEqual([]);
    expect(facts.map(({ text }) => text)).toEqual([
      "Nothing changed.",
      "No prefix kept: the very first item differs.",
      "100 tokens, were 100 (±0).",
    ]);
    expect([signed(0), signed(1204), signed(-9310)]).toEqual(["±0", "+1,204", "−9,310"]);
  });
});
