import { describe, expect, it } from "vitest";
import { type InspectOptions, planQuestion } from "./question.ts";

describe("what one clew inspect answers", () => {
  it.each<[InspectOptions, unknown]>([
    [{}, { kind: "list" }],
    [{ turn: 58 }, { kind: "turn", turn: 58 }],
    [{ call: "t58 c3" }, { kind: "call", call: { id: "58.3" } }],
    [{ dearest: true }, { kind: "call", call: { by: "dearest" } }],
    [
      { fullest: true, request: true },
      { kind: "request", call: { by: "fullest" } },
    ],
    [{ diff: "57.1" }, { kind: "diff", from: "57.1", to: { by: "newest" } }],
    [
      { diff: "57.1", call: "call 3 of turn 58" },
      { kind: "diff", from: "57.1", to: { id: "58.3" } },
    ],
    [
      { diff: "57.1", dearest: true },
      { kind: "diff", from: "57.1", to: { by: "dearest" } },
    ],
    [
      { find: "tide", limit: 5 },
      { kind: "find", text: "tide", after: undefined, limit: 5 },
    ],
    // That there is no such call is said by whoever looks for it.
    [{ call: "last" }, { kind: "call", call: { id: "last" } }],
  ])("%o", (options, question) => {
    expect(planQuestion(options)).toEqual(question);
  });

  it.each<[InspectOptions, RegExp]>([
    [{ call: "3.1", find: "x" }, /^--call and --find ask for different things/],
    [{ find: "x", bisect: "y" }, /^--find and --bisect /],
    [{ entry: "3", diff: "3.1" }, /^--diff and --entry /],
    [{ dearest: true, fullest: true }, /^--dearest and --fullest /],
    [{ call: "3.1", fullest: true }, /^--call and --fullest /],
    [{ turn: 3, call: "3.1" }, /^--call and --turn /],
    [{ diff: "3.1", call: "3.2", request: true }, /^--diff and --request /],
    [{ find: "x", request: true }, /^--find and --request /],
    [{ request: true }, /^--request prints the request of one call/],
    [{ call: "3" }, /^--call names one call, .* --turn 3 lists/],
    [{ diff: "t3" }, /^--diff names one call/],
    [{ after: 3 }, /^--after and --limit page through what --find finds/],
    [{ find: "" }, /^--find looks for a text, and an empty one stands everywhere/],
    [{ bisect: "" }, /^--bisect looks for a text/],
    [{ find: "x", limit: 0 }, /^--limit .* at least 1/],
  ])("refuses %o with a sentence", (options, sentence) => {
    expect(() => planQuestion(options)).toThrow(sentence);
  });
});
