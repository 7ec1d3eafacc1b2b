import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineWidth, textOfLine } from "../../terminal/styled.ts";
import { anyCharacter, anySign } from "../../testing/chat-keys.ts";
import type { Piece } from "./piece.ts";
import { renderPiece, renderReplyLine } from "./render-pieces.ts";
import { endText, linesOf, NO_REPLY, type ReplyLine, takeText } from "./reply-lines.ts";

const MARKDOWN = [
  "# Heading",
  "Some **bold** and `code` and *more*.",
  "- one",
  "  - inside",
  "```js",
  "const a = 1; // | not | a table |",
  "",
  "```",
  "| a | b |",
  "|---|---|",
  "| 漢字 | 2 |",
  "after",
].join("\n");

const shown = (text: string, columns = 40) =>
  linesOf(text)
    .flatMap((line) => renderReplyLine(line, columns))
    .map(textOfLine);

describe("a reply", () => {
  it("is shown as what its Markdown means", () => {
    expect(shown(MARKDOWN)).toEqual([
      "Heading",
      "Some bold and code and more.",
      "• one",
      "  • inside",
      "js",
      "const a = 1; // | not | a table |",
      "",
      "a    │ b",
      "─────┼──",
      "漢字 │ 2",
      "after",
    ]);
  });

  it("is broken between words, and rows of an item stand under each other", () => {
    expect(shown("- one two three four", 10)).toEqual(["• one two ", "  three ", "  four"]);
    expect(shown("漢字漢字漢字", 5)).toEqual(["漢字", "漢字", "漢字"]);
  });

  it("is the same line by line, however it arrives", () => {
    const anyText = fc
      .array(
        fc.oneof(
          fc.constantFrom("```", "~~~", "| a | b |", "|--|", "# x", "- y", "", "> q", "`", "\r"),
          fc.string({ unit: anyCharacter, maxLength: 20 }),
        ),
        { maxLength: 20 },
      )
      .map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(40), { maxLength: 20 }), (text, cuts) => {
        let reply = NO_REPLY;
        const lines: ReplyLine[] = [];
        let rest = text;
        const take = (piece: string) => {
          const taken = takeText(reply, piece);
          reply = taken.reply;
          lines.push(...taken.lines);
        };
        for (const cut of cuts) {
          // A stream of text is never cut inside of a character.
          const end = Math.min(cut, rest.length);
          if (/[\ud800-\udbff]$/.test(rest.slice(0, end))) continue;
          take(rest.slice(0, end));
          rest = rest.slice(end);
        }
        take(rest);
        lines.push(...endText(reply));
        expect(lines).toEqual(linesOf(text));
        expect(reply.whole).toBe(text);
      }),
    );
  });

  it("that is one endless line is broken before what is shown anew becomes long", () => {
    const { reply, lines } = takeText(NO_REPLY, "word ".repeat(2000));
    expect(lines.length).toBeGreaterThan(0);
    expect(reply.rest.length).toBeLessThan(9000);
  });
});

describe("whatever is said", () => {
  it("makes no line that is wider than the terminal, nor one with control characters", () => {
    const anyText = fc.oneof(
      fc.string({ unit: anySign, maxLength: 200 }),
      fc.string({ unit: anyCharacter, maxLength: 200 }),
      fc.constantFrom(
        MARKDOWN,
        "👩‍👩‍👧‍👦".repeat(9),
        "\u001b[31m".repeat(5),
        "\t\t|a|\t",
        "🇩🇪".repeat(30),
      ),
    );
    const piecesWith = (text: string): Piece[] => [
      { kind: "person", text, images: 1 },
      { kind: "reply", lines: linesOf(text), isFirst: true },
      { kind: "tool", name: text, input: text, end: "failed", ms: 3 },
      { kind: "answer", command: text, text, isRefusal: false },
      { kind: "mark", text, detail: text },
      { kind: "problem", text },
      { kind: "note", text },
    ];
    fc.assert(
      fc.property(anyText, fc.integer({ min: 3, max: 120 }), (text, columns) => {
        const lines = piecesWith(text).flatMap((piece) => renderPiece(piece, columns));
        expect(Math.max(0, ...lines.map(lineWidth))).toBeLessThanOrEqual(columns);
        expect(lines.map(textOfLine).join("")).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
    );
  });
});
