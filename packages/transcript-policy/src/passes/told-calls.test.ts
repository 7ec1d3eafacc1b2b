import type { AgentMessage } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deepFreeze, histories } from "../__fixtures__/histories.ts";
import {
  asking,
  assistant,
  call,
  clock,
  result,
  SIGNATURE,
  text,
  thinking,
  user,
} from "../__fixtures__/messages.ts";
import { DISTINCT_ROUTES, nameOf } from "../__fixtures__/routes.ts";
import { explainInvalid } from "../explain.ts";
import { createOutbound } from "../incremental.ts";
import { prepareOutboundMessages } from "../outbound.ts";
import { tellCallsAsText } from "./told-calls.ts";

const at = (timestamp: number, message: AgentMessage): AgentMessage => ({ ...message, timestamp });
const routes = DISTINCT_ROUTES.map((route) => [nameOf(route), route] as const);

describe("calls that were refused", () => {
  it("are told as text with their results, and later ones stay calls", () => {
    const messages = [
      at(1, user("q")),
      at(2, asking([text("Looking."), call("a")])),
      at(3, result("a", { content: [text("found")] })),
      at(9, asking([call("b")])),
      at(10, result("b")),
    ];
    const { messages: told, changes } = tellCallsAsText({ messages, until: 5 });
    expect(told).toMatchObject([
      { role: "user" },
      {
        content: [{ text: "Looking." }, { text: '[Called read with {"path":"a"}]' }],
        stopReason: "stop",
      },
      { role: "custom", content: [{ text: "[Result of read]" }, { text: "found" }] },
      { stopReason: "toolUse", content: [{ type: "toolCall" }] },
      { role: "toolResult" },
    ]);
    for (const index of [0, 3, 4]) expect(told[index]).toBe(messages[index]);
    expect(changes.map(({ rule, index }) => [rule, index])).toEqual([
      ["told-calls", 1],
      ["told-calls", 2],
    ]);
    expect(tellCallsAsText({ messages: told, until: 5 }).messages).toBe(told);
  });

  it("leave the results of later calls of the same id alone", () => {
    const messages = [
      ...[at(1, user("q")), at(2, asking([call("call_1")])), at(3, result("call_1"))],
      ...[at(8, asking([call("call_1")])), at(9, result("call_1"))],
    ];
    const told = tellCallsAsText({ messages, until: 5 }).messages;
    expect(told.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "custom", "assistant", "toolResult"],
    ]);
  });

  it("take their results along, whenever those came", () => {
    const messages = [at(2, asking([call("a")])), at(8, result("a"))];
    expect(tellCallsAsText({ messages, until: 5 }).messages).toMatchObject([
      { role: "assistant" },
      { role: "custom" },
    ]);
  });
});

describe.each(routes)("a history of which %s refused something", (_name, route) => {
  const refusal = fc.record(
    { proofsUntil: fc.nat(200), callsUntil: fc.nat(200) },
    { requiredKeys: [] },
  );

  it("can be sent all the same, and as it grows it stays what it was", () => {
    fc.assert(
      fc.property(histories, refusal, fc.nat(8), (messages, refused, first) => {
        const prepare = createOutbound();
        deepFreeze(messages);
        for (const end of [first + 1, messages.length]) {
          const request = { ...route, messages: messages.slice(0, end), clock, refused };
          const sent = prepare(request).messages;
          expect(sent).toEqual(prepareOutboundMessages({ ...request, appendOnly: true }).messages);
          expect(explainInvalid({ ...route, messages: sent })).toEqual([]);
        }
      }),
    );
  });
});

describe("proofs that were refused", () => {
  const route = {
    provider: "anthropic",
    modelApi: "anthropic-messages",
    modelId: "claude-fable-5-1",
  };
  const by = { provider: "anthropic", model: "claude-fable-5-1", api: "anthropic-messages" };
  const proofs = (messages: readonly AgentMessage[]) =>
    JSON.stringify(messages).split(SIGNATURE).length - 1;

  it("stay out, up to the message that was newest then, and later ones are sent", () => {
    const messages = [
      at(1, user("q")),
      at(2, asking([thinking(SIGNATURE), call("a")], by)),
      at(3, result("a")),
      at(6, assistant([thinking(SIGNATURE), text("done")], by)),
      at(7, user("and?")),
    ];
    const send = (refused: object) => prepareOutboundMessages({ ...route, messages, refused });
    expect(proofs(send({}).messages)).toBe(2);
    expect(proofs(send({ proofsUntil: 4 }).messages)).toBe(1);
    const sent = send({ proofsUntil: 6 });
    expect(proofs(sent.messages)).toBe(0);
    expect(sent.changes.map(({ rule }) => rule)).toEqual(["foreign-proofs", "foreign-proofs"]);
  });

  it("stay out of messages of which nobody knows when they were made", () => {
    const reply = assistant([thinking(SIGNATURE), text("done")], by);
    const { timestamp: _timestamp, ...undated } = reply;
    const messages = [at(1, user("q")), undated as AgentMessage, at(9, user("and?"))];
    const send = (refused: object) => prepareOutboundMessages({ ...route, messages, refused });
    expect(proofs(send({}).messages)).toBe(1);
    expect(proofs(send({ proofsUntil: 4 }).messages)).toBe(0);
  });

  it("are not sent by who prepared the same history before they were refused", () => {
    const reply = (time: number) =>
      at(time, assistant([thinking(SIGNATURE), text(`answer ${time}`)], by));
    const messages = [1, 3, 5, 7].flatMap((time) => [at(time, user("q")), reply(time + 1)]);
    const prepare = createOutbound();
    const send = (count: number, refused: object) =>
      prepare({ ...route, messages: [...messages.slice(0, count), user("and?")], clock, refused });
    expect(proofs(send(6, {}).messages)).toBe(3);
    expect(proofs(send(8, { proofsUntil: 4 }).messages)).toBe(2);
  });

  it("of encrypted parts go too", () => {
    const opaque = {
      type: "provider" as const,
      ...by,
      kind: "compaction",
      data: { encrypted_content: "x" },
    };
    const messages = [at(1, user("q")), at(2, assistant([opaque, text("done")], by)), user("and?")];
    const send = (refused: object) => prepareOutboundMessages({ ...route, messages, refused });
    expect(JSON.stringify(send({}).messages)).toContain("encrypted_content");
    expect(JSON.stringify(send({ proofsUntil: 2 }).messages)).not.toContain("encrypted_content");
  });
});
