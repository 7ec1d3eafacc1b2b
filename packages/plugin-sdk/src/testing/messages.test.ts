import { describe, expect, it } from "vitest";
import { AgentMessageSchema } from "../contract/message.ts";
import { pairToolCalls } from "../transcript/tool-pairs.ts";
import { splitTurns } from "../transcript/turns.ts";
import {
  assistant,
  conversation,
  FIRST_TIMESTAMP,
  toolCall,
  toolResult,
  user,
} from "./messages.ts";

describe("message builders", () => {
  it("build valid messages with a fixed time", () => {
    const call = toolCall("read", { path: "a" });
    const messages = [
      user("hi"),
      assistant([call]),
      toolResult(call, "text", { isError: true }),
      assistant("bye", { model: "m" }),
    ];
    for (const message of messages) expect(AgentMessageSchema.parse(message)).toEqual(message);
    expect(messages.map(({ timestamp }) => timestamp)).toEqual(Array(4).fill(FIRST_TIMESTAMP));
    expect(
      messages.map((message) => ("stopReason" in message ? message.stopReason : null)),
    ).toEqual([null, "toolUse", null, "stop"]);
    expect(new Date(FIRST_TIMESTAMP).toISOString()).toBe("2026-01-01T00:00:00.000Z");
  });

  it("give different calls different ids, and the same call always the same", () => {
    expect(toolCall("read", { path: "a" })).toEqual(toolCall("read", { path: "a" }));
    expect(toolCall("read", { path: "a" }).id).not.toBe(toolCall("read", { path: "b" }).id);
    expect(toolCall("read", {}, "mine").id).toBe("mine");
  });
});

describe("conversation", () => {
  it("has the asked turns and tool calls, all answered, in rising time, the same every time", () => {
    const messages = conversation({ turns: 5, tools: 3, toolResultChars: 50 });
    expect(messages).toEqual(conversation({ turns: 5, tools: 3, toolResultChars: 50 }));
    expect(splitTurns(messages)).toHaveLength(5);
    expect(pairToolCalls(messages)).toMatchObject({ unanswered: [], orphanResults: [] });
    expect(pairToolCalls(messages).pairs).toHaveLength(15);
    messages.forEach((message, index) => {
      expect(message.timestamp).toBe(FIRST_TIMESTAMP + index * 1000);
    });
    expect(conversation({ turns: 2 })).toHaveLength(4);
  });
});
