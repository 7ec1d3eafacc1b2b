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

const contextWindow = 1000;

const silent = item("a", { role: "assistant", stopReason: "toolUse", content: [] });

describe("a view of a turn with parallel calls", () => {
  const results = ["one", "two", "three"].map(result);
  const turn = [prompt, called, ...results];

  it("holds all of their results", () => {
    expect(viewProblem(turn, { history: [], turn, contextWindow })).toBeUndefined();
  });

  it.each(["one", "two", "three"])("is not usable without that of %s", (id) => {
    const view = turn.filter((each) => each.id !== id);
    expect(viewProblem(view, { history: [], turn, contextWindow })).toContain(id);
    // The same where the calls themselves cannot be told from the reply.
    const bare = turn.map((each) => (each === called ? silent : each));
    const lacking = bare.filter((each) => each.id !== id);
    expect(viewProblem(lacking, { history: [], turn: bare, contextWindow })).toMatch(
      /lacks .* tool result/,
    );
  });
});

describe("a view with more of the engine's own than the model takes", () => {
  const words = (count: number) => ({
    role: "user" as const,
    content: "many words ".repeat(count),
  });
  const made = (count: number): ViewItem => ({
    id: undefined,
    message: words(count),
    why: { source: { kind: "engine" }, code: "history", reason: "history" },
  });
  const problem = (view: ViewItem[], history: ViewItem[]) =>
    viewProblem(view, { history, turn: null, contextWindow });

  it("is not usable where the history is smaller", () => {
    const history = [prompt, item("b", words(10))];
    expect(problem([...history, made(5000)], history)).toMatch(
      /^the view holds [\d,]+ tokens or more that the engine made itself, and the model takes 1,000, although the history is smaller$/,
    );
    expect(problem([...history, made(50)], history)).toBeUndefined();
  });

  it("is made smaller where the history is no smaller", () => {
    const history = [prompt, item("b", words(10_000))];
    expect(problem([prompt, made(5000)], history)).toBeUndefined();
    expect(problem(history, history)).toBeUndefined();
  });
});
