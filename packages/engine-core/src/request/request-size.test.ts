import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { describe, expect, it } from "vitest";
import { createSessionState } from "../index.ts";
import { excessOf, measure, sizeOf } from "./request-size.ts";

const user = (content: string): AgentMessage => ({ role: "user", content });
const usage: Usage = { input: 100, output: 40, cacheRead: 20, cacheWrite: 3, totalTokens: 163 };

describe("what a provider counted", () => {
  const sent = [user("a")];
  const reply: AgentMessage = {
    ...{ role: "assistant", stopReason: "stop", content: [{ type: "text", text: "b" }] },
    __openclaw: { id: "r" },
  };
  const measurement = { ...measure(sent, usage)!, replyId: "r" };
  const sizes = () => ({ ...createSessionState(), measurement });

  it("is the prompt, cached or not, and the reply, which is part of the next one", () => {
    expect(measurement.tokens).toBe(163);
    expect(sizeOf(sizes(), [...sent, reply]).counted).toEqual({ tokens: 163, after: 0 });
  });

  it("that is beyond the estimate counts in proportion, the reply included", () => {
    const state = createSessionState();
    const long: AgentMessage = {
      ...{
        role: "assistant",
        stopReason: "stop",
        content: [{ type: "text", text: "b ".repeat(2_000) }],
      },
    };
    const replied = estimateMessage(long).estimate;
    const asked = estimateMessage(sent[0]!).estimate;
    const twice = { ...measurement, tokens: 2 * (asked + replied) };
    const given = { fixedTokens: 0, tokenRatio: 1, promptBudget: 10_000 };
    expect(excessOf({ ...state, measurement: twice }, long, given)).toBe(5_000);
    const exact = { ...measurement, tokens: asked + replied };
    expect(excessOf({ ...state, measurement: exact }, long, given)).toBe(0);
  });

  it("holds of a request that was made before the session was opened, by its messages' ids", () => {
    const named = (id: string): AgentMessage => ({ ...user("a"), __openclaw: { id } });
    const recalled = (ids: readonly (string | undefined)[]) => ({
      ...createSessionState(),
      measurement: { ids, tokens: 900 },
    });
    const news = user("and now?");
    const after = estimateMessage(news).estimate;
    const view = [named("u"), reply, news];
    expect(sizeOf(recalled(["u", "r"]), view).counted).toEqual({ tokens: 900, after });
    const given = { fixedTokens: 0, tokenRatio: 1, promptBudget: 10_000 };
    expect(excessOf(recalled(["u", "r"]), reply, given)).toBe(0);
    for (const ids of [["u", undefined], ["u", "x"], ["u", "r", "x", "y"], []])
      expect(sizeOf(recalled(ids), view).counted).toBeNull();
  });

  it("says nothing of a view that begins otherwise", () => {
    expect(sizeOf(sizes(), [user("other"), reply]).counted).toBeNull();
    expect(sizeOf(sizes(), [reply]).counted).toBeNull();
  });
});
