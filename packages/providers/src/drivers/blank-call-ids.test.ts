import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import { expect, it } from "vitest";
import type { WireDriver } from "../provider.ts";
import { event } from "../testing/bedrock-converse-stream/event-stream.ts";
import { decodeInPieces } from "./__fixtures__/decode-in-pieces.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { bedrockConverseStream } from "./bedrock-converse-stream.ts";
import { googleGenerativeAi } from "./google-generative-ai.ts";
import { mistralConversations } from "./mistral-conversations.ts";
import { openaiCompletions } from "./openai-completions.ts";
import { openaiResponses } from "./openai-responses.ts";

const sse = (...events: object[]) =>
  Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(""));

const chat = (id: string) =>
  sse(
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id, function: { name: "read", arguments: "{}" } }] },
        },
      ],
    },
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  );

/** A reply of each wire with one call of this id. */
const REPLIES: readonly [WireDriver, (id: string) => Uint8Array][] = [
  [openaiCompletions, chat],
  [mistralConversations, chat],
  [
    googleGenerativeAi,
    (id) =>
      sse({
        candidates: [
          {
            content: { role: "model", parts: [{ functionCall: { id, name: "read", args: {} } }] },
            finishReason: "STOP",
          },
        ],
      }),
  ],
  [
    anthropicMessages,
    (id) =>
      sse(
        { type: "message_start", message: { id: "m" } },
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id, name: "read", input: {} },
        },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "tool_use" } },
        { type: "message_stop" },
      ),
  ],
  [
    openaiResponses,
    (id) =>
      sse(
        {
          type: "response.output_item.done",
          output_index: 0,
          item: { type: "function_call", call_id: id, name: "read", arguments: "{}" },
        },
        { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
      ),
  ],
  [
    bedrockConverseStream,
    (id) =>
      Buffer.concat([
        event("contentBlockStart", {
          contentBlockIndex: 0,
          start: { toolUse: { toolUseId: id, name: "read" } },
        }),
        event("contentBlockStop", { contentBlockIndex: 0 }),
        event("messageStop", { stopReason: "tool_use" }),
        event("metadata", { usage: {} }),
      ]),
  ],
];

function callsOf(driver: WireDriver, bytes: Uint8Array): { ids: string[]; last: StreamEvent } {
  const call: ModelCall = {
    model: {
      provider: "house",
      api: driver.api,
      id: "m",
      contextWindow: 100_000,
      maxOutputTokens: 1000,
    },
    systemPrompt: "",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal: new AbortController().signal,
  };
  const contentType =
    driver === bedrockConverseStream ? "application/vnd.amazon.eventstream" : "text/event-stream";
  const events = decodeInPieces(driver, bytes, {
    call,
    endpoint: { baseUrl: "http://127.0.0.1:1" },
    contentType,
    cuts: [],
  });
  const ids = events.flatMap((each) => (each.type === "tool_call" ? [each.call.id] : []));
  return { ids, last: events.at(-1)! };
}

for (const [driver, reply] of REPLIES)
  it(`takes an id of blanks for none: ${driver.api}`, () => {
    expect(callsOf(driver, reply("call_1")).ids).toEqual(["call_1"]);
    const { ids, last } = callsOf(driver, reply(" "));
    // Some wires have no calls without ids: there the reply is broken.
    if (last.type === "error") expect(last.error.kind).toBe("invalid_response");
    else expect(ids).toEqual([expect.stringMatching(/^\S+$/)]);
  });
