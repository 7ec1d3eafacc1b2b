import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { stableMessages } from "./stable-messages.ts";
import { asHistory, MADE_BY_ENGINE, type ViewItem } from "./view-item.ts";

const user = (content: string): AgentMessage => ({ role: "user", content });
const item = (message: AgentMessage, why: ViewItem["why"]): ViewItem => ({
  id: undefined,
  message,
  why,
});
const made = item(user("a summary"), MADE_BY_ENGINE);
const bySummary = item(user("another"), {
  ...MADE_BY_ENGINE,
  source: { kind: "summary", summaryId: "s" },
});
const compacted = item(
  { role: "compactionSummary", summary: "before", tokensBefore: 9 } as AgentMessage,
  asHistory("e0"),
);
const said = item(user("hi"), asHistory("e1"));
const messagesOf = (items: readonly ViewItem[]) => items.map(({ message }) => message);

describe("messages that stay", () => {
  it("are summaries and what the engine made, at the head", () => {
    for (const [items, count] of [
      [[], 0],
      [[said], 0],
      [[said, made], 0],
      [[compacted, said], 1],
      [[made, bySummary, said, made], 2],
    ] as const)
      expect(stableMessages(items, messagesOf(items))).toBe(count);
  });

  it("are counted as the policy left them", () => {
    const items = [made, bySummary, said];
    const merged = { ...user("a summary, another") };
    expect(stableMessages(items, [merged, said.message])).toBe(0);
    expect(stableMessages(items, [made.message, said.message])).toBe(1);
  });
});
