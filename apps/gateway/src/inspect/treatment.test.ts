import type { ToolResultMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import type { RecordedForm } from "./stored-message.ts";
import { planTreatment } from "./treatment.ts";

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
      { kind: "changed", rule: "tool-call-ids" },
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

it("a message that others were joined to is changed by the rule that did it", () => {
  const said = { role: "user" as const, content: "one" };
  const sent = { role: "user" as const, content: [...text("one"), ...text("two")] };
  const joined = { stored: said, sent, forms: [], joinedBy: "validate-turns", rules };
  expect(planTreatment(joined).marks).toEqual([{ kind: "changed", rule: "validate-turns" }]);
});
