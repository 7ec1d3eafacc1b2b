import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { describe, expect, it } from "vitest";
import { promptAddition } from "./prompt-addition.ts";

const record = { name: "r", record: "…", time: null, covered: 3, request: null, parts: new Map() };
const view = { items: [], tokens: { estimate: 0, low: 0, high: 0 }, hidden: 3 };
const params = { sessionId: "s", messages: [], availableTools: new Set(["lcm_grep"]) };

describe("what the system prompt says of recall", () => {
  it("takes at most 300 tokens, names the tools, and says how to reach hidden ones", async () => {
    const said = promptAddition({ ...view, record }, params)!;
    expect((await loadExactCounter()).count(said)).toBeLessThanOrEqual(300);
    for (const words of ["lcm_grep", "lcm_describe", "tool search", "instruction"])
      expect(said).toContain(words);
  });

  it("is the same whatever is hidden, and nothing while all is shown", () => {
    const other = { ...record, name: "other", covered: 900 };
    expect(promptAddition({ ...view, record: other }, params)).toBe(
      promptAddition({ ...view, record }, params),
    );
    expect(promptAddition({ ...view, record: null }, params)).toBeUndefined();
  });
});
