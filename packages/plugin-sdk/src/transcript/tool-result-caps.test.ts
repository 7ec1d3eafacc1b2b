import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCodePoint } from "../__fixtures__/code-points.ts";
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import { withMessageId } from "./message-id.ts";
import { capToolResults, toolResultCap, toolResultLength } from "./tool-result-caps.ts";

const result = (text: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
});
const textOf = (message: AgentMessage) =>
  (message as ToolResultMessage).content
    .map((block) => ("text" in block ? block.text : ""))
    .join("");

describe("caps on tool results", () => {
  it.each([
    [8_000, 9_600],
    [32_000, 16_000],
    [100_000, 32_000],
    [200_000, 64_000],
  ])("for a window of %d tokens: %d characters each", (window, characters) => {
    expect(toolResultCap(window)).toBe(characters);
  });

  it("shows the head and says how much is missing", () => {
    const [view] = capToolResults([result("x".repeat(20_000))], 32_000);
    expect(textOf(view!)).toMatch(/^x{16000}\n\[4000 characters cut here/);
  });

  it("keeps the tail when it tells how things ended", () => {
    const [view] = capToolResults([result(`${"x".repeat(20_000)}\nError: disk full`)], 32_000);
    expect(textOf(view!)).toMatch(/Error: disk full$/);
  });

  it("gives the same object for the same result, and the same list when nothing is long", () => {
    const long = result("y".repeat(50_000));
    expect(capToolResults([long], 32_000)[0]).toBe(capToolResults([long], 32_000)[0]);
    const short = [result("short")];
    expect(capToolResults(short, 32_000)).toBe(short);
  });

  it("names the tool that shows the whole, where there is one and the result can be named", () => {
    const long = result("x".repeat(20_000));
    const cut = (message: AgentMessage, reader?: string) =>
      textOf(capToolResults([message], 32_000, reader)[0]!);
    const named = withMessageId(long, "e7");
    expect(cut(named, "session_read")).toContain('session_read with id "e7" shows the whole');
    for (const text of [cut(named), cut(long, "session_read")])
      expect(text).toContain("the transcript holds the whole result");
  });

  it("lets that tool itself show its share of the window, and no more", () => {
    const read = (length: number) => ({ ...result("x".repeat(length)), toolName: "session_read" });
    const shown = (length: number, reader?: string) =>
      textOf(capToolResults([read(length)], 32_000, reader)[0]!);
    expect(shown(33_000, "session_read")).toBe("x".repeat(33_000));
    expect(shown(33_000)).toMatch(/^x{16000}\n\[/);
    expect(shown(50_000, "session_read")).toMatch(/^x{38400}\n\[/);
  });

  it("never makes a result longer, never splits a surrogate pair, never changes its input", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: anyCodePoint, maxLength: 6_000 }), { maxLength: 6 }),
        fc.integer({ min: 1_000, max: 3_000 }),
        (texts, contextWindow) => {
          const messages = texts.map(result);
          const before = JSON.stringify(messages);
          const after = capToolResults(messages, contextWindow);
          expect(JSON.stringify(messages)).toBe(before);
          after.forEach((message, index) => {
            expect(textOf(message).length).toBeLessThanOrEqual(
              Math.max(textOf(messages[index]!).length, 0),
            );
            expect(textOf(message)).not.toMatch(
              /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/,
            );
          });
        },
      ),
    );
  });
});

it("looks at the texts of a result once to know how long they are", () => {
  let looks = 0;
  const text = {
    type: "text" as const,
    get text() {
      looks++;
      return "twelve chars";
    },
  };
  const long = { ...result(""), content: [text] };
  expect(toolResultLength(long)).toBe(12);
  const before = looks;
  expect(toolResultLength(long)).toBe(12);
  capToolResults([long], 32_000);
  expect(looks).toBe(before);
  expect(toolResultLength({ ...long, content: [] })).toBe(0);
});
