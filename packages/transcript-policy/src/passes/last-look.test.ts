import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import {
  asking,
  assistant,
  call,
  reasoning,
  result,
  SIGNATURE,
  text,
  thinking,
  user,
} from "../__fixtures__/messages.ts";
import { TEXTS } from "../texts.ts";
import { wireRules } from "../wires.ts";
import { toContractShape } from "./contract-shape.ts";
import { fitToolCalls } from "./fit-calls.ts";
import { fitText, fitThinking, settleContentForWire } from "./fit-wire.ts";
import { removeBlankContent } from "./images.ts";
import { dropTrailingFailures } from "./replay-content.ts";

const messagesWire = wireRules({
  provider: "",
  modelApi: "anthropic-messages",
  modelId: "claude-opus-4-6",
});
const nineIdsWire = wireRules({
  provider: "",
  modelApi: "mistral-conversations",
  modelId: "mistral-large",
});
const anyWire = wireRules({ provider: "", modelApi: "some-api", modelId: "x" });
const blocks = (message: AgentMessage | undefined) => (message as { content?: unknown }).content;

describe("the shape of the contract", () => {
  it("has one spelling of a call, a signature and a result", () => {
    const messages = [
      asking([
        { type: "tool_use", tool_use_id: "a", name: " read ", input: '{"path":"a"}' },
        { type: "thinking", thinking: "hm", signature: SIGNATURE },
      ]),
      { ...result("a"), toolCallId: undefined, call_id: "a" } as unknown as AgentMessage,
    ];
    const shaped = toContractShape({ messages }).messages;
    expect(blocks(shaped[0])).toEqual([
      call("a"),
      { ...thinking(SIGNATURE), signature: SIGNATURE },
    ]);
    expect(shaped[1]).toMatchObject({ toolCallId: "a", toolName: "read" });
  });

  it("has no room for other roles, hidden commands and unknown blocks", () => {
    const messages = [
      null,
      { role: "narrator", content: "x" },
      { role: "bashExecution", command: "ls", excludeFromContext: true },
      assistant([text("a"), { type: "audio", data: "x" }]),
    ] as unknown as AgentMessage[];
    expect(toContractShape({ messages }).messages).toEqual([assistant([text("a")])]);
  });

  it("leaves what has it already", () => {
    const messages = [user("q"), asking([call("a")]), result("a"), assistant([text("b")])];
    expect(toContractShape({ messages })).toEqual({ messages, changes: [] });
  });
});

describe("the last look at calls", () => {
  it("gives names and ids the wire takes, each id once, and the result follows its call", () => {
    const messages = [
      asking([call("call 1", { name: "read file" }), call("call 2")]),
      result("call 1", { toolName: "read file" }),
      result("call 2"),
    ];
    const fitted = fitToolCalls({ messages, wire: nineIdsWire }).messages;
    const [first, second] = blocks(fitted[0]) as { id: string; name: string }[];
    expect(first!.name).toBe("read_file");
    for (const { id } of [first!, second!]) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(first!.id).not.toBe(second!.id);
    expect(fitted.slice(1)).toMatchObject([
      { toolCallId: first!.id, toolName: "read_file" },
      { toolCallId: second!.id },
    ]);
  });

  it("keeps what the wire takes as it is", () => {
    const messages = [asking([call("abcDEF123")]), result("abcDEF123")];
    expect(fitToolCalls({ messages, wire: nineIdsWire }).messages).toBe(messages);
  });
});

describe("the last look at thinking", () => {
  it("removes what the wire cannot verify, and what would end a message", () => {
    const messages = [
      assistant([thinking(SIGNATURE), text("a"), thinking(SIGNATURE)]),
      assistant([thinking()]),
      assistant([reasoning("rs_1"), text("b")]),
      assistant([thinking(SIGNATURE), text("c")], { api: "openai-completions" }),
    ];
    expect(fitThinking({ messages, wire: messagesWire }).messages.map(blocks)).toEqual([
      [thinking(SIGNATURE), text("a")],
      [text(TEXTS.omittedReasoning)],
      [text("b")],
      [text("c")],
    ]);
  });

  it("leaves it alone on a wire that takes any", () => {
    const messages = [assistant([thinking()])];
    expect(fitThinking({ messages, wire: anyWire }).messages).toBe(messages);
  });
});

describe("the last look at content", () => {
  it("replaces an image the wire does not take by a text, and removes blank text", () => {
    const image = { type: "image", data: "Qk0=", mimeType: "image/bmp" };
    const messages = [user([text(" "), text("look"), image])];
    const [message] = settleContentForWire({ messages, wire: messagesWire }).messages;
    expect(blocks(message)).toEqual([text("look"), { type: "text", text: expect.any(String) }]);
  });

  it("puts a text where a user or a tool said nothing, and drops an assistant that did", () => {
    const messages = [user([text(" ")]), assistant([text("")]), result("a", { content: [] })];
    const after = removeBlankContent({ messages }).messages;
    expect(after.map(blocks)).toEqual([[text(TEXTS.emptyContent)], [text(TEXTS.emptyContent)]]);
  });

  it("replaces half a character, and only that", () => {
    const messages = [user("a\ud83d!"), user("a😀")];
    const after = fitText({ messages, wire: anyWire }).messages;
    expect(after).toEqual([user("a\ufffd!"), user("a😀")]);
    expect(after[1]).toBe(messages[1]);
  });
});

describe("the end of a history", () => {
  it("holds no turn that failed before it said anything", () => {
    const failed = assistant([], { stopReason: "error" });
    const told = assistant([text(TEXTS.streamErrorFallback)], { stopReason: "error" });
    const messages = [failed, user("q"), told, failed];
    expect(dropTrailingFailures({ messages }).messages).toEqual([failed, user("q")]);
  });
});
