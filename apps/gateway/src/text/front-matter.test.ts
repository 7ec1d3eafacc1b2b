import { expect, it } from "vitest";
import { readFrontMatter } from "./front-matter.ts";

const read = (head: string) =>
  Object.fromEntries(readFrontMatter(`---\n${head}\n---\nbody`).values);

it.each<[string, string, Record<string, string>]>([
  [
    "words",
    "name: tide\ndescription: When it comes.",
    { name: "tide", description: "When it comes." },
  ],
  ["quoted words", `a: "say: \\"hi\\""\nb: 'it''s'`, { a: 'say: "hi"', b: "it's" }],
  [
    "lines that are one text",
    "description: >\n  How to\n  wait.\nname: x",
    { description: "How to wait.", name: "x" },
  ],
  ["lines that stay lines", "note: |-\n  a\n  b", { note: "a\nb" }],
  ["a text that goes on below", "description: How to\n  wait.", { description: "How to wait." }],
  ["no lists and groups", "metadata:\n  {a: 1}\ntags: [a, b]\nname: x", { name: "x" }],
  ["no remark behind a value", "name: x # or y", { name: "x" }],
])("the head of a file holds %s", (_, head, values) => {
  expect(read(head)).toEqual(values);
});

it("what has no head is all body", () => {
  expect(readFrontMatter("# Title\n---\n")).toEqual({ values: new Map(), body: "# Title\n---\n" });
  expect(readFrontMatter("---\r\nname: x\r\n---\r\nbody").body).toBe("body");
});
