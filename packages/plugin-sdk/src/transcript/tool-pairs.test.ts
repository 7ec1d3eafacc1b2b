import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../contract/message.ts";
import { assistant, conversation, toolCall, toolResult, user } from "../testing/messages.ts";
import { atomicGroups, isSafeCut, pairToolCalls } from "./tool-pairs.ts";

const a = toolCall("read", {}, "a");
const b = toolCall("read", {}, "b");
const places = (messages: AgentMessage[]) =>
  pairToolCalls(messages).pairs.map(({ call, result }) => [call.message, call.block, result]);
const starts = (messages: AgentMessage[]) => atomicGroups(messages).map(({ start }) => start);

/** Any order of calls and results over three ids, each message as a file may hold it. */
const anyMessages = fc.array(
  fc.oneof(
    fc.constant(user("u")),
    fc.constant(assistant("t")),
    fc
      .subarray(["a", "b", "c"], { minLength: 1 })
      .map((ids) => assistant(ids.map((id) => toolCall("read", {}, id)))),
    fc.constantFrom("a", "b", "c").map((id) => toolResult({ id, name: "read" }, "r")),
  ),
  { maxLength: 25 },
);

describe("pairToolCalls", () => {
  it("pairs the results of parallel calls whatever their order", () => {
    expect(places([assistant([a, b]), toolResult(b, "2"), toolResult(a, "1")])).toEqual([
      [0, 1, 1],
      [0, 0, 2],
    ]);
  });

  it("pairs a repeated id with the newest open call before it, one result per call", () => {
    expect(
      places([assistant([a]), toolResult(a, "1"), assistant([a]), toolResult(a, "2")]),
    ).toEqual([
      [0, 0, 1],
      [2, 0, 3],
    ]);
    const abandoned = [assistant([a]), user("stop"), assistant([a]), toolResult(a, "1")];
    expect(places(abandoned)).toEqual([[2, 0, 3]]);
    expect(pairToolCalls(abandoned).unanswered).toMatchObject([{ message: 0, id: "a" }]);
  });

  it("pairs two calls of one id in one message in their order", () => {
    expect(places([assistant([a, a]), toolResult(a, "1"), toolResult(a, "2")])).toEqual([
      [0, 0, 1],
      [0, 1, 2],
    ]);
  });

  it("names results without a call, second results and results before their call as orphans", () => {
    expect(
      pairToolCalls([
        toolResult(a, "early"),
        assistant([a]),
        toolResult(a, "1"),
        toolResult(a, "again"),
      ]).orphanResults,
    ).toEqual([0, 3]);
  });

  it("accounts for every call and every result exactly once, for any messages", () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const { pairs, unanswered, orphanResults } = pairToolCalls(messages);
        const calls = [...pairs.map(({ call }) => call), ...unanswered].map(
          ({ message, block }) => `${message}/${block}`,
        );
        const results = [...pairs.map(({ result }) => result), ...orphanResults];
        const expectedCalls = messages.flatMap((message, index) =>
          message.role === "assistant"
            ? message.content.flatMap((block, at) =>
                block.type === "toolCall" ? [`${index}/${at}`] : [],
              )
            : [],
        );
        expect(calls.sort()).toEqual(expectedCalls.sort());
        expect(results.sort((x, y) => x - y)).toEqual(
          messages.flatMap((message, index) => (message.role === "toolResult" ? [index] : [])),
        );
        for (const { call, result } of pairs) expect(call.message).toBeLessThan(result);
      }),
    );
  });

  it("survives content that is no list of blocks", () => {
    const odd = JSON.parse(
      '[{"role":"assistant","content":null},{"role":"assistant","content":{"type":"toolCall","id":"a","name":"n"}},{"role":"toolResult","toolCallId":"a"}]',
    );
    expect(places(odd)).toEqual([[1, 0, 2]]);
  });
});

describe("atomicGroups", () => {
  it("holds a call and its results together, with whatever stands between them", () => {
    expect(
      starts([
        user("q"),
        assistant([a, b]),
        toolResult(a, "1"),
        user("wait"),
        toolResult(b, "2"),
        assistant("done"),
      ]),
    ).toEqual([0, 1, 5]);
  });

  it("leaves a call that nobody answered alone, and an orphan result with what precedes it", () => {
    expect(
      starts([user("q"), assistant([a]), user("other"), toolResult(b, "?"), assistant("x")]),
    ).toEqual([0, 1, 2, 4]);
  });

  it("covers all messages in order, parts no pair and starts no later group with a result, for any messages", () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const groups = atomicGroups(messages);
        expect(groups.flatMap(({ start, end }) => messages.slice(start, end))).toEqual(messages);
        const groupOf = (index: number) =>
          groups.findIndex(({ start, end }) => start <= index && index < end);
        for (const { call, result } of pairToolCalls(messages).pairs)
          expect(groupOf(call.message)).toBe(groupOf(result));
        for (const { start } of groups.slice(1))
          expect(messages[start]!.role).not.toBe("toolResult");
      }),
    );
  });

  it("is as small as it can be: a conversation splits into its messages but for the pairs", () => {
    expect(atomicGroups(conversation({ turns: 10, tools: 3 }))).toHaveLength(10 * 3);
  });
});

describe("isSafeCut", () => {
  it("allows the ends and every start of a group, nothing else", () => {
    const messages = [user("q"), assistant([a]), toolResult(a, "1"), assistant("done")];
    expect([0, 1, 2, 3, 4].map((index) => isSafeCut(messages, index))).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
  });
});
