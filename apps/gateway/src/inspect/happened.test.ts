import { sessionPruneEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { describeBetween, describeCut, planMarks } from "./happened.ts";

describe("marks of a call", () => {
  const marksOf = (kind: string) =>
    planMarks(
      {
        call: { error: "It ended.", failure: { kind } },
        report: { model: {}, engine: { ran: "legacy", configured: "legacy" } },
        number: 1,
      } as never,
      { fresh: [], compactions: [], threads: [] } as never,
    );

  it("tell what a person stopped from what failed", () => {
    expect(marksOf("aborted")).toEqual(["stopped"]);
    expect(marksOf("network")).toEqual(["failed"]);
    expect(marksOf("overflow")).toEqual(["overflow"]);
  });
});

describe("a prune before a call", () => {
  it("says how many results it shortened, and how many it cleared", () => {
    const entry = {
      ...sessionPruneEntry([
        { entryId: "a", kind: "soft", headChars: 1, tailChars: 1 },
        { entryId: "b", kind: "soft", headChars: 1, tailChars: 1 },
        { entryId: "c", kind: "hard", placeholder: "gone" },
      ]),
      ...{ id: "p", parentId: null, timestamp: "2026-11-27T10:00:00.000Z" },
    } as TranscriptEntry;
    const between = {
      fresh: [entry],
      isTurned: false,
      compactions: [],
      threads: [],
      unanswered: [],
    };
    expect(
      describeBetween({ ...between, hiddenBy: () => 0, tokensOf: (_id, estimate) => estimate }),
    ).toEqual(["prune: 2 tool results shortened, 1 tool result cleared"]);
  });
});

describe("a view of the door", () => {
  const view = { tokens: 21_935, setAside: 4_100, leftOut: 2, moved: true };
  const report = (given: typeof view) => ({
    door: {
      ...{ wire: "anthropic-messages", matchedBy: "prefix", kind: "turn" as const },
      messages: { fresh: 1, known: 9, edited: 0 },
      view: given,
    },
  });

  it("is told where it moved on, as what it is", () => {
    expect(describeCut(report(view))).toEqual([
      "shortened to 21,935 tokens by the door's view (4,100 tokens set aside, 2 messages left out)",
    ]);
    expect(describeCut(report({ ...view, moved: false }))).toEqual([]);
  });
});
