import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { TEXTS } from "../texts.ts";
import { sanitizeToolUseResultPairing } from "./pair-tool-results.ts";

const clock = { now: () => 1000 };
const user = (content: string): AgentMessage => ({ role: "user", content });
const calls = (ids: string[], more: object = {}): AgentMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })),
  stopReason: "toolUse",
  ...more,
});
const result = (id: string, text = "ok", more: object = {}): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  ...more,
});
const missing = (id: string): AgentMessage =>
  result(id, TEXTS.missingToolResult, {
    isError: true,
    timestamp: 1000,
    details: { openclawSyntheticMissingToolResult: true },
  });
const pair = (messages: AgentMessage[], options: object = {}) =>
  sanitizeToolUseResultPairing({ messages, clock, ...options });

describe("pairing of tool calls and results", () => {
  it("returns the same array when every call is followed by its result", () => {
    const messages = [user("q"), calls(["a", "b"]), result("a"), result("b"), user("n")];
    expect(pair(messages)).toEqual({ messages, changes: [] });
    expect(pair(messages).messages).toBe(messages);
  });

  it("inserts an error result for a call that has none", () => {
    const { messages, changes } = pair([calls(["a"]), user("n")]);
    expect(messages).toEqual([calls(["a"]), missing("a"), user("n")]);
    expect(changes).toEqual([
      {
        rule: "pair-tool-results",
        action: "inserted",
        index: 1,
        reason: "a tool call without a result",
      },
    ]);
  });

  it("drops a result that answers no call, before the first call or after it", () => {
    const { messages, changes } = pair([
      result("x"),
      calls(["a"]),
      result("a"),
      result("y"),
      user("n"),
    ]);
    expect(messages).toEqual([calls(["a"]), result("a"), user("n")]);
    expect(changes.map(({ action, index }) => [action, index])).toEqual([
      ["dropped", 0],
      ["dropped", 3],
    ]);
  });

  it("moves a result up to its call and lets what stood between follow", () => {
    const { messages, changes } = pair([calls(["a"]), user("mid"), result("a")]);
    expect(messages).toEqual([calls(["a"]), result("a"), user("mid")]);
    expect(changes.map(({ action }) => action)).toEqual(["moved"]);
  });

  it("orders sibling results as their calls", () => {
    expect(pair([calls(["a", "b"]), result("b"), result("a")]).messages).toEqual([
      calls(["a", "b"]),
      result("a"),
      result("b"),
    ]);
  });

  it("keeps the first of two results, and a real one before a made-up one", () => {
    expect(pair([calls(["a"]), result("a", "first"), result("a", "second")]).messages).toEqual([
      calls(["a"]),
      result("a", "first"),
    ]);
    expect(pair([calls(["a"]), missing("a"), result("a", "real")]).messages).toEqual([
      calls(["a"]),
      result("a", "real"),
    ]);
  });

  it("pairs a repeated id in each turn it occurs in", () => {
    const messages = [
      calls(["a"]),
      result("a", "one"),
      user("q"),
      calls(["a"]),
      result("a", "two"),
    ];
    expect(pair(messages).messages).toBe(messages);
    expect(pair([calls(["a"]), user("q"), calls(["a"]), result("a", "two")]).messages).toEqual([
      calls(["a"]),
      missing("a"),
      user("q"),
      calls(["a"]),
      result("a", "two"),
    ]);
  });

  it("takes a result from after a later call when none stands nearer", () => {
    const { messages } = pair([calls(["a"]), calls(["b"]), result("b"), result("a", "late")]);
    expect(messages).toEqual([calls(["a"]), result("a", "late"), calls(["b"]), result("b")]);
  });

  it("drops a failed turn and its results when asked, text included, and otherwise makes nothing up for it", () => {
    const failed = calls(["a"], { stopReason: "error" });
    expect(
      pair([user("q"), failed, result("a"), user("n")], { failedTurns: "drop" }).messages,
    ).toEqual([user("q"), user("n")]);
    expect(pair([user("q"), failed, user("n")]).messages).toEqual([user("q"), failed, user("n")]);
  });

  it("adopts a result without an id for the only call, as an error, unless it names another tool", () => {
    const nameless = { ...result("a"), toolCallId: undefined } as unknown as AgentMessage;
    expect(pair([calls(["a"]), nameless]).messages).toEqual([
      calls(["a"]),
      result("a", "ok", { isError: true }),
    ]);
    expect(
      pair([calls(["a"]), { ...nameless, toolName: "write" } as AgentMessage]).messages,
    ).toEqual([calls(["a"]), missing("a")]);
  });

  it("reads the id from any of the known fields and gives a nameless result the name of its call", () => {
    const other = {
      role: "toolResult",
      call_id: "a",
      toolName: " ",
      content: [],
      isError: false,
    } as unknown as AgentMessage;
    expect(pair([calls(["a"]), other]).messages).toEqual([
      calls(["a"]),
      { ...other, toolName: "read" },
    ]);
  });

  it("changes nothing on a second run and never its input", () => {
    const messages = [
      result("z"),
      calls(["a", "b"]),
      user("m"),
      result("b"),
      calls(["c"]),
      result("a"),
    ];
    const before = structuredClone(messages);
    const once = pair(messages).messages;
    expect(messages).toEqual(before);
    expect(sanitizeToolUseResultPairing({ messages: once, clock }).messages).toBe(once);
  });
});
