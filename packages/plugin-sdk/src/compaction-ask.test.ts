import { expect, it } from "vitest";
import { COMPACTION_TRIGGERS, compactionAskOf } from "./compaction-ask.ts";

const session = { sessionId: "s", sessionFile: "/s.jsonl" };

it.each(COMPACTION_TRIGGERS)("a trigger the host names is the trigger: %s", (trigger) => {
  const named = { ...session, force: true, runtimeContext: { trigger } };
  expect(compactionAskOf(named).trigger).toBe(trigger);
});

it.each([
  [{ runtimeContext: { manualCompaction: true }, force: true }, "manual"],
  [{ runtimeContext: { trigger: "nobody knows this one" }, force: true }, "budget"],
  [{ force: true }, "budget"],
  [{ force: false }, "threshold"],
  [{}, "threshold"],
])("without one it is understood from the rest: %o is %s", (params, trigger) => {
  expect(compactionAskOf({ ...session, ...params }).trigger).toBe(trigger);
});

it("focus and counts are taken as they are", () => {
  const params = { customInstructions: "the tests", tokenBudget: 9, currentTokenCount: 8 };
  expect(compactionAskOf({ ...session, ...params })).toEqual({
    trigger: "threshold",
    focus: "the tests",
    tokenBudget: 9,
    currentTokenCount: 8,
  });
});
