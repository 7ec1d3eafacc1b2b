import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../contract/message.ts";
import { toModelMessage } from "../messages/model-view.ts";
import { planBulkCut } from "../record/bulk-cut.ts";
import { assistant, toolCall, toolResult, user } from "../testing/messages.ts";
import { messageId, sameMessage, withMessageId } from "./message-id.ts";
import { applyPrune, planPrune } from "./prune.ts";
import { applySessionPrune } from "./session-projection.ts";
import { capToolResults } from "./tool-result-caps.ts";

const withId = (id: unknown, message: AgentMessage = user("q")) =>
  ({ ...message, __openclaw: { id } }) as AgentMessage;

describe("messageId", () => {
  it("is what the host wrote on the message, also on a copy", () => {
    expect(messageId(withId("a"))).toBe("a");
    expect(messageId(structuredClone(withId("a")))).toBe("a");
    expect(messageId(JSON.parse(JSON.stringify(withId("a"))))).toBe("a");
  });

  it("is undefined where the host wrote none, or something that is no id", () => {
    expect(messageId(user("q"))).toBeUndefined();
    expect(messageId(user("q", { __openclaw: { runId: "r" } }))).toBeUndefined();
    for (const id of [7, "", null, {}, ["a"]]) expect(messageId(withId(id))).toBeUndefined();
  });
});

describe("withMessageId", () => {
  it("gives the id and keeps everything else", () => {
    const message = user("q", { __openclaw: { senderId: "u7" } });
    expect(withMessageId(message, "a")).toEqual({
      ...message,
      __openclaw: { senderId: "u7", id: "a" },
    });
    expect(message.__openclaw).toEqual({ senderId: "u7" });
  });

  it("gives the very message when it has that id, and a copy when it has another", () => {
    const message = withId("a");
    expect(withMessageId(message, "a")).toBe(message);
    expect(messageId(withMessageId(message, "b"))).toBe("b");
    expect(messageId(message)).toBe("a");
  });
});

describe("whatever shortens or shows a message", () => {
  const long = fc.nat({ max: 400 }).map((size) => "word ".repeat(size * 200));
  const session = fc.array(long, { minLength: 1, maxLength: 12 }).map((texts) =>
    texts
      .flatMap((text, turn): AgentMessage[] => {
        const call = toolCall("read", {}, `call_${turn}`);
        return [user(`q${turn}`), assistant([call]), toolResult(call, text), assistant("done")];
      })
      .map((message, index) => withMessageId(message, `m${index}`)),
  );
  const views: Record<string, (messages: readonly AgentMessage[]) => readonly AgentMessage[]> = {
    prune: (messages) =>
      applyPrune(messages, planPrune(messages, { protectTokens: 0, minimumTokens: 0 }), { now: 1 }),
    caps: (messages) => capToolResults(messages, 4_000),
    "bulk cut": (messages) => {
      const { cuts } = planBulkCut(messages, {
        ...{ contextWindow: 4_000, freeTokens: Number.MAX_VALUE, leastTokens: 0 },
      });
      const cut = new Map(cuts.map(({ index, message }) => [index, message]));
      return messages.map((message, index) => cut.get(index) ?? message);
    },
    "session prune": (messages) =>
      applySessionPrune(
        messages,
        messages.map((_, index) =>
          index % 8 === 2
            ? { kind: "hard", entryId: `m${index}`, placeholder: "gone" }
            : { kind: "soft", entryId: `m${index}`, headChars: 9, tailChars: 9 },
        ),
        messageId,
      ),
    "model view": (messages) => messages.map((message) => toModelMessage(message)!),
  };

  it.each(Object.keys(views))("keeps its id: %s", (name) => {
    fc.assert(
      fc.property(session, (messages) => {
        expect(views[name]!(messages).map(messageId)).toEqual(messages.map(messageId));
      }),
    );
  });

  it("keeps what the host wrote on notes and summaries when a model is shown them", () => {
    const __openclaw = { id: "a", kind: "cron" } as const;
    for (const message of [
      { role: "compactionSummary", summary: "s", __openclaw },
      { role: "branchSummary", summary: "s", __openclaw },
      { role: "custom", customType: "c", content: "c", __openclaw },
      { role: "bashExecution", command: "ls", output: "", __openclaw },
    ] satisfies AgentMessage[])
      expect(toModelMessage(message)?.__openclaw).toEqual(__openclaw);
  });
});

describe("sameMessage", () => {
  const call = toolCall("read", { path: "a" }, "call_1");

  it("goes by the ids when both have one, whatever became of the content", () => {
    expect(sameMessage(withId("a"), withId("a", user("rewritten")))).toBe(true);
    expect(sameMessage(withId("a"), withId("b"))).toBe(false);
  });

  it("goes by the idempotency keys when an id is missing", () => {
    const keyed = (idempotencyKey: string) => user("yes", { idempotencyKey });
    expect(sameMessage(keyed("1"), withId("a", keyed("1")))).toBe(true);
    expect(sameMessage(keyed("1"), keyed("2"))).toBe(false);
  });

  it("goes by role and tool calls when neither helps, whatever the result says now", () => {
    expect(sameMessage(withId("a", assistant([call])), assistant([call]))).toBe(true);
    expect(sameMessage(toolResult(call, "long"), toolResult(call, "cut"))).toBe(true);
    const other = { ...call, id: "call_2" };
    expect(sameMessage(toolResult(call, "x"), toolResult(other, "x"))).toBe(false);
    expect(sameMessage(assistant([call]), assistant([call, other]))).toBe(false);
    expect(sameMessage(assistant([call]), toolResult(call, ""))).toBe(false);
    expect(sameMessage(assistant([call]), assistant("text"))).toBe(false);
  });

  it("goes by role, text and pictures when there are no tool calls", () => {
    const picture = (data: string) => user([{ type: "image", data, mimeType: "image/png" }]);
    expect(sameMessage(user("hi"), user([{ type: "text", text: "hi" }]))).toBe(true);
    expect(sameMessage(user("hi"), user("ho"))).toBe(false);
    expect(sameMessage(user("hi"), assistant("hi"))).toBe(false);
    expect(sameMessage(picture("AA=="), picture("BB=="))).toBe(false);
  });

  it("is the same both ways round, and true of a copy", () => {
    const message = fc.constantFrom<AgentMessage>(
      user("q"),
      user("q", { idempotencyKey: "k" }),
      withId("a"),
      withId("b", assistant([call])),
      assistant([call]),
      toolResult(call, "r"),
      { role: "compactionSummary", summary: "s" },
    );
    fc.assert(
      fc.property(message, message, (a, b) => {
        expect(sameMessage(a, b)).toBe(sameMessage(b, a));
        expect(sameMessage(a, structuredClone(a))).toBe(true);
      }),
    );
  });
});
