import type { AgentMessage, AssistantMessage, ToolResultMessage } from "@clew/plugin-sdk/core";
import { ZERO_USAGE } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { advanceRequest, emptyRequestMemory, tokensAmong } from "./request-items.ts";
import { sharedPrefix } from "./shared-prefix.ts";
import { asHistory, whyOf } from "./view-item.ts";

const reply: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "Done." }],
  stopReason: "stop",
  usage: { ...ZERO_USAGE, input: 7, totalTokens: 7 },
};
const result: ToolResultMessage = {
  role: "toolResult",
  toolCallId: "a",
  toolName: "read",
  content: [{ type: "text", text: "tide" }],
  isError: false,
  details: { bytes: 4 },
};

function describeSent(stored: AgentMessage, sent: AgentMessage) {
  const { messages, parts } = advanceRequest({
    ...{ model: "m", system: [], tools: [], messages: [sent], hash: (text) => text },
    whyOf: () => whyOf({ id: "1", message: stored, why: asHistory("1") }, sent),
    prefixOf: sharedPrefix,
    memory: emptyRequestMemory(),
  });
  return { changed: messages.items[0]!.changed === true, parts: Object.keys(parts).length };
}

describe("what is reported of a stored message that was sent", () => {
  it("is no copy where it says what is stored, whatever a host remembers of it", () => {
    const { details: _details, ...bare } = result;
    for (const [stored, sent] of [
      [reply, reply],
      [reply, { ...reply, usage: ZERO_USAGE }],
      [reply, { ...reply, timestamp: 5 }],
      [result, bare],
    ] as const)
      expect(describeSent(stored, sent)).toEqual({ changed: false, parts: 0 });
  });

  it("is no copy where the ids of calls alone are others", () => {
    const call = { type: "toolCall" as const, id: "a", name: "read", arguments: { path: "x" } };
    const calling: AssistantMessage = { ...reply, content: [call], stopReason: "toolUse" };
    const { details: _details, ...bare } = result;
    const called: AssistantMessage = { ...calling, content: [{ ...call, id: "b" }] };
    const renamed = { changed: true, parts: 0 };
    expect(describeSent(result, { ...bare, toolCallId: "b" })).toEqual(renamed);
    expect(describeSent(calling, { ...called, usage: ZERO_USAGE })).toEqual(renamed);
    const other = { ...bare, toolCallId: "b", content: [{ type: "text" as const, text: "ebb" }] };
    expect(describeSent(result, other)).toEqual({ changed: true, parts: 1 });
  });

  it("is a changed copy where it says something else", () => {
    const other = { ...reply, content: [{ type: "text" as const, text: "Not done." }] };
    expect(describeSent(reply, other)).toEqual({ changed: true, parts: 1 });
  });
});

describe("the beginning that two requests have in common", () => {
  const memory = emptyRequestMemory();
  const describeNext = (messages: AgentMessage[]) =>
    advanceRequest({
      ...{ model: "m", system: [], tools: [], messages, hash: (text) => text, memory },
      whyOf: (_message, index) => asHistory(String(index)),
      prefixOf: sharedPrefix,
    });

  it("is told anew from where a message says the same and is another one, as a second summary", () => {
    const own = { ...emptyRequestMemory(), deltas: 0 };
    const summary = (id: string): AgentMessage => ({
      ...{ role: "compactionSummary", summary: "The tide.", tokensBefore: 9 },
      __openclaw: { id },
    });
    const describeFrom = (id: string) =>
      advanceRequest({
        ...{ model: "m", system: [], tools: [], messages: [summary(id), result], memory: own },
        ...{ hash: (text: string) => text, prefixOf: sharedPrefix },
        whyOf: (_message, index) => asHistory(index === 0 ? id : "result"),
      });
    const first = describeFrom("one");
    const next = describeFrom("two");
    expect(next.messages.kept).toBe(0);
    expect(next.messages.items.map(({ source }) => source)).toEqual([
      { kind: "entry", entryId: "two" },
      { kind: "entry", entryId: "result" },
    ]);
    // A cache knows no sources.
    expect(next.shared).toEqual({ messages: 2, tokens: first.messages.tokens, moved: 0 });
    expect(next.requestHash).toBe(first.requestHash);
  });

  it("goes past replies whose token counts alone are other ones", () => {
    const first = describeNext([reply, result]);
    const next = describeNext([
      { ...reply, usage: ZERO_USAGE, timestamp: 5 },
      { ...result, details: { bytes: 5 } },
    ]);
    expect(next.shared.messages).toBe(2);
    expect(next.messages).toMatchObject({ kept: 2, items: [] });
    expect(next.requestHash).toBe(first.requestHash);
  });

  it("ends where something else is said", () => {
    describeNext([reply, result]);
    const next = describeNext([reply, { ...result, isError: true }]);
    expect(next.shared.messages).toBe(1);
  });
});

it("a message that was sent before is found again behind a summary, as often as it was sent", () => {
  const memory = emptyRequestMemory();
  const say = (texts: readonly string[]) =>
    advanceRequest({
      ...{ model: "m", system: [], tools: [], hash: (text: string) => text, memory },
      messages: texts.map((text) => ({ role: "user" as const, content: text })),
      whyOf: (message) => whyOf({ id: "1", message, why: asHistory("1") }, message),
      prefixOf: sharedPrefix,
    });
  say(["first", "old", "kept word for word", "ok"]);
  const { items } = say(["first", "a summary", "kept word for word", "ok", "ok", "new"]).messages;
  const moved = tokensAmong(items, [items[1]!.hash, items[2]!.hash]);
  const again = say(["first", "old", "kept word for word", "ok"]).shared;
  expect(again).toMatchObject({ messages: 1, moved });
});
