import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Block, type Inline, parseMarkdown } from "./markdown.ts";

const textOfInline = (parts: readonly Inline[]): string =>
  parts.map((part) => ("children" in part ? textOfInline(part.children) : part.text)).join("");
const inlines = (block: Block): readonly Inline[] =>
  block.kind === "list" ? block.items.flat() : "children" in block ? block.children : [];

describe("markdown", () => {
  it("has headings, lists, code, quotes, tables and rules", () => {
    const text =
      "# Title\n\nOne\ntwo\n\n- a\n- b\n  more\n\n3. c\n4. d\n\n```ts\n# not a title\n```\n> said\n\n| a | b |\n|---|---|\n\n---";
    expect(parseMarkdown(text)).toEqual([
      { kind: "heading", level: 1, children: [{ kind: "text", text: "Title" }] },
      { kind: "paragraph", children: [{ kind: "text", text: "One\ntwo" }] },
      {
        kind: "list",
        start: null,
        items: [[{ kind: "text", text: "a" }], [{ kind: "text", text: "b\nmore" }]],
      },
      {
        kind: "list",
        start: 3,
        items: [[{ kind: "text", text: "c" }], [{ kind: "text", text: "d" }]],
      },
      { kind: "preformatted", text: "# not a title" },
      { kind: "quote", children: [{ kind: "text", text: "said" }] },
      { kind: "preformatted", text: "| a | b |\n|---|---|" },
      { kind: "rule" },
    ]);
  });

  it("has code, strong, emphasis and links inside a line, and leaves arithmetic and snake_case alone", () => {
    const [block] = parseMarkdown(
      "a `b*c*` **d *e*** _f_ [g](https://h.example/i) https://j.example. 2 * 3 * 4 snake_case_name",
    );
    expect(inlines(block!).filter(({ kind }) => kind !== "text")).toEqual([
      { kind: "code", text: "b*c*" },
      { kind: "strong", children: expect.anything() },
      { kind: "emphasis", children: [{ kind: "text", text: "f" }] },
      { kind: "link", text: "g", href: "https://h.example/i" },
      { kind: "link", text: "https://j.example", href: "https://j.example" },
    ]);
    expect(textOfInline(inlines(block!))).toContain("2 * 3 * 4 snake_case_name");
  });

  it("shows code that is still arriving as code", () => {
    expect(parseMarkdown("So:\n```\nlet x")).toEqual([
      expect.anything(),
      { kind: "preformatted", text: "let x" },
    ]);
  });

  it("links to nothing but web pages and mail, whatever is written", () => {
    const hostile = [
      "[x](javascript:alert(1))",
      "[x](data:text/html,y)",
      "<script>alert(1)</script>",
      "![p](https://e.example/p.png)",
      "<img src=x>",
    ];
    for (const text of hostile) {
      const links = parseMarkdown(text)
        .flatMap(inlines)
        .filter(({ kind }) => kind === "link");
      expect(links.every((link) => link.kind === "link" && link.href.startsWith("https://"))).toBe(
        true,
      );
    }
    const pieces = fc.constantFrom(
      "[",
      "](",
      ")",
      "javascript:",
      "https://",
      "mailto:",
      "x",
      "\n",
      "`",
      "*",
      "_",
      "<a>",
      "- ",
      "> ",
      "```",
      "|",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (list) => {
        for (const part of parseMarkdown(list.join("")).flatMap(inlines))
          if (part.kind === "link") expect(part.href).toMatch(/^(https?:\/\/|mailto:)/);
      }),
    );
  });

  it("loses no letter", () => {
    const words = fc.stringMatching(/^[a-z`*_[\]()#>\n |-]{0,60}$/);
    const letters = (text: string) => text.replace(/[^a-z]/g, "");
    const all = (block: Block) =>
      block.kind === "preformatted" ? block.text : textOfInline(inlines(block));
    fc.assert(
      fc.property(words, (text) => {
        // What follows the opening of a code fence names its language and is not shown.
        if (text.includes("```")) return;
        expect(letters(parseMarkdown(text).map(all).join(""))).toBe(letters(text));
      }),
    );
  });
});
