import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { asHistory, type ViewItem } from "./view-item.ts";
import { viewProblem } from "./view-problem.ts";

const item = (id: string, message: AgentMessage): ViewItem => ({
  id,
  message,
  why: asHistory(id),
});
const result = (id: string): ViewItem =>
  item(id, {
    role: "toolResult",
    toolCallId: id,
    toolName: "t",
    content: [{ type: "text", text: "x" }],
    isError: false,
  });
const prompt = item("p", { role: "user", content: "go" });
const called = item("a", {
  role: "assistant",
  stopReason: "toolUse",
  content: ["one", "two", "three"].map((id) => ({
    ...{ type: "toolCall" as const, id, name: "t" },
    arguments: {},
  })),
});

const silent = item("a", { role: "assistant", stopReason: "toolUse", content: [] });

describe("a view of a turn with parallel calls", () => {
  const results = ["one", "two", "three"].map(result);
  const turn = [prompt, called, ...results];

  it("holds all of their results", () => {
    expect(viewProblem(turn, { history: [], turn })).toBeUndefined();
  });

  it.each(["one", "two", "three"])("is not usable without that of %s", (id) => {
    const view = turn.filter((each) => each.id !== id);
    expect(viewProblem(view, { history: [], turn })).toContain(id);
    // The same where the calls themselves cannot be told from the reply.
    const bare = turn.map((each) => (each === called ? silent : each));
    const lacking = bare.filter((each) => each.id !== id);
    expect(viewProblem(lacking, { history: [], turn: bare })).toMatch(/lacks .* tool result/);
  });
});
