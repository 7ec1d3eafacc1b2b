// Writes replies on each wire, and reads them by the driver that speaks it.
import type { AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { readReply } from "../testing/read-reply.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { REPLY_WRITERS } from "./find-writer.ts";
import { type ReplyBlock, type ReplyEnd, shownReply } from "./reply-writer.ts";

const HEAD = { id: "r1", model: "m", createdAt: 1_700_000_000_500, repeated: {} };
const ASKED = { usage: true, isEvents: true };

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

function told(api: DoorApi, message: AssistantMessage) {
  const { stopReason, usage } = message;
  const blocks = shownReply(message, () => true);
  return {
    blocks: api === "openai-completions" ? inFields(blocks, "") : blocks,
    stopReason,
    usage,
  };
}

/** What a wire makes of blocks that stand beside each other. */
function asCarried(api: DoorApi, blocks: readonly ReplyBlock[]): ReplyBlock[] {
  if (api === "openai-completions") return inFields(blocks, "\n\n");
  if (api !== "google-generative-ai") return [...blocks];
  const made: ReplyBlock[] = [];
  for (const block of blocks) {
    const last = made.at(-1);
    if (last?.type === "text" && block.type === "text")
      made[made.length - 1] = { type: "text", text: last.text + block.text };
    else if (last?.type === "thinking" && block.type === "thinking")
      made[made.length - 1] = { type: "thinking", thinking: last.thinking + block.thinking };
    else made.push(block);
  }
  return made;
}

/** Chat Completions has one field for what is thought, one for what is said, and the calls. */
function inFields(blocks: readonly ReplyBlock[], between: string): ReplyBlock[] {
  const thoughts = blocks.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const thinking: ReplyBlock = { type: "thinking", thinking: thoughts.join(between) };
  const text: ReplyBlock = { type: "text", text: texts.join(between) };
  return [
    ...(thoughts.length > 0 ? [thinking] : []),
    ...(texts.length > 0 ? [text] : []),
    ...blocks.filter(({ type }) => type === "toolCall"),
  ];
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

describe.each(DOOR_APIS)("a reply on the wire %s", (api) => {
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
          readReply(api, streamed(api, blocks, end), "text/event-stream"),
          readReply(api, document, "application/json"),
        ]) {
          expect(last).toMatchObject({ type: "done" });
          if (last?.type === "done") expect(told(api, last.message)).toEqual(expected);
        }
      }),
    );
  });

  it("tells its driver every word when it comes", () => {
    const stream = REPLY_WRITERS[api].stream(HEAD, ASKED);
    const text = stream.begin() + stream.thinking("Hm.") + stream.text("Hel") + stream.text("lo.");
    const { events } = readReply(api, text, "text/event-stream");
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
    expect(readReply(api, text, "text/event-stream").last).toMatchObject({
      type: "error",
      error: { kind: "rate_limited" },
    });
  });

  it("says nothing of usage that nobody knows", () => {
    const blocks: ReplyBlock[] = [{ type: "text", text: "Hi" }];
    const end: ReplyEnd = { stopReason: "stop", usage: undefined };
    const document = JSON.stringify(REPLY_WRITERS[api].document(HEAD, blocks, end));
    const { last } = readReply(api, document, "application/json");
    // Messages has no way to leave it out: a prompt of no tokens is none that was counted.
    expect(last).toMatchObject({ type: "done" });
    expect(last?.type === "done" && last.message.usage).toBeUndefined();
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
