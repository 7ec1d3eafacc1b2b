import { describe, expect, it } from "vitest";
import { soughtBy } from "./search-words.ts";

describe("what is looked for", () => {
  it.each([
    ["58.3", { kind: "call", id: "58.3", from: null }],
    ["call 17 of turn 3", { kind: "call", id: "3.17", from: null }],
    ["Call 03.17", { kind: "call", id: "3.17", from: null }],
    ["t3 c17", { kind: "call", id: "3.17", from: null }],
    ["turn 58", { kind: "call", id: "t58", from: null }],
    ["57.1..58.3", { kind: "call", id: "58.3", from: "57.1" }],
    ["57.1 t58c3", { kind: "call", id: "58.3", from: "57.1" }],
    ["58", { kind: "text", text: "58" }],
    ["#1241", { kind: "entry", number: 1241 }],
    ["entry 3", { kind: "entry", number: 3 }],
    ["KEY-4711", { kind: "text", text: "KEY-4711" }],
    ['"58.3"', { kind: "text", text: "58.3" }],
    [" costs 58.3 dollars ", { kind: "text", text: "costs 58.3 dollars" }],
    ["  ", { kind: "nothing" }],
  ])("%s", (words, sought) => {
    expect(soughtBy(words)).toEqual(sought);
  });
});
