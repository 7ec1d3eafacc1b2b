// Writes replies on each wire, and reads them by the driver that speaks it.
import type { AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { anthropicMessages } from "@clew/providers/drivers/anthropic-messages";
import { googleGenerativeAi } from "@clew/providers/drivers/google-generative-ai";
import { openaiCompletions } from "@clew/providers/drivers/openai-completions";
import { openaiResponses } from "@clew/providers/drivers/openai-responses";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { REPLY_WRITERS } from "./find-writer.ts";
import { type ReplyBlock, type ReplyEnd, shownReply } from "./reply-writer.ts";

const DRIVERS = {
  "openai-completions": openaiCompletions,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  "google-generative-ai": googleGenerativeAi,
};
const APIS = Object.keys(DRIVERS) as DoorApi[];

const HEAD = { id: "r1", model: "m", createdAt: 1_700_000_000_500, repeated: {} };
const ASKED = { usage: true, isEvents: true };

function read(api: DoorApi, text: string, contentType: string) {
  const call: ModelCall = {
    model: { provider: "p", api, id: "m", contextWindow: 1000, maxOutputTokens: 100 },
    ...{ systemPrompt: "", messages: [], tools: [], signal: new AbortController().signal },
  };
  const endpoint = { baseUrl: "http://127.0.0.1/v1" };
  const decoder = DRIVERS[api].createDecoder({ call, endpoint, contentType, now: () => 1000 });
  const events = [...decoder.push(new TextEncoder().encode(text)), ...decoder.end()];
  return { events, last: events.at(-1) };
}

/** The reply as it is streamed, every word an event of its own. */
function streamed(api: DoorApi, blocks: readonly ReplyBlock[], end: ReplyEnd): string {
  const stream = REPLY_WRITERS[api].stream(HEAD, ASKED);
  const said = blocks.map((block) => {
    const grown =
      block.type === "toolCall"
        ? stream.call(block)
        : words(block.type === "text" ? block.text : block.thinking)
            .map((word) => stream[block.type](word))
            .join("");
    return grown + stream.endBlock() + stream.idle();
  });
  return stream.begin() + said.join("") + stream.end(end);
}

const words = (text: string) => text.split(/(?<=\s)/);

const told = ({ content, stopReason, usage }: AssistantMessage) => ({
  blocks: content.map((block) => {
    if (block.type === "text") return { type: block.type, text: block.text };
    if (block.type === "thinking") return { type: block.type, thinking: block.thinking };
    return block;
  }),
  stopReason,
  usage,
});

/** What a wire makes of blocks that stand beside each other. */
function asCarried(api: DoorApi, blocks: readonly ReplyBlock[]): ReplyBlock[] {
  if (api === "openai-completions") {
    const thinking = blocks.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
    const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
    return [
      ...(thinking.length > 0
        ? [{ type: "thinking" as const, thinking: thinking.join("\n\n") }]
        : []),
      ...(texts.length > 0 ? [{ type: "text" as const, text: texts.join("\n\n") }] : []),
      ...blocks.filter(({ type }) => type === "toolCall"),
    ];
  }
  if (api !== "google-generative-ai") return [...blocks];
  return blocks.reduce<ReplyBlock[]>((made, block) => {
    const last = made.at(-1);
    if (last?.type === "text" && block.type === "text")
      return [...made.slice(0, -1), { type: "text", text: last.text + block.text }];
    if (last?.type === "thinking" && block.type === "thinking")
      return [...made.slice(0, -1), { type: "thinking", thinking: last.thinking + block.thinking }];
    return [...made, block];
  }, []);
}

const said = fc.string({ minLength: 1, unit: "grapheme" });
const names = fc.stringMatching(/^[a-z_]{1,12}$/);
const values = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const contents = fc
  .array(
    fc.oneof(
      said.map((text): ReplyBlock => ({ type: "text", text })),
      said.map((thinking): ReplyBlock => ({ type: "thinking", thinking })),
      fc
        .record({ name: names, arguments: fc.dictionary(names, values) })
        .map((call): ReplyBlock => ({ type: "toolCall", id: "", ...call })),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((blocks) =>
    blocks.map((block, index) =>
      block.type === "toolCall" ? { ...block, id: `c${index}` } : block,
    ),
  );
const counts = fc.nat({ max: 100_000 });
const usages = fc
  .record({ input: counts, output: counts, cacheRead: counts, cacheWrite: counts })
  .map(
    (usage): Usage => ({
      ...usage,
      totalTokens: usage.input + usage.output + usage.cacheRead + usage.cacheWrite,
    }),
  );

describe.each(APIS)("a reply on the wire %s", (api) => {
  /** Google tells no writes: they are part of its prompt. */
  const billed = (usage: Usage) =>
    api === "google-generative-ai"
      ? { ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0 }
      : usage;

  it("is to its driver what it was, streamed or whole, whatever it says", () => {
    fc.assert(
      fc.property(contents, usages, fc.boolean(), (blocks, usage, isCut) => {
        const calls = blocks.some(({ type }) => type === "toolCall");
        const stopReason = calls ? "toolUse" : isCut ? "length" : "stop";
        const end: ReplyEnd = { stopReason, usage };
        const expected = { blocks: asCarried(api, blocks), stopReason, usage: billed(usage) };
        const document = JSON.stringify(REPLY_WRITERS[api].document(HEAD, blocks, end));
        for (const { last } of [
          read(api, streamed(api, blocks, end), "text/event-stream"),
          read(api, document, "application/json"),
        ]) {
          expect(last).toMatchObject({ type: "done" });
          if (last?.type === "done") expect(told(last.message)).toEqual(expected);
        }
      }),
    );
  });

  it("tells its driver every word when it comes", () => {
    const stream = REPLY_WRITERS[api].stream(HEAD, ASKED);
    const text = stream.begin() + stream.thinking("Hm.") + stream.text("Hel") + stream.text("lo.");
    const { events } = read(api, text, "text/event-stream");
    expect(events.slice(0, 3)).toEqual([
      { type: "thinking", delta: "Hm." },
      { type: "text", delta: "Hel" },
      { type: "text", delta: "lo." },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { kind: "invalid_response" } });
  });

  it("fails in the words of its wire, also when it had begun", () => {
    const stream = REPLY_WRITERS[api].stream(HEAD, ASKED);
    const failed = DOOR_WIRES[api].error(429, "Too many requests; wait a minute.");
    const text = stream.begin() + stream.text("Hel") + stream.fail(failed);
    expect(read(api, text, "text/event-stream").last).toMatchObject({
      type: "error",
      error: { kind: "rate_limited" },
    });
  });

  it("says nothing of usage that nobody knows", () => {
    const blocks: ReplyBlock[] = [{ type: "text", text: "Hi" }];
    const end: ReplyEnd = { stopReason: "stop", usage: undefined };
    const document = JSON.stringify(REPLY_WRITERS[api].document(HEAD, blocks, end));
    const { last } = read(api, document, "application/json");
    // Messages has no way to leave it out.
    const none = api === "anthropic-messages" ? { totalTokens: 0 } : undefined;
    expect(last?.type === "done" && last.message.usage).toEqual(
      none === undefined ? undefined : expect.objectContaining(none),
    );
  });
});

describe("what clients are shown of a reply", () => {
  it("is what it says, and those calls that are theirs", () => {
    const call = (id: string, name: string) =>
      ({ type: "toolCall", id, name, arguments: {}, thoughtSignature: "c2ln" }) as const;
    const message: AssistantMessage = {
      role: "assistant",
      stopReason: "toolUse",
      content: [
        { type: "thinking", thinking: "Hm.", thinkingSignature: "sig", carrier: "signed" },
        { type: "redacted_thinking", data: "x" },
        { type: "text", text: "" },
        { type: "text", text: "I look." },
        call("c1", "read"),
        call("c2", "look"),
      ],
    };
    expect(shownReply(message, ({ name }) => name === "look")).toEqual([
      { type: "thinking", thinking: "Hm." },
      { type: "text", text: "I look." },
      { type: "toolCall", id: "c2", name: "look", arguments: {} },
    ]);
  });
});

describe("Google's stream without alt=sse", () => {
  it("is one JSON list", () => {
    const stream = REPLY_WRITERS["google-generative-ai"].stream(HEAD, {
      usage: false,
      isEvents: false,
    });
    const text =
      stream.begin() +
      stream.text("Hi") +
      stream.idle() +
      stream.end({ stopReason: "stop", usage: undefined });
    expect(JSON.parse(text)).toMatchObject([
      { candidates: [{ content: { parts: [{ text: "Hi" }] } }] },
      { candidates: [{ finishReason: "STOP" }] },
    ]);
  });
});
