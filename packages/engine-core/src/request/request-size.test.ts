import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { createSessionState } from "../index.ts";
import { measure, sizeOf } from "./request-size.ts";

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

  it("says nothing of a view that begins otherwise", () => {
    expect(sizeOf(sizes(), [user("other"), reply]).counted).toBeNull();
    expect(sizeOf(sizes(), [reply]).counted).toBeNull();
  });
});
