import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assistant, conversation, toolCall, toolResult, user } from "../testing/messages.ts";
import { estimateText } from "../tokens/estimate.ts";
import { parseSections } from "../transcript/sections.ts";
import { extractiveSummary, SUMMARY_HEADINGS } from "./extractive-summary.ts";

const section = (summary: string, heading: string) =>
  parseSections(summary).find((found) => found.heading === heading)?.lines;

const run = toolCall("bash", { command: "npm test" }, "c1");
const write = toolCall("edit", { path: "src/refund.ts" }, "c2");
const read = toolCall("mcp__fs__Read", { file_path: "docs/policy.md" }, "c3");
const story = [
  user("Please fix the refund bug in ticket PAY-4711. You must never change the public API."),
  assistant([read, run]),
  toolResult(read, "text"),
  toolResult(run, "Error: expected 3 to be 4\n  at refund.test.ts", {
    isError: true,
    details: { status: "failed", exitCode: 1 },
  }),
  assistant([write]),
  toolResult(write, "ok"),
  assistant(
    "Fixed the rounding. We decided to keep integers instead of floats. The changelog still needs an entry.",
  ),
  user("Thanks! Now also handle order 9f8e7d6c5b and mail anna@example.com about it."),
];

describe("extractiveSummary", () => {
  it("has those of the five headings under which it says something, in order, each once", () => {
    for (const messages of [[], story, conversation({ turns: 50, tools: 2 })]) {
      const sections = parseSections(extractiveSummary({ messages, maxTokens: 500 }));
      const headings = sections.map(({ heading }) => heading);
      const known = SUMMARY_HEADINGS.filter((heading) => headings.includes(heading));
      expect(headings.slice(0, known.length)).toEqual(known);
      expect(new Set(headings).size).toBe(headings.length);
      for (const { lines } of sections) expect(lines).not.toEqual([]);
    }
    expect(extractiveSummary({ messages: [], maxTokens: 500 })).toBe("");
  });

  it("lists decisions, rules, the pending request, identifiers, failures and files, each once", () => {
    const summary = extractiveSummary({ messages: story, maxTokens: 2000 });
    expect(section(summary, "## Decisions")).toEqual([
      "- We decided to keep integers instead of floats.",
    ]);
    expect(section(summary, "## Constraints/Rules")).toEqual([
      "- You must never change the public API.",
    ]);
    expect(section(summary, "## Pending user asks")).toEqual([
      "- Thanks! Now also handle order 9f8e7d6c5b and mail anna@example.com about it.",
    ]);
    expect(section(summary, "## Exact identifiers")).toEqual(
      expect.arrayContaining(["- PAY-4711", "- 9f8e7d6c5b", "- anna@example.com"]),
    );
    expect(section(summary, "## Tool Failures")).toEqual([
      "- bash (status=failed exitCode=1): Error: expected 3 to be 4 at refund.test.ts",
    ]);
    expect(section(summary, "## Files")).toEqual([
      "- read: docs/policy.md",
      "- modified: src/refund.ts",
    ]);
    expect(section(summary, "## Earlier requests")).toEqual([
      "- Please fix the refund bug in ticket PAY-4711. You must never change the public API.",
    ]);
    expect(section(summary, "## Progress")).toEqual(["- Fixed the rounding."]);
  });

  it("finds rules and decisions in other languages than English", () => {
    const summary = extractiveSummary({
      messages: [
        user("绝对不要删除备份。"),
        user("Wir haben uns für SQLite entschieden."),
        assistant("Готово."),
      ],
      maxTokens: 500,
    });
    expect(section(summary, "## Constraints/Rules")).toEqual(["- 绝对不要删除备份。"]);
    expect(section(summary, "## Decisions")).toEqual(["- Wir haben uns für SQLite entschieden."]);
  });

  it("reads no heading of an earlier summary as an item", () => {
    const previousSummary =
      "## Goal\nShip\n\n---\n\n**Turn Context (split turn):**\n\n### Decisions\n- (none)\n- We keep Go.";
    const summary = extractiveSummary({ messages: [], maxTokens: 500, previousSummary });
    expect(summary).toBe("## Progress\n- Ship\n- We keep Go.");
  });

  it("stays within maxTokens at every size and gets no shorter with more room", () => {
    const messages = [...conversation({ turns: 40, tools: 1 }), ...story];
    let before = 0;
    for (let maxTokens = 0; maxTokens <= 1500; maxTokens += 25) {
      const summary = extractiveSummary({ messages, maxTokens });
      const { estimate } = estimateText(summary);
      expect(estimate).toBeLessThanOrEqual(maxTokens);
      expect(estimate).toBeGreaterThanOrEqual(before * 0.8);
      before = estimate;
    }
  });

  it("prefers the newest items when there is little room", () => {
    const messages = Array.from({ length: 60 }, (_, n) =>
      assistant(`In step ${n} we decided to use plan number ${n}.`),
    );
    const decisions = section(extractiveSummary({ messages, maxTokens: 300 }), "## Decisions")!;
    expect(decisions.at(-1)).toContain("plan number 59");
    expect(decisions.length).toBeLessThan(60);
    expect(decisions).toEqual(
      [...decisions].sort((a, b) => Number(a.match(/\d+/)![0]) - Number(b.match(/\d+/)![0])),
    );
  });

  it("quotes a very long request from both ends", () => {
    const [ask] = section(
      extractiveSummary({ messages: [user(`START ${"word ".repeat(2000)} END`)], maxTokens: 1000 }),
      "## Pending user asks",
    )!;
    expect(ask).toMatch(/^- START .* … .* END$/);
    expect(ask!.length).toBeLessThan(810);
  });

  it("carries on what the summary before said, once, and makes its request an earlier one", () => {
    const first = extractiveSummary({ messages: story, maxTokens: 2000 });
    const second = extractiveSummary({
      messages: [...story.slice(6, 7), user("And close the ticket.")],
      maxTokens: 2000,
      previousSummary: first,
    });
    expect(section(second, "## Decisions")).toEqual([
      "- We decided to keep integers instead of floats.",
    ]);
    expect(section(second, "## Pending user asks")).toEqual(["- And close the ticket."]);
    expect(section(second, "## Earlier requests")?.at(-1)).toContain("handle order 9f8e7d6c5b");
    expect(section(second, "## Files")).toEqual([
      "- read: docs/policy.md",
      "- modified: src/refund.ts",
    ]);
  });

  it("keeps a summary of another form as progress", () => {
    const summary = extractiveSummary({
      messages: [user("go on")],
      maxTokens: 500,
      previousSummary: "We moved the shop to Lisbon.\n\n## Goal\nOpen in May",
    });
    expect(section(summary, "## Progress")).toEqual([
      "- We moved the shop to Lisbon.",
      "- Open in May",
    ]);
  });

  it("is the same for the same input and leaves the input alone", () => {
    const message = fc.oneof(
      fc.string().map((text) => user(text)),
      fc.string().map((text) => assistant(text)),
      fc.lorem({ mode: "sentences" }).map((text) => assistant(text)),
    );
    fc.assert(
      fc.property(fc.array(message), fc.nat({ max: 800 }), (messages, maxTokens) => {
        const frozen = structuredClone(messages);
        const summary = extractiveSummary({ messages, maxTokens });
        expect(extractiveSummary({ messages: frozen, maxTokens })).toBe(summary);
        expect(messages).toEqual(frozen);
        expect(estimateText(summary).estimate).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });
});
