import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { activeBranch, placeEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { branchPlaces } from "./branch-places.ts";
import { placeBytes } from "./place-bytes.ts";
import { planIndex } from "./plan-index.ts";
import { planPlace } from "./plan-place.ts";

describe("the places of a branch", () => {
  const parents = fc.array(fc.option(fc.nat(20)), { maxLength: 20 });

  it("are those of the active branch, and what comes follows it", () => {
    fc.assert(
      fc.property(parents, (list) => {
        const entries: TranscriptEntry[] = list.map((parent, at) =>
          placeEntry(
            { type: "message", message: { role: "user", content: "x" } },
            {
              ...{ id: `e${at}`, timestamp: "2026-01-01T00:00:00.000Z" },
              parentId: parent === null || at === 0 ? null : `e${parent % at}`,
            },
          ),
        );
        const ranges = branchPlaces(entries);
        const ids = ranges.flatMap(([from, to]) =>
          entries.slice(from - 1, to ?? entries.length).map(({ id }) => id),
        );
        expect(ids).toEqual(activeBranch(entries).map(({ id }) => id));
        expect(ranges.at(-1)![1]).toBe(null);
        expect(ranges.slice(0, -1).every(([, to]) => to !== null)).toBe(true);
      }),
    );
  });
});

describe("a file that is written", () => {
  const bytes = fc.uint8Array({ maxLength: 12, max: 2 });

  it("is what was wanted, or as it was", async () => {
    const home = await temporaryHome();
    const [file, staging] = [join(home, "file"), join(home, "staging")];
    await fc.assert(
      fc.asyncProperty(bytes, bytes, fc.integer({ min: 1, max: 5 }), async (old, wanted, size) => {
        await writeFile(file, old);
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < wanted.length; at += size)
          pieces.push(wanted.subarray(at, at + size));
        const request = { file, wanted: pieces, staging };
        const looked = await placeBytes({ ...request, isCheck: true });
        expect(new Uint8Array(await readFile(file))).toEqual(old);
        const placed = await placeBytes({ ...request, isCheck: false });
        expect(placed).toBe(looked);
        const [shorter, longer] = old.length < wanted.length ? [old, wanted] : [wanted, old];
        const isPrefix = Buffer.from(longer.subarray(0, shorter.length)).equals(shorter);
        const expected = !isPrefix
          ? "other"
          : old.length === wanted.length
            ? "same"
            : old.length < wanted.length
              ? "written"
              : "longer";
        expect(placed).toBe(expected);
        const now = new Uint8Array(await readFile(file));
        expect(now).toEqual(expected === "written" ? wanted : old);
      }),
    );
  });
});

describe("the list of sessions", () => {
  const index = {
    "agent:main:a": { sessionId: "a", label: "A", updatedAt: 1 },
    "agent:main:gone": { sessionId: "gone" },
  };
  const plan = (
    sessions: { key: string; sessionId: string; label: string | null }[],
    deleted: string[] = [],
  ) => {
    const completed = { ...index, "agent:main:found": { sessionId: "found" } };
    return planIndex({ index, completed, sessions, deleted: new Set(deleted) });
  };
  const a = { key: "agent:main:a", sessionId: "a", label: "A" };

  it("stays where it says all, or a list would", () => {
    const found = { key: "agent:main:found", sessionId: "found", label: null };
    expect(plan([a, found])).toEqual({ index, isChanged: false, taken: [] });
  });

  it("follows a new name, and keeps what others say of a session", () => {
    const { index: after } = plan([{ ...a, key: "agent:main:b", label: null }], ["gone"]);
    expect(after).toEqual({ "agent:main:b": { sessionId: "a", updatedAt: 1 } });
  });

  it("names a name that another session has", () => {
    const taken = plan([{ key: "agent:main:gone", sessionId: "new", label: null }]);
    expect(taken).toEqual({ index, isChanged: false, taken: ["agent:main:gone"] });
  });
});

describe("the place of a file", () => {
  it.each([
    ["sessions/s1.jsonl", { kind: "transcript", sessionId: "s1" }],
    ["sessions/s1.jsonl.door", { kind: "of-session", sessionId: "s1", isOwn: false }],
    ["sessions/s1.jsonl.lock", { kind: "lock" }],
    ["sessions/s1.jsonl.lock.draft-1", { kind: "lock" }],
    ["sessions/sessions.json", { kind: "index" }],
    ["sessions/notes.txt", { kind: "other" }],
    ["sessions/ä.jsonl", { kind: "other" }],
    ["sessions/sub/s1.jsonl", { kind: "other" }],
    ["reports/s1.older.jsonl", { kind: "of-session", sessionId: "s1", isOwn: false }],
    ["reports/parts/abc", { kind: "part", hash: "abc" }],
    ["reports/parts/a b", { kind: "other" }],
    ["outbox/s1.jsonl", { kind: "of-session", sessionId: "s1", isOwn: true }],
  ])("%s says what it is", (path, planned) => {
    expect(planPlace(path.split("/"))).toEqual(planned);
  });
});
