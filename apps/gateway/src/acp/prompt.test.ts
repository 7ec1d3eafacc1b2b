import { describe, expect, it } from "vitest";
import { placeOf, readPrompt } from "./prompt.ts";

const text = (words: string) => ({ type: "text" as const, text: words });

describe("a prompt of an editor", () => {
  it("is one text where it was typed as one, links within it included", () => {
    expect(readPrompt([text("hello")], "/p")).toBe("hello");
    const link = { type: "resource_link" as const, name: "a.ts", uri: "file:///p/src/a.ts" };
    expect(readPrompt([text("see "), link, text(" now")], "/p")).toBe("see [@a.ts](src/a.ts) now");
  });

  it("keeps what is attached apart, between marks that the text does not hold", () => {
    const resource = { uri: "file:///p/a.md", text: "```js\n1\n```\n" };
    expect(readPrompt([text("read"), { type: "resource", resource }], "/p")).toEqual([
      text("read"),
      text("\nAttached a.md:\n\n````\n```js\n1\n```\n````\n"),
    ]);
    const blob = { uri: "file:///p/a.bin", blob: "AAAA" };
    expect(readPrompt([text("and"), { type: "resource", resource: blob }], "/p")).toEqual([
      text("and"),
      text("\nAttached a.bin: 0.1 KiB of data, not shown.\n"),
    ]);
    const image = { uri: "x:y", blob: "AAAA", mimeType: "image/png" };
    expect(readPrompt([{ type: "resource", resource: image }], "/p")).toEqual([
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ]);
  });

  it("is refused where it says nothing, or what cannot be said", () => {
    for (const blocks of [
      [],
      [text(" \n")],
      [{ type: "audio" as const, data: "AAAA", mimeType: "audio/wav" }],
      [{ type: "image" as const, data: "AAA", mimeType: "image/png" }],
      [{ type: "image" as const, data: "AAAA", mimeType: "text/html" }],
    ])
      expect(() => readPrompt(blocks, "/p")).toThrow(
        expect.objectContaining({ code: -32602 }) as Error,
      );
  });

  it("names files as tools do, and everything else as it is", () => {
    expect(placeOf("file:///p/a%20b.ts#L3-5", "/p")).toBe("a b.ts#L3-5");
    expect(placeOf("file:///other/a.ts", "/p")).toBe("/other/a.ts");
    expect(placeOf("file:///p", "/p")).toBe("/p");
    expect(placeOf("https://example.test/a", "/p")).toBe("https://example.test/a");
    expect(placeOf("file://%", "/p")).toBe("file://%");
  });
});
