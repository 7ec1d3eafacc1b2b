import { describe, expect, it } from "vitest";
import { toOutcome } from "./tool-result.ts";

const text = (words: string) => ({ type: "text", text: words });
const textsOf = (result: unknown) =>
  toOutcome("look", result).content.map((block) => (block.type === "text" ? block.text : "?"));

describe("the result of a call", () => {
  it.each([
    ["as JSON", '{ "b": [1, 2], "a": "x" }', { a: "x", b: [1, 2] }],
    ["as the only thing in it", "line one\nline two\n", { content: "line one\nline two\n" }],
    ["in other words", "It is 21 degrees and sunny.", { degrees: 21, sky: "sunny" }],
  ])("is stored once where the data repeats the text %s", (_how, words, structuredContent) => {
    expect(textsOf({ content: [text(words)], structuredContent })).toEqual([words]);
  });

  it("holds the data where the text does not", () => {
    const structuredContent = { degrees: 21, sky: "cloudy" };
    expect(textsOf({ content: [text("It is 21 degrees.")], structuredContent })).toEqual([
      "It is 21 degrees.",
      '{"degrees":21,"sky":"cloudy"}',
    ]);
    expect(textsOf({ content: [], structuredContent })).toHaveLength(1);
  });

  it.each([
    [undefined],
    [{}],
    [{ content: "text" }],
    [{ content: [null, 7, { type: "text" }].slice(0, 2) }],
  ])("of a server that gives none is said to be none: %j", (result) => {
    expect(textsOf(result)).toEqual(["look gave no result."]);
  });

  it("names what cannot be shown", () => {
    const data = "A".repeat(9 * 1024 * 1024);
    expect(
      textsOf({
        content: [
          { type: "image", data, mimeType: "image/png" },
          { type: "video", data: "" },
          { type: "resource", resource: { uri: "file:///x.bin", blob: "AAAA" } },
        ],
      }),
    ).toEqual([
      "[a picture is not shown: image/png, 6.8 MiB]",
      '[a block of type "video" is not shown]',
      "[file:///x.bin is not shown: of unknown kind, 0.1 KiB]",
    ]);
  });
});
