import type { ItemCode } from "@clew/engine-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContextView, ContextViewItem } from "../src/reports/context-view.ts";
import { asCounted, indexOfPrompt, planBudgetBar } from "./budget.ts";

const item = (code: ItemCode, tokens: number, role = "user"): ContextViewItem => ({
  source: { kind: "entry", entryId: "e" },
  role,
  code,
  reason: code,
  tokens,
  hash: "h",
  preview: "",
  chars: 0,
});

const budget = (contextWindow: number, reserve: number) => ({
  contextWindow,
  reserve,
  promptBudget: contextWindow - reserve,
  fixedTokens: 0,
  tokenBudget: 1,
  assembled: null,
  engineEstimate: null,
  historyMessages: 0,
  assembledMessages: 0,
});

function measured(system: number, tools: number, messages: ContextViewItem[]) {
  const sum = messages.reduce((total, { tokens }) => total + tokens, 0);
  const total = system + tools + sum;
  return {
    messages,
    tokens: { system, tools, messages: sum, program: 0, total },
    size: { tokens: total, source: "estimated" as const, water: null },
  };
}

describe("the items of a call", () => {
  it("have their shares of what the provider counted", () => {
    const messages = [item("history", 50), item("prompt", 30)];
    const counted = { tokens: 200, source: "counted" as const, water: null };
    const view = { ...measured(20, 0, messages), size: counted };
    const shares = asCounted({
      ...view,
      system: [item("system-prompt", 20)],
      tools: [],
    } as unknown as ContextView);
    expect([...shares.system, ...shares.messages].map(({ tokens }) => tokens)).toEqual([
      40, 100, 60,
    ]);
  });
});

describe("the budget bar", () => {
  it("tells history from the running turn, tool results included", () => {
    const messages = [
      item("history", 50),
      item("history", 30, "assistant"),
      item("prompt", 7),
      item("history", 4, "assistant"),
      item("history", 9, "toolResult"),
    ];
    const plan = planBudgetBar({ ...measured(10, 20, messages), budget: budget(1000, 200) });
    expect(plan.sent).toEqual([
      { kind: "system", label: "System + tools", tokens: 30 },
      { kind: "history", label: "History", tokens: 80 },
      { kind: "prompt", label: "Prompt + its tools", tokens: 20 },
    ]);
    expect(plan.rest.map(({ tokens }) => tokens)).toEqual([670, 200]);
  });

  it("adds up to the window when it fits, and shows by how much it does not", () => {
    const sizes = fc.nat({ max: 5000 });
    fc.assert(
      fc.property(
        sizes,
        sizes,
        fc.array(sizes, { maxLength: 5 }),
        sizes,
        (system, tools, messages, reserve) => {
          const window = reserve + 4000;
          const plan = planBudgetBar({
            ...measured(
              system,
              tools,
              messages.map((tokens) => item("history", tokens)),
            ),
            budget: budget(window, reserve),
          });
          const sum = (list: readonly { tokens: number }[]) =>
            list.reduce((total, { tokens }) => total + tokens, 0);
          expect(sum(plan.sent)).toBe(plan.total);
          expect(sum(plan.sent) + sum(plan.rest)).toBe(plan.scale);
          expect(plan.over > 0).toBe(plan.total > 4000);
        },
      ),
    );
  });

  it("has a part of its own for what a program added to its request", () => {
    const { tokens, ...view } = measured(10, 20, [item("history", 50), item("prompt", 20)]);
    const size = { tokens: 1_000, source: "counted" as const, water: null };
    const sent = planBudgetBar({
      ...{ ...view, size, budget: budget(4_000, 1_000) },
      tokens: { ...tokens, program: 900, total: 1_000 },
    }).sent.map((part) => [part.kind, part.tokens]);
    expect(sent).toEqual([
      ["system", 30],
      ["history", 50],
      ["prompt", 20],
      ["program", 900],
    ]);
  });

  it("shares out what the provider counted as the items were estimated", () => {
    const view = measured(10, 20, [item("history", 50), item("prompt", 20)]);
    const size = { tokens: 1_000, source: "counted" as const, water: null };
    const plan = planBudgetBar({ ...view, size, budget: budget(4_000, 1_000) });
    expect(plan.sent.map(({ tokens }) => tokens)).toEqual([300, 500, 200]);
    expect(plan.rest.map(({ tokens }) => tokens)).toEqual([2_000, 1_000]);
    expect(plan.total).toBe(1_000);
  });

  it("shows what was sent when the window is not known", () => {
    expect(planBudgetBar({ ...measured(5, 0, [item("prompt", 5)]), budget: null })).toMatchObject({
      window: null,
      scale: 10,
      rest: [],
      over: 0,
    });
  });

  it("takes a changed prompt, else the last person's message, for the beginning of the turn", () => {
    expect(
      indexOfPrompt([
        item("history", 1),
        { ...item("prompt", 1), reason: "prompt, with what hooks added", changed: true },
        item("history", 1, "toolResult"),
      ]),
    ).toBe(1);
    expect(indexOfPrompt([item("engine", 1), item("history", 1, "assistant")])).toBe(0);
    expect(indexOfPrompt([item("history", 1, "assistant")])).toBe(1);
  });
});
