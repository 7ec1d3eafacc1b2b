// Reads one conversation from each wire and expects the same transcript.
import { describe, expect, it } from "vitest";
import type { Said } from "../testing/conversation.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { toAgentMessages } from "./agent-messages.ts";

const answerer = { provider: "p", model: "m" };
const nothing = { answerer, toolNames: new Map<string, string>() };

const CONVERSATION: Said[] = [
  { uid: null, by: "person", text: "Read a and b." },
  {
    uid: null,
    by: "model",
    text: "I read them.",
    thinking: "hm",
    calls: [
      { id: "c1", name: "read", args: { path: "a" } },
      { id: "c2", name: "look", args: { path: "b" } },
    ],
  },
  {
    uid: null,
    by: "tools",
    results: [
      { id: "c1", name: "read", text: "A" },
      { id: "c2", name: "look", text: "B" },
    ],
  },
  { uid: null, by: "model", text: "Done.", calls: [] },
];

describe.each(Object.keys(DOOR_WIRES) as DoorApi[])("the transcript of %s", (api) => {
  it("has who said what, every call with its name, and every result with its call's", () => {
    const { body, path } = writeRequest(api, CONVERSATION, { model: "m", head: [], tools: [] });
    const { messages } = DOOR_WIRES[api].read(body, path)!;
    const made = toAgentMessages(api, messages, nothing);
    const withoutThinking = made.map((message) =>
      message.role === "assistant"
        ? { ...message, content: message.content.filter(({ type }) => type !== "thinking") }
        : message,
    );
    const reply = { role: "assistant", api, ...answerer };
    expect(withoutThinking).toMatchObject([
      { role: "user", content: [{ type: "text", text: "Read a and b." }] },
      { ...reply, stopReason: "toolUse" },
      { role: "toolResult", toolCallId: "c1", toolName: "read", isError: false },
      { role: "toolResult", toolCallId: "c2", toolName: "look", isError: false },
      { ...reply, stopReason: "stop", content: [{ type: "text", text: "Done." }] },
    ]);
    const [, first] = withoutThinking;
    const calls = first?.role === "assistant" ? first.content : [];
    expect(calls.map(({ type }) => type)).toEqual(["text", "toolCall", "toolCall"]);
    expect(calls.flatMap((block) => (block.type === "toolCall" ? [block.arguments] : []))).toEqual([
      { path: "a" },
      { path: "b" },
    ]);
  });
});

describe("what a client sent", () => {
  it("is a person's words behind the results that came with them", () => {
    const content = [
      { type: "tool_result", tool_use_id: "c1", is_error: true, content: "No such file." },
      { type: "text", text: "Try b." },
    ];
    const toolNames = new Map([["c1", "read"]]);
    expect(
      toAgentMessages("anthropic-messages", [{ role: "user", content }], { answerer, toolNames }),
    ).toEqual([
      {
        role: "toolResult",
        toolCallId: "c1",
        toolName: "read",
        content: [{ type: "text", text: "No such file." }],
        isError: true,
      },
      { role: "user", content: [{ type: "text", text: "Try b." }] },
    ]);
  });

  it("is an image where it holds one, and says so where it holds what nobody knows", () => {
    const content = [
      { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } },
      { type: "input_audio", input_audio: {} },
    ];
    expect(toAgentMessages("openai-completions", [{ role: "user", content }], nothing)).toEqual([
      {
        role: "user",
        content: [
          { type: "image", data: "QUJD", mimeType: "image/png" },
          { type: "text", text: "[input_audio]" },
        ],
      },
    ]);
  });

  it("keeps the proofs of thinking that its provider wants back", () => {
    const item = { type: "reasoning", summary: [], encrypted_content: "abc" };
    const [message] = toAgentMessages("openai-responses", [item], nothing);
    const [block] = message?.role === "assistant" ? message.content : [];
    expect(block).toMatchObject({ type: "thinking", thinkingSignature: JSON.stringify(item) });
  });
});
