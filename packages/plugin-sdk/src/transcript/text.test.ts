import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCodePoint } from "../__fixtures__/code-points.ts";
import type { AgentMessage } from "../contract/message.ts";
import { assistant, toolCall, toolResult, user } from "../testing/messages.ts";
import { headOf, oneLine, tailOf, textOf } from "./text.ts";

describe("textOf", () => {
  it("is the text a person reads, without thinking, calls and images", () => {
    expect(textOf(user("plain"))).toBe("plain");
    expect(
      textOf(
        user([
          { type: "text", text: "a" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
          { type: "text", text: "b" },
        ]),
      ),
    ).toBe("a\nb");
    expect(
      textOf(
        assistant([
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "said" },
          toolCall("read"),
        ]),
      ),
    ).toBe("said");
    expect(textOf(toolResult({ id: "1", name: "ls" }, "out"))).toBe("out");
  });

  it("shows a shell command with its output and a summary as it stands", () => {
    expect(textOf({ role: "bashExecution", command: "ls", output: "a\nb" })).toBe("$ ls\na\nb");
    expect(textOf({ role: "bashExecution", command: "true", output: "" })).toBe("$ true");
    expect(textOf({ role: "compactionSummary", summary: "s" })).toBe("s");
  });

  it("reads content that is a string, one block, null or something else", () => {
    const stored = (content: unknown) =>
      JSON.parse(JSON.stringify({ role: "assistant", content })) as AgentMessage;
    expect(
      [stored("x"), stored({ type: "text", text: "y" }), stored(null), stored({ rows: 1 })].map(
        textOf,
      ),
    ).toEqual(["x", "y", "", '{"rows":1}']);
  });
});

describe("headOf, tailOf and oneLine", () => {
  it("keep to the limit and never split a surrogate pair", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint }), fc.nat({ max: 40 }), (text, limit) => {
        for (const cut of [headOf(text, limit), tailOf(text, limit)]) {
          expect(cut.length).toBeLessThanOrEqual(limit);
          expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, limit) - 1);
          expect(cut).not.toMatch(/\p{Cs}/u);
        }
        expect(oneLine(text, limit + 1).length).toBeLessThanOrEqual(limit + 1);
      }),
    );
  });

  it("put text on one line and say that it was cut", () => {
    expect(oneLine("  a\n\n b ", 10)).toBe("a b");
    expect(oneLine("abcdefgh", 5)).toBe("abcd…");
  });
});
