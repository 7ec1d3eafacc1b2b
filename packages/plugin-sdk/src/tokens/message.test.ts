import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCodePoint } from "../__fixtures__/code-points.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../contract/message.ts";
import { stepsAtOnce } from "../slices.ts";
import { assistant } from "../testing/messages.ts";
import { byteBound, chars4, estimator } from "./counter.ts";
import { estimateText } from "./estimate.ts";
import {
  BLOCK_OVERHEAD,
  chars4Message,
  countMessage,
  estimateMessage,
  estimateMessageSteps,
  estimateMessages,
  IMAGE_TOKENS,
  MESSAGE_OVERHEAD,
} from "./message.ts";

const text = (value: string): AgentMessage => ({ role: "user", content: value });

describe("byteBound", () => {
  it("is the length in UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint }), (value) => {
        expect(byteBound(value)).toBe(new TextEncoder().encode(value).length);
      }),
    );
  });

  it("counts a lone surrogate as the three bytes it is replaced by", () => {
    expect([byteBound("\ud800"), byteBound("\udc00x"), byteBound("\ud83d\ude00")]).toEqual([
      3, 4, 4,
    ]);
  });
});

describe("a call with much in it", () => {
  const call = (args: Record<string, unknown>): AssistantMessage =>
    assistant([{ type: "toolCall", id: "c1", name: "move", arguments: args }]);
  const stepsOf = (message: AgentMessage) => {
    const steps = estimateMessageSteps(message);
    for (let count = 0; ; count++) {
      const step = steps.next();
      if (step.done) return { count, estimate: step.value };
    }
  };
  const tokensIn = (args: Record<string, unknown>) =>
    estimateText(`move${JSON.stringify(args)}`).estimate;
  const around = MESSAGE_OVERHEAD.estimate + BLOCK_OVERHEAD.estimate;

  it("takes a step for each argument of a call, and counts the JSON of them all", () => {
    const args = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`k"${index}`, [index, `src/a${index}.ts`]]),
    );
    const { count, estimate } = stepsOf(call({ ...args, none: undefined }));
    expect(count).toBeGreaterThan(5000);
    expect(estimate.estimate).toBe(tokensIn(args) + around);
  });

  it("writes a long argument's escapes in pieces that part no character", () => {
    for (const unit of ["\ud83d", "a\ud83d\ude00", '"\\\n']) {
      const args = { text: unit.repeat(100_000) };
      const { count, estimate } = stepsOf(call(args));
      expect(count).toBeGreaterThan(2);
      expect(estimate.estimate).toBe(tokensIn(args) + around);
    }
  });
});

describe("estimateMessage", () => {
  it("counts what goes back to the provider, not what is shown of it", () => {
    const long = Array.from({ length: 500 }, (_, index) => `word ${index * 7919}`).join(" ");
    const detail = { type: "reasoning.encrypted", data: long };
    const call = { type: "server_tool_use", id: "srv_1", input: { query: long } };
    const route = { api: "anthropic-messages", provider: "anthropic", model: "claude-opus-5-5" };
    const sizeOf = (block: AssistantMessage["content"][number]) =>
      estimateMessage({ role: "assistant", content: [block], stopReason: "stop" }).estimate;
    const shown = sizeOf({ type: "thinking", thinking: "" });
    const carried = sizeOf({
      type: "thinking",
      thinking: "",
      carrier: "reasoning_details",
      carried: detail,
    });
    const opaque = sizeOf({ type: "provider", ...route, kind: call.type, data: call });
    expect(Math.min(carried, opaque) - shown).toBeGreaterThan(500);
  });

  it("is the sum of the blocks and fixed overheads", () => {
    const message: AssistantMessage = {
      role: "assistant",
      content: [
        { type: "text", text: "I will look." },
        { type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts" } },
      ],
      stopReason: "toolUse",
    };
    const blocks =
      estimateText("I will look.").estimate + estimateText('read{"path":"a.ts"}').estimate;
    expect(estimateMessage(message).estimate).toBe(
      MESSAGE_OVERHEAD.estimate + 2 * BLOCK_OVERHEAD.estimate + blocks,
    );
    expect(countMessage(message, estimator)).toBe(estimateMessage(message).estimate);
  });

  it("is additive over messages in every bound", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.string()), (a, b) => {
        const [left, right] = [a.map(text), b.map(text)];
        const whole = estimateMessages([...left, ...right]);
        for (const bound of ["estimate", "low", "high"] as const)
          expect(whole[bound]).toBe(estimateMessages(left)[bound] + estimateMessages(right)[bound]);
      }),
    );
  });

  it("counts an image by fixed numbers and not by its bytes", () => {
    const image = (data: string): AgentMessage => ({
      role: "user",
      content: [{ type: "image", data, mimeType: "image/png" }],
    });
    expect(estimateMessage(image("A".repeat(100_000)))).toEqual(estimateMessage(image("")));
    expect(estimateMessage(image("")).high).toBe(
      MESSAGE_OVERHEAD.high + BLOCK_OVERHEAD.high + IMAGE_TOKENS.high,
    );
  });

  it("costs nothing for what is not sent: details of a tool result, a shell command kept out of the context", () => {
    const result: ToolResultMessage = {
      role: "toolResult",
      toolCallId: "1",
      toolName: "ls",
      content: [{ type: "text", text: "a" }],
      isError: false,
    };
    expect(estimateMessage({ ...result, details: { rows: "x".repeat(9999) } })).toEqual(
      estimateMessage(result),
    );
    expect(
      estimateMessage({
        role: "bashExecution",
        command: "ls",
        output: "x",
        excludeFromContext: true,
      }).high,
    ).toBe(0);
  });

  it("returns the same object for the same message and survives blocks without text", () => {
    const message = text("hello");
    expect(estimateMessage(message)).toBe(estimateMessage(message));
    const odd = JSON.parse(
      '{"role":"user","content":[{"type":"text"},{"type":"video","url":"u"}]}',
    ) as AgentMessage;
    expect(estimateMessage(odd).estimate).toBeGreaterThan(0);
  });
});

describe("chars4", () => {
  it("counts ceil(characters / 4), a whole message at once, 4,800 characters per image", () => {
    expect([chars4.count(""), chars4.count("abcde"), chars4.bound("abcde")]).toEqual([0, 2, 2]);
    const twoBlocks: AgentMessage = {
      role: "user",
      content: [
        { type: "text", text: "abc" },
        { type: "text", text: "abc" },
        { type: "image", data: "", mimeType: "image/png" },
      ],
    };
    expect(chars4Message(twoBlocks)).toBe(1202);
  });
});

describe("estimateMessageSteps", () => {
  it("gives in pieces what estimateMessage gives at once", () => {
    const piece = fc.constantFrom(
      ...[
        "word ",
        "HTMLElement",
        "a1B2c3D4",
        "====",
        "    ",
        "\n\n\n\n\n\n",
        "不要删除",
        "😀",
        "\ud83d",
      ],
      ...["\ude00", "é", "Привет ", "!!!!!", "12345", "xxxxxxxx", "العربية"],
    );
    const repeated = fc.tuple(piece, fc.nat(60_000)).map(([text, times]) => text.repeat(times));
    fc.assert(
      fc.property(fc.array(repeated, { maxLength: 4 }), (texts) => {
        const content = texts.map((text) => ({ type: "text" as const, text }));
        expect(stepsAtOnce(estimateMessageSteps({ role: "user", content }))).toEqual(
          estimateMessage({ role: "user", content }),
        );
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  });

  it("lets others have their turn in a text of megabytes, the first time", () => {
    const message = { role: "user" as const, content: "word ".repeat(400_000) };
    expect([...estimateMessageSteps(message)].length).toBeGreaterThan(5);
    expect([...estimateMessageSteps(message)]).toEqual([]);
  });
});
