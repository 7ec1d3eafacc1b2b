import type { HostSession, ToolOutcome, ToolPort } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { type ModelCall, type StreamEvent, ZERO_USAGE } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requireMessageFits } from "./message.ts";
import { limitReply } from "./reply.ts";
import { limitToolCalls } from "./tool-calls.ts";
import { limitToolResults } from "./tool-results.ts";

describe("a message", () => {
  it("is refused in words when its text is too long, whatever it is made of", () => {
    const fits = (content: Parameters<typeof requireMessageFits>[0]) => () =>
      requireMessageFits(content, 2048);
    expect(fits("a".repeat(2048))).not.toThrow();
    expect(fits("ü".repeat(1025))).toThrow(
      "The message has 2.1 KiB of text, and at most 2 KiB are taken (gateway.limits.messageBytes)",
    );
    const block = { type: "text" as const, text: "a".repeat(2000) };
    const picture = { type: "image" as const, data: "A".repeat(9000), mimeType: "image/png" };
    expect(fits([block, picture])).not.toThrow();
    expect(fits([block, block])).toThrow("at most 2 KiB");
  });
});

describe("a reply", () => {
  const call = { signal: new AbortController().signal } as ModelCall;
  const said = (text: string): AssistantMessage => ({
    role: "assistant",
    content: [{ type: "text", text }],
    stopReason: "stop",
    usage: ZERO_USAGE,
  });
  /** A model that says `piece` again and again until it is stopped. */
  async function* talk(piece: string, times: number, { signal }: ModelCall) {
    let text = "";
    for (let time = 0; time < times; time++) {
      if (signal.aborted) {
        const partial = { ...said(text), stopReason: "aborted" as const };
        yield { type: "error" as const, error: { kind: "aborted" as const, message: "" }, partial };
        return;
      }
      text += piece;
      yield { type: "text" as const, delta: piece };
    }
    yield { type: "done" as const, message: said(text) };
  }
  const hear = async (piece: string, times: number) => {
    const events: StreamEvent[] = [];
    for await (const event of limitReply((each) => talk(piece, times, each), call, 1000))
      events.push(event);
    return events;
  };

  it("within the limit is told as it comes", async () => {
    const events = await hear("a".repeat(100), 10);
    expect(events.map(({ type }) => type)).toEqual([...Array(10).fill("text"), "done"]);
  });

  it("beyond the limit ends the call, and keeps what was told", async () => {
    const events = await hear("a".repeat(100), 1_000_000);
    expect(events.filter(({ type }) => type === "text")).toHaveLength(10);
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: {
        kind: "invalid_response",
        message: "the reply is larger than 1 KiB (gateway.limits.replyBytes), and was not read on",
      },
      partial: { stopReason: "error" },
    });
  });
});

describe("a tool call", () => {
  it("whose arguments are too long is not run, and the model is told", async () => {
    const ran: unknown[] = [];
    const tools: ToolPort = {
      list: () => [],
      async run({ call }) {
        ran.push(call.arguments);
        return { content: [], isError: false };
      },
    };
    const call = (text: string) =>
      limitToolCalls(tools, 1024).run({
        call: { type: "toolCall", id: "1", name: "write", arguments: { text } },
        session: {} as HostSession,
        signal: new AbortController().signal,
      });
    expect(await call("a".repeat(1000))).toEqual({ content: [], isError: false });
    expect(await call("a".repeat(3000))).toEqual({
      content: [
        {
          type: "text",
          text: 'Tool "write" was not run: its arguments have 3 KiB, and at most 1 KiB are taken (gateway.limits.toolCallBytes); ask for less at once.',
        },
      ],
      isError: true,
    });
    expect(ran).toHaveLength(1);
  });
});

describe("a tool result", () => {
  const session = {} as HostSession;
  const toolsThatSay = (outcome: ToolOutcome): ToolPort => ({
    list: () => [],
    run: async () => outcome,
  });
  const run = (outcome: ToolOutcome, limit: number) =>
    limitToolResults(toolsThatSay(outcome), limit).run({
      call: { type: "toolCall", id: "1", name: "read", arguments: {} },
      session,
      signal: new AbortController().signal,
    });

  it("within the limit is the very one", async () => {
    const outcome: ToolOutcome = { content: [{ type: "text", text: "short" }], isError: true };
    expect(await run(outcome, 1024)).toBe(outcome);
  });

  it("beyond the limit keeps its beginning and its end, whole characters, and says what is missing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1024, max: 3000 }),
        async (word, limit) => {
          const text = `BEGIN ${word.repeat(4000)} END`;
          const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
          const { content } = await run(
            { content: [{ type: "text", text }, image], isError: false },
            limit,
          );
          const [shown, ...others] = content;
          if (shown?.type !== "text") throw new Error("the text comes first");
          expect(others).toEqual([image]);
          expect(shown.text).toMatch(/^BEGIN [\s\S]*were left out[\s\S]* END$/);
          expect(shown.text.isWellFormed()).toBe(true);
          expect(Buffer.byteLength(shown.text)).toBeLessThan(limit + 250);
        },
      ),
    );
  });
});
