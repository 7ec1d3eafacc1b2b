// Puts messages of clients into groups.
import { describe, expect, it } from "vitest";
import { type Grouped, groupsOf } from "./groups.ts";

const message = (speaker: Grouped["speaker"], more: Partial<Grouped> = {}): Grouped => ({
  ...{ speaker, calls: [], answers: [], text: "words" },
  ...more,
});

const shape = (messages: readonly Grouped[]) =>
  groupsOf(messages).map(({ start, end, kind }) => `${kind} ${start}-${end}`);

describe("a group", () => {
  it("has the system message that stands behind it, which may stand nowhere else", () => {
    const system = message("system");
    const results = message("tools", { answers: ["a"] });
    const calling = message("model", { calls: ["a"] });
    expect(shape([message("person"), calling, results, system, message("model")])).toEqual([
      ...["pair 1-4", "said 4-5"],
    ]);
    expect(shape([message("model"), system, message("person"), system])).toEqual([
      ...["said 0-2", "said 2-4"],
    ]);
  });
});
