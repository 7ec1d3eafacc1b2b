import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { UserMessage } from "../contract/message.ts";
import { buildContext, type TranscriptContext } from "./context.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "./entries.ts";
import { messageId } from "./message-id.ts";

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
      __openclaw: { id: "e4" },
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
      __openclaw: { id: "e0" },
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

  it("gives every message its id: what is stored on it, else its entry's", () => {
    const branch = branchOf(
      { type: "message", message: { role: "user", content: "again", __openclaw: { id: "first" } } },
      said("old file"),
      { type: "custom_message", customType: "n", content: "c", __openclaw: { id: "noted" } },
      { type: "branch_summary", fromId: "x", summary: "s" },
      compaction("e0"),
    );
    const { items } = buildContext(branch);
    expect(items.map(({ id }) => id)).toEqual(["e4", "first", "e1", "noted", "e3"]);
    expect(items.map(({ message }) => messageId(message))).toEqual(items.map(({ id }) => id));
  });

  it("keeps what else the host wrote on a message that gets its id, and leaves the entry alone", () => {
    const message: UserMessage = { role: "user", content: "q", __openclaw: { runId: "r" } };
    const [item] = buildContext(branchOf({ type: "message", message })).items;
    expect(item?.message).toEqual({ ...message, __openclaw: { runId: "r", id: "e0" } });
    expect(message.__openclaw).toEqual({ runId: "r" });
  });

  it("gives the same object for the same stored message each time", () => {
    const branch = branchOf(said("old file"));
    expect(buildContext(branch).items[0]!.message).toBe(buildContext(branch).items[0]!.message);
  });

  it("lets the later of two entries that claim one id fall back to its own", () => {
    const claims = (id: string): NewTranscriptEntry => ({
      type: "message",
      message: { role: "user", content: id, __openclaw: { id } },
    });
    const branch = branchOf(claims("x"), claims("x"), claims("e3"), said("e3 itself"));
    const { items } = buildContext(branch);
    expect(items.map(({ id }) => id)).toEqual(["x", "e1", "e3", "e3~"]);
    const compacted = [...branch, ...branchOf(...branch, compaction("e1")).slice(4)];
    expect(buildContext(compacted).items.map(({ id }) => id)).toEqual(["e4", "e1", "e3", "e3~"]);
  });

  it("gives a message one id and no other message the same, however the branch grew", () => {
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.nat({ max: 12 }).map(
          (claim): NewTranscriptEntry => ({
            type: "message",
            message: {
              role: "user",
              content: "m",
              ...(claim < 9 && { __openclaw: { id: `e${claim}` } }),
            },
          }),
        ),
      },
      { weight: 1, arbitrary: fc.nat({ max: 12 }).map((index) => compaction(`e${index}`)) },
      {
        weight: 1,
        arbitrary: fc.constant<NewTranscriptEntry>({ type: "custom", customType: "x" }),
      },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (news) => {
        const branch = branchOf(...news);
        const given = new Map<string, string>();
        let context: TranscriptContext | undefined;
        for (let length = 0; length <= branch.length; length++) {
          context = buildContext(branch.slice(0, length), context);
          expect(context.items).toEqual(buildContext(branch.slice(0, length)).items);
          expect(new Set(context.items.map(({ id }) => id)).size).toBe(context.items.length);
          for (const { entryId, id, message } of context.items) {
            expect(messageId(message)).toBe(id);
            expect(given.get(entryId) ?? id).toBe(id);
            given.set(entryId, id);
          }
        }
      }),
    );
  });
});
