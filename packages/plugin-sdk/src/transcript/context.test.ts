import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildContext, type TranscriptContext } from "./context.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "./entries.ts";

const TIME = "2026-01-01T00:00:00.000Z";

function branchOf(...news: NewTranscriptEntry[]): TranscriptEntry[] {
  return news.map((entry, index) => ({
    ...entry,
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: TIME,
  }));
}

const said = (content: string): NewTranscriptEntry => ({
  type: "message",
  message: { role: "user", content },
});
const compaction = (firstKeptEntryId: string): NewTranscriptEntry => ({
  type: "compaction",
  summary: "S",
  firstKeptEntryId,
  tokensBefore: 9,
});
const ids = (context: TranscriptContext) => context.items.map(({ entryId }) => entryId).join(" ");

describe("buildContext", () => {
  it("is all messages, custom messages and branch summaries, and no records, when nothing was compacted", () => {
    const context = buildContext(
      branchOf(
        said("one"),
        { type: "custom", customType: "x" },
        { type: "custom_message", customType: "note", content: "two", display: false },
        { type: "branch_summary", fromId: "e0", summary: "three" },
        { type: "label", targetId: "e0", label: "L" },
      ),
    );
    expect(ids(context)).toBe("e0 e2 e3");
    expect(context.items.map(({ message }) => message.role)).toEqual([
      "user",
      "custom",
      "branchSummary",
    ]);
    expect(context.items[1]!.message.timestamp).toBe(Date.parse(TIME));
  });

  it("puts the latest compaction's summary first, then the entries it kept, then the rest", () => {
    const branch = branchOf(
      said("0"),
      said("1"),
      compaction("e1"),
      said("3"),
      compaction("e3"),
      said("5"),
    );
    const context = buildContext(branch);
    expect(ids(context)).toBe("e4 e3 e5");
    expect(context.items[0]!.message).toEqual({
      role: "compactionSummary",
      summary: "S",
      tokensBefore: 9,
      timestamp: Date.parse(TIME),
    });
  });

  it("keeps nothing of the old tail when the first kept entry is not on the branch", () => {
    expect(ids(buildContext(branchOf(said("0"), compaction("gone"), said("2"))))).toBe("e1 e2");
  });

  it("drops everything before a reset, or before the entry it keeps from", () => {
    expect(
      ids(buildContext(branchOf(said("0"), compaction("e0"), { type: "reset" }, said("3")))),
    ).toBe("e3");
    expect(
      ids(
        buildContext(
          branchOf(said("0"), said("1"), { type: "reset", firstKeptEntryId: "e1" }, said("3")),
        ),
      ),
    ).toBe("e1 e3");
  });

  it("leaves the time out when the entry's cannot be read", () => {
    const [entry] = branchOf({ type: "branch_summary", fromId: "x", summary: "s" });
    expect(buildContext([{ ...entry!, timestamp: "" }]).items[0]!.message).toEqual({
      role: "branchSummary",
      summary: "s",
      fromId: "x",
    });
  });

  it("reuses the items of the context before when the branch only grew", () => {
    const whole = branchOf(
      said("0"),
      { type: "custom_message", customType: "n", content: "1" },
      said("2"),
    );
    const before = buildContext(whole.slice(0, 2));
    const after = buildContext(whole, before);
    expect(after.items.slice(0, 2).every((item, index) => item === before.items[index])).toBe(true);
    expect(ids(after)).toBe("e0 e1 e2");
  });

  it("reads only the new entries of a branch that grew", () => {
    const whole = branchOf(...Array.from({ length: 2000 }, (_, index) => said(String(index))));
    const before = buildContext(whole.slice(0, 1999));
    let reads = 0;
    const watched = new Proxy(whole, {
      get(target, key, receiver) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key, receiver);
      },
    });
    expect(buildContext(watched, before).items).toHaveLength(2000);
    expect(reads).toBeLessThan(10);
  });

  it("equals a context built anew, however the branch grew", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant(said("m")) },
      { weight: 1, arbitrary: fc.nat({ max: 30 }).map((index) => compaction(`e${index}`)) },
      { weight: 1, arbitrary: fc.constant<NewTranscriptEntry>({ type: "reset" }) },
      {
        weight: 1,
        arbitrary: fc.constant<NewTranscriptEntry>({ type: "custom", customType: "x" }),
      },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat({ max: 30 }), (news, split) => {
        const branch = branchOf(...news);
        const before = buildContext(branch.slice(0, split));
        expect(buildContext(branch, before).items).toEqual(buildContext(branch).items);
      }),
    );
  });

  it("starts anew when the branch is another one", () => {
    const left = buildContext(branchOf(said("left"), said("left 2")));
    const right = branchOf(said("right"), said("right 2"), said("right 3"));
    expect(buildContext(right, left).items.map(({ message }) => message)).toEqual(
      buildContext(right).items.map(({ message }) => message),
    );
  });
});
