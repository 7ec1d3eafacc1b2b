import { describe, expect, it } from "vitest";
import type { NewTranscriptEntry, TranscriptEntry } from "./entries.ts";
import { moveReferences } from "./references.ts";
import { sessionProjections, sessionPruneEntry } from "./session-projection.ts";

const place = (entry: NewTranscriptEntry): TranscriptEntry => ({
  ...entry,
  id: "e",
  parentId: "a",
  timestamp: "2026-01-01T00:00:00.000Z",
});
const moved = (id: string) => (id === "a" ? "A" : id);
const move = (entry: NewTranscriptEntry) => moveReferences(place(entry), moved);
const prune = (entryIds: string[]): NewTranscriptEntry => ({
  type: "custom",
  customType: "clew.prune",
  data: { v: 1, entryIds, placeholder: "…", tokensFreed: 1, reason: "compaction" },
});

describe("references between entries", () => {
  it("move along, and the entry's own id and parent stay", () => {
    expect(
      move({ type: "compaction", summary: "s", firstKeptEntryId: "a", tokensBefore: 1 }),
    ).toMatchObject({ firstKeptEntryId: "A" });
    expect(move({ type: "reset", firstKeptEntryId: "a" })).toMatchObject({
      firstKeptEntryId: "A",
      id: "e",
      parentId: "a",
    });
    expect(move({ type: "label", targetId: "a" })).toMatchObject({ targetId: "A" });
    expect(move({ type: "branch_summary", fromId: "a", summary: "s" })).toMatchObject({
      fromId: "A",
    });
    expect(move(prune(["a", "b"]))).toMatchObject({ data: { entryIds: ["A", "b"] } });
    const soft = { kind: "soft", entryId: "a", headChars: 1, tailChars: 1 } as const;
    const hard = { kind: "hard", entryId: "b", placeholder: "…" } as const;
    expect(sessionProjections([move(sessionPruneEntry([soft, hard]))])).toEqual([
      { ...soft, entryId: "A" },
      hard,
    ]);
  });

  it("that name nothing that moved leave the very entry, and so do records of another form", () => {
    const entries: NewTranscriptEntry[] = [
      { type: "message", message: { role: "user", content: "a" } },
      { type: "compaction", summary: "s", firstKeptEntryId: "b", tokensBefore: 1 },
      { type: "reset" },
      { type: "label", targetId: "b" },
      prune(["b"]),
      { type: "custom", customType: "clew.prune", data: { entryIds: ["a"] } },
      { type: "custom", customType: "clew.session-prune", data: "?" },
      { type: "custom", customType: "mine", data: { entryIds: ["a"] } },
      sessionPruneEntry([{ kind: "hard", entryId: "b", placeholder: "…" }]),
    ];
    for (const entry of entries.map(place)) expect(moveReferences(entry, moved)).toBe(entry);
  });
});
