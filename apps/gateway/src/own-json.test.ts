// What is stored when somebody changes the JSON that all code of the process shares.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { encodeHeader, encodeLine, readJournal } from "./door/memory/journal-lines.ts";
import { redactLine } from "./forget/redact-reports.ts";
import { fromJson, toJson } from "./own-json.ts";
import { formatEntries } from "./sessions/entry-lines.ts";
import { createSessionStore } from "./sessions/store.ts";
import { temporaryHome } from "./testing/home.ts";

const user = (content: string) => ({
  type: "message" as const,
  message: { role: "user" as const, content },
});

/** Runs it while the functions that all code shares answer for nothing. */
async function withoutShared<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  const { stringify, parse } = JSON;
  try {
    JSON.stringify = () => "{}";
    JSON.parse = () => ({});
    return await work();
  } finally {
    JSON.stringify = stringify;
    JSON.parse = parse;
  }
}

describe("JSON of our own", () => {
  it("keeps a session whole while the shared functions answer for nothing", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    const session = await store.open({ key: "main", cwd: home });
    await session.append([user("a fact")]);
    await withoutShared(() => session.append([user("meanwhile")]));
    await session.append([user("later")]);
    await session.close();
    const lines = readFileSync(session.session.sessionFile, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    const again = await store.open({ key: "main", cwd: home });
    expect(again.notes).toEqual([]);
    expect(again.branch().map((entry) => entry.type === "message" && entry.message)).toMatchObject([
      { content: "a fact" },
      { content: "meanwhile" },
      { content: "later" },
    ]);
    await again.close();
  });

  it("keeps what the door knows of a session, and what reports count when words are taken out", async () => {
    const line = {
      event: {
        ...{ type: "reply" as const, session: "agent:main:a", kind: "turn" as const, end: "e" },
        ...{ whole: true, calls: ["call_1"], forms: ["f"], words: "w", said: ["s"] },
      },
      ...{ stored: [], notes: { marks: {}, scale: 1 }, leafId: null },
    };
    const report = toJson({ v: 1, reason: "Remember the cellar door.", durationMs: 5 });
    const { journal, left } = await withoutShared(() => ({
      journal: readJournal(encodeHeader(line.event.session) + encodeLine(line, undefined)),
      left: redactLine(report, (text) => text.includes("cellar")),
    }));
    expect(journal).toEqual({ session: line.event.session, lines: [line] });
    expect(fromJson(left)).toMatchObject({ v: 1, durationMs: 5 });
    expect(left).not.toContain("cellar");
  });

  it("writes no line that is another entry than the one that is to be stored", () => {
    const entry = { ...user("hi"), id: "a", parentId: null, timestamp: new Date().toISOString() };
    const all = Object.prototype as { toJSON?: unknown };
    try {
      all.toJSON = () => ({});
      expect(() => formatEntries([entry])).toThrow(
        "The entry a of the session could not be put into words of its file, and nothing was stored",
      );
    } finally {
      delete all.toJSON;
    }
    expect(fromJson(formatEntries([entry])[0]!)).toEqual(entry);
    expect(toJson(entry)).toBe(JSON.stringify(entry));
  });
});
