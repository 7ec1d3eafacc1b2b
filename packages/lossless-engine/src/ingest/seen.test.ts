import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { session, setUpRecall } from "../testing/recall.ts";
import { withIds } from "../testing/stored.ts";

/** As a host shows a session whose process was killed while a tool ran. */
const shownAt = (now: number, mark: object): AgentMessage[] => {
  const [asked, called, ...rest] = withIds([
    user("Count the ferries."),
    assistant([toolCall("count", {}, "call_1")]),
    user("Are you there?"),
    assistant("Yes."),
  ]);
  const madeUp = {
    ...toolResult({ id: "call_1", name: "count" }, "(never answered)", { isError: true }),
    ...mark,
  };
  return [asked!, called!, { ...madeUp, timestamp: now } as AgentMessage, ...rest];
};

describe("what a view shows", () => {
  it("is stored but for results that the host made up for it, which are new in every view", async () => {
    for (const mark of [{ details: { openclawSyntheticMissingToolResult: true } }, {}]) {
      const { engine, call } = setUpRecall();
      const tokenBudget = 32_000;
      const hour = 3_600_000;
      for (const turn of [1, 2, 3]) {
        const messages = shownAt(Date.parse("2026-02-01") + turn * hour, mark);
        await engine.assemble({ ...session, messages, tokenBudget });
      }
      expect(await call("lcm_grep", { pattern: "ferries" })).toContain("All 4 messages");
      expect(await call("lcm_grep", { pattern: "answered" })).toMatch(/^Nothing found/);
    }
  });
});
