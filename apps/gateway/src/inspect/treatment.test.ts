import type { AgentMessage, ToolResultMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import type { RecordedForm } from "./stored-message.ts";
import { markOfCallIds, planTreatment } from "./treatment.ts";

const text = (words: string) => [{ type: "text" as const, text: words }];
const stored: ToolResultMessage = {
  ...{ role: "toolResult", toolCallId: "call_1", toolName: "read", isError: false },
  content: text("tide ".repeat(100)),
};
const rules = { words: 'engine "careless"', callIds: "tool-call-ids" };
const forms: RecordedForm[] = [
  { words: "[gone]", rule: "prune (compaction)", isCleared: true },
  { words: "tide", rule: "contextPruning", isCleared: false },
];
const treated = (sent: Partial<ToolResultMessage>, joinedBy: string | null = null) =>
  planTreatment({ stored, sent: { ...stored, ...sent }, forms, joinedBy, rules });

describe("what a result was sent as", () => {
  it("is told by who cut it, and beside that by who gave it another call id", () => {
    const { marks } = treated({ content: text("tide tide"), toolCallId: "call1" });
    expect(marks.map(({ kind, rule }) => [kind, rule])).toEqual([
      ["shortened", 'engine "careless"'],
      ["changed", "tool-call-ids"],
    ]);
    expect(treated({ toolCallId: "call1" }).marks).toEqual([
      { kind: "changed", rule: "tool-call-ids", ids: [{ from: "call_1", to: "call1" }] },
    ]);
    expect(treated({ isError: true }).marks).toEqual([
      { kind: "changed", rule: 'engine "careless"' },
    ]);
  });

  it("is cleared by the record whose placeholder stands there, though another shortened it", () => {
    expect(treated({ content: text("[gone]") })).toEqual({
      ...{ cleared: "prune (compaction)", marks: [] },
    });
    expect(treated({ content: text("tide") }).marks).toMatchObject([
      { kind: "shortened", rule: "contextPruning" },
    ]);
  });

  it("is the engine's doing where it says neither what is stored nor what a record says", () => {
    expect(treated({ content: text("[cleared]") })).toMatchObject({
      ...{ cleared: null, marks: [{ kind: "shortened", rule: 'engine "careless"' }] },
    });
  });
});

describe("what anybody said was sent as", () => {
  const words = "The tide comes in at seven. ".repeat(20);
  const cut = '[405 characters cut here to make room; lcm_describe with id "m1" shows all of it]';
  const said = (role: "user" | "assistant", content: object[]) =>
    ({ role, content }) as AgentMessage;
  const treatedAs = (before: AgentMessage, sent: AgentMessage) =>
    planTreatment({ stored: before, sent, forms: [], joinedBy: null, rules });

  it("is cleared where a placeholder alone stands for it, and shortened where words are left", () => {
    for (const role of ["user", "assistant"] as const) {
      const whole = said(role, text(words));
      expect(treatedAs(whole, said(role, text(`\n${cut}\n`)))).toEqual({
        ...{ cleared: 'engine "careless"', marks: [] },
      });
      const { cleared, marks } = treatedAs(whole, said(role, text(`The tide\n${cut}\nseven. `)));
      expect([cleared, marks]).toMatchObject([
        null,
        [{ kind: "shortened", rule: 'engine "careless"' }],
      ]);
      const [mark] = marks;
      if (mark?.kind === "shortened") expect(mark.from).toBeGreaterThan(mark.to);
    }
  });

  it("is shortened, not cleared, while its tool calls are still sent", () => {
    const call = { type: "toolCall", id: "c1", name: "read", arguments: {} };
    const sent = said("assistant", [...text(cut), call]);
    expect(treatedAs(said("assistant", [...text(words), call]), sent)).toMatchObject({
      ...{ cleared: null, marks: [{ kind: "shortened" }] },
    });
  });

  it("is changed where nothing of it was cut", () => {
    const sent = said("user", text(`[from ana] ${words}`));
    expect(treatedAs(said("user", text(words)), sent).marks).toEqual([
      { kind: "changed", rule: 'engine "careless"' },
    ]);
  });
});

it("a message that others were joined to is changed by the rule that did it", () => {
  const said = { role: "user" as const, content: "one" };
  const sent = { role: "user" as const, content: [...text("one"), ...text("two")] };
  const joined = { stored: said, sent, forms: [], joinedBy: "validate-turns", rules };
  expect(planTreatment(joined).marks).toEqual([{ kind: "changed", rule: "validate-turns" }]);
});

it("a call under the id that is stored is no change, and under another tells both", () => {
  expect(markOfCallIds(stored, ["call_1"], "tool-call-ids")).toEqual([]);
  expect(treated({ toolCallId: "call_1" }).marks).toEqual([]);
  const calling = {
    role: "assistant" as const,
    content: ["call_1", "call2"].map((id) => {
      return { type: "toolCall" as const, id, name: "read", arguments: {} };
    }),
    stopReason: "toolUse" as const,
  };
  expect(markOfCallIds(calling, ["call1", "call2"], "tool-call-ids")).toEqual([
    { kind: "changed", rule: "tool-call-ids", ids: [{ from: "call_1", to: "call1" }] },
  ]);
});
