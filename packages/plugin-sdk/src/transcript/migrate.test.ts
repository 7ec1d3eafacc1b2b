import { describe, expect, it } from "vitest";
import { activeBranch } from "./branch.ts";
import { buildContext } from "./context.ts";
import type { TranscriptHeader } from "./entries.ts";
import { migrateTranscript } from "./migrate.ts";
import { parseTranscript } from "./parse.ts";

const header = (version: number): TranscriptHeader => ({
  type: "session",
  version,
  id: "s",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/",
});
const said = (content: string) => ({
  type: "message",
  timestamp: "2026-01-01T00:00:01.000Z",
  message: { role: "user", content },
});
const file = (version: number, records: object[]) =>
  [header(version), ...records].map((line) => `${JSON.stringify(line)}\n`).join("");
const contents = (text: string) =>
  buildContext(activeBranch(parseTranscript(text).entries)).items.map(({ message }) =>
    "content" in message ? message.content : message.role,
  );

describe("migrateTranscript", () => {
  it("links the entries of version 1 in file order, with ids that depend on the content alone", () => {
    const records = [said("a"), said("a"), said("b")];
    const once = migrateTranscript(header(1), records);
    expect(once).toEqual(migrateTranscript(header(1), structuredClone(records)));
    expect(once).toMatchObject({ migrated: true, header: { version: 3 } });
    const ids = once.entries.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => /^[0-9a-f]{8}$/.test(String(id)))).toBe(true);
    expect(once.entries.map(({ parentId }) => parentId)).toEqual([null, ids[0], ids[1]]);
  });

  it("turns the file number a version 1 compaction keeps from into the entry's id", () => {
    // Line 0 is the header, so 2 is the second entry.
    const compaction = {
      type: "compaction",
      timestamp: "t",
      summary: "S",
      tokensBefore: 5,
      firstKeptEntryIndex: 2,
    };
    expect(contents(file(1, [said("a"), said("b"), compaction, said("c")]))).toEqual([
      "compactionSummary",
      "b",
      "c",
    ]);
  });

  it.each([
    [0, ["compactionSummary", "a", "b", "c"]],
    [99, ["compactionSummary", "c"]],
    [undefined, ["compactionSummary", "c"]],
  ])("keeps what it can when that number is %s", (firstKeptEntryIndex, expected) => {
    const compaction = {
      type: "compaction",
      timestamp: "t",
      summary: "S",
      tokensBefore: 5,
      firstKeptEntryIndex,
    };
    expect(contents(file(1, [said("a"), said("b"), compaction, said("c")]))).toEqual(expected);
  });

  it("counts an unreadable line of version 1 when it resolves such a number", () => {
    const compaction = JSON.stringify({
      type: "compaction",
      timestamp: "t",
      summary: "S",
      tokensBefore: 5,
      firstKeptEntryIndex: 3,
    });
    const text = [
      JSON.stringify(header(1)),
      JSON.stringify(said("a")),
      "{broken",
      JSON.stringify(said("b")),
      compaction,
      "",
    ].join("\n");
    expect(contents(text)).toEqual(["compactionSummary", "b"]);
    expect(parseTranscript(text)).toMatchObject({ migrated: true, badLines: [{ line: 3 }] });
  });

  it("renames the role hookMessage of version 2 and keeps its tree", () => {
    const hook = {
      type: "message",
      id: "h",
      parentId: "a",
      timestamp: "t",
      message: { role: "hookMessage", customType: "x", content: "note" },
    };
    const first = { ...said("a"), id: "a", parentId: null };
    const { entries } = migrateTranscript(header(2), [first, hook]);
    expect(entries[0]).toBe(first);
    expect(entries[1]).toEqual({
      ...hook,
      message: { role: "custom", customType: "x", content: "note" },
    });
    expect(contents(file(2, [first, hook]))).toEqual(["a", "note"]);
  });

  it("gives version 3 back as it is and changes nothing it was given", () => {
    const records = [{ ...said("a"), id: "a", parentId: null }];
    expect(migrateTranscript(header(3), records)).toEqual({
      header: header(3),
      entries: records,
      migrated: false,
    });
    const old = Object.freeze({ ...said("a") });
    migrateTranscript(Object.freeze(header(1)), Object.freeze([old]));
    expect(old).not.toHaveProperty("id");
  });
});
