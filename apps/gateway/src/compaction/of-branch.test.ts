import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { compactionsOf } from "./of-branch.ts";

const at = "2026-01-01T00:00:00.000Z";
const stored = (entry: object): TranscriptEntry =>
  ({ id: "e", parentId: null, timestamp: at, ...entry }) as TranscriptEntry;
const prune = (entryIds: string[], reason = "compaction") =>
  stored({
    ...{ type: "custom", customType: "clew.prune" },
    data: { v: 1, entryIds, placeholder: "gone", tokensFreed: 9, reason },
  });
const compaction = stored({
  ...{ type: "compaction", summary: "s", firstKeptEntryId: "e", tokensBefore: 1_200 },
  details: { trigger: "manual" },
});
const said = stored({ type: "message", message: { role: "user", content: "hi" } });

describe("the compactions of a branch", () => {
  it("are those that summarised, and those that only cleared old results", () => {
    expect(compactionsOf([said, prune(["a", "b"]), said, compaction])).toEqual([
      { at, trigger: null, of: "2 old tool results alone" },
      { at, trigger: "manual", of: "1,200 tokens of messages" },
    ]);
  });

  it("are one where both were done at once, and none where somebody else cleared", () => {
    expect(compactionsOf([prune(["a"]), compaction])).toHaveLength(1);
    expect(compactionsOf([said, prune(["a"], "agent")])).toEqual([]);
    expect(compactionsOf([])).toEqual([]);
  });
});
