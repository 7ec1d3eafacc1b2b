import { describe, expect, it } from "vitest";
import { planSuccessor } from "./successor.ts";

const current = { agentId: "main", sessionId: "one", sessionKey: "agent:main:main" };
const result = { tokensBefore: 2, tokensAfter: 1, sessionId: "two" };

describe("the transcript that a compaction made", () => {
  it("is adopted when the compaction succeeded and changed something", () => {
    expect(planSuccessor(current, { ok: true, compacted: true, result })).toEqual({
      kind: "adopt",
      sessionId: "two",
      sessionFile: undefined,
    });
  });

  it.each([
    { ok: false, compacted: true },
    { ok: true, compacted: false },
    { ok: false, compacted: false },
  ])("is refused after %o", (outcome) => {
    expect(planSuccessor(current, { ...outcome, result }).kind).toBe("refuse");
  });

  it.each([
    { agentId: "other", sessionId: "two" },
    { agentId: "main", sessionId: "two", sessionKey: "agent:main:other" },
    { agentId: "main", sessionId: "three" },
  ])("is refused when it is said to be %o", (sessionTarget) => {
    const made = { ok: true, compacted: true, result: { ...result, sessionTarget } };
    expect(planSuccessor(current, made).kind).toBe("refuse");
  });

  it("is none when it is the same", () => {
    const same = { ...result, sessionId: "one" };
    expect(planSuccessor(current, { ok: true, compacted: true, result: same }).kind).toBe("none");
  });
});
