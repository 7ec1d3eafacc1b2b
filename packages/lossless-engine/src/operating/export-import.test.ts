import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, user } from "@clew/plugin-sdk/testing";
import { activeBranch, parseTranscript, withMessageId } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { type NamedMessage, named } from "../messages/name.ts";
import { forget } from "../store/forget.ts";
import { markLeft } from "../store/left.ts";
import { storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { READER } from "../summaries/facts.ts";
import { sessionFile } from "../testing/session-file.ts";
import { conversationMessages, namedWithIds, temporaryStore } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { exportSessions } from "./export.ts";
import { importSessions } from "./import.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main", owner: ".." };

const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

/** What a store is exported as. */
async function exported(store: Store): Promise<Record<string, string>> {
  const folder = join(temporaryFolder(), "out");
  await exportSessions(store, { folder });
  return filesIn(folder);
}

/** A store that holds nothing but what these files tell. */
async function storeOf(files: Record<string, string>): Promise<Store> {
  const store = temporaryStore();
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { isWhole, text } = await importSessions(store, { files: [folder], owner: ".." });
  expect(text).toContain("Imported ");
  expect(isWhole).toBe(true);
  return store;
}

const rowsOf = (store: Store) =>
  store.read((sql) =>
    sql("SELECT id, role, time, flags, body FROM message ORDER BY conversation, seq").all(),
  );

/** Messages of every kind that hosts tell, with ids and without. */
const messages: fc.Arbitrary<readonly NamedMessage[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom(
        "user",
        "assistant",
        "custom",
        "branchSummary",
        "bash",
        "odd",
        "summary",
      ),
      text: fc.oneof(fc.string({ unit: "binary" }), fc.constant("x".repeat(5_000))),
      time: fc.oneof(
        fc.constant(undefined),
        fc.integer({ min: 0, max: 2 ** 41 }),
        fc.constantFrom(-1, 8.64e15 + 1, 1.5),
      ),
      id: fc.oneof(fc.constant(undefined), fc.string({ minLength: 1 }), fc.uuid()),
      heartbeat: fc.boolean(),
      isHeartbeat: fc.boolean(),
    }),
    { minLength: 1, maxLength: 90 },
  )
  .map((all) =>
    all.map(({ kind, text, time, id, heartbeat, isHeartbeat }) => {
      const made = {
        ...shapes[kind]!(text),
        ...(time !== undefined && { timestamp: time }),
        ...(heartbeat && { __openclaw: { kind: "heartbeat" } }),
      } as unknown as AgentMessage;
      const message = id === undefined ? made : withMessageId(made, id);
      return { ...named(message), isHeartbeat };
    }),
  );

const shapes: Record<string, (text: string) => object> = {
  user: (text) => ({ role: "user", content: text }),
  assistant: (text) => ({
    role: "assistant",
    content: [{ type: "text", text }],
    stopReason: "stop",
  }),
  custom: (text) => ({ role: "custom", customType: "note", content: text, display: false }),
  branchSummary: (text) => ({ role: "branchSummary", summary: text, fromId: "e1" }),
  summary: (text) => ({ role: "compactionSummary", summary: text, tokensBefore: 3 }),
  bash: (text) => ({ role: "bashExecution", command: "ls", output: text }),
  odd: (text) => ({ role: "nobody knows", what: [text, { deep: [null, 1e21] }] }),
};

describe("an export", () => {
  it("comes back to the byte, whatever is stored", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(messages, { minLength: 1, maxLength: 3 }), async (sessions) => {
        const store = temporaryStore();
        for (const [at, told] of sessions.entries()) {
          const each = { ...session, sessionId: `s${at}`, sessionKey: `agent:main:${at}` };
          const isLeft = Math.floor(told.length / 3);
          storeMessages(store, { session: each, messages: told.slice(0, 3), from: "seen" });
          storeMessages(store, { session: each, messages: told.slice(3), from: "told" });
          markLeft(store, { session: each, names: [told[isLeft]!.name], asked: "" }, READER);
        }
        const files = await exported(store);
        const again = await storeOf(files);
        expect(rowsOf(again)).toEqual(rowsOf(store));
        expect(await exported(again)).toEqual(files);
        expect((await verifyStore(again)).faults).toEqual([]);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("has each of many messages that say the same, without ids and times", async () => {
    const store = temporaryStore();
    const told = Array.from({ length: 100 }, () => ({ ...named(user("ok")), isNew: true }));
    storeMessages(store, { session, messages: told, from: "told" });
    const files = await exported(store);
    const again = await storeOf(files);
    expect(rowsOf(again)).toEqual(rowsOf(store));
    expect(rowsOf(again)).toHaveLength(100);
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { files: imported } = await importSessions(again, { files: [folder], owner: ".." });
    expect(imported[0]).toMatchObject({ told: 100, added: 0 });
  });

  it("is a session file of which hosts read the active branch", async () => {
    const store = temporaryStore();
    const told = namedWithIds(conversation({ turns: 3 }));
    storeMessages(store, { session, messages: told, from: "told" });
    const left = namedWithIds([user("left"), assistant("so be it")], "left");
    storeMessages(store, { session, messages: left, from: "told" });
    markLeft(store, { session, names: ["e4", "e5"], asked: "" }, READER);
    const files = await exported(store);
    expect(Object.keys(files)).toEqual(["s1.jsonl"]);
    const { header, entries, badLines } = parseTranscript(files["s1.jsonl"]!);
    expect(header).toMatchObject({ id: "s1", version: 3, sessionKey: "agent:main:main" });
    expect(badLines).toEqual([]);
    const shown = activeBranch(entries).flatMap((entry) =>
      entry.type === "message" ? [withMessageId(entry.message, entry.id)] : [],
    );
    expect(shown).toEqual(told.map(({ message }) => message));
    expect(files["s1.jsonl"]).toContain('"left":true');
  });

  it("holds one session where one is named, by key or by id, and no file is written over", async () => {
    const store = temporaryStore();
    for (const name of ["one", "two"])
      storeMessages(store, {
        ...{ session: { ...session, sessionId: name, sessionKey: `key ${name}` }, from: "told" },
        messages: namedWithIds(conversation({ turns: 2 })),
      });
    const folder = join(temporaryFolder(), "out");
    for (const named of ["key two", "two"]) {
      const out = `${folder} ${named}`;
      const { files } = await exportSessions(store, { folder: out, sessions: [named] });
      expect(files).toMatchObject([{ sessionId: "two", sessionKey: "key two", messages: 4 }]);
      const again = exportSessions(store, { folder: out, sessions: [named] });
      await expect(again).rejects.toThrow(/is there already; name another folder\.$/);
    }
    await expect(exportSessions(store, { folder, sessions: ["three"] })).rejects.toThrow(
      /^Nothing of a session "three" is stored in /,
    );
  });

  it("names messages that cannot be read, and has all others", async () => {
    const store = temporaryStore();
    const told = namedWithIds(conversation({ turns: 3 }));
    storeMessages(store, { session, messages: told, from: "told" });
    store.change((sql) => sql("UPDATE message SET body = 'no JSON' WHERE seq = 3").run());
    const { unreadable, files, text } = await exportSessions(store, { folder: temporaryFolder() });
    expect(unreadable).toEqual([3]);
    expect(files[0]?.messages).toBe(5);
    expect(text).toContain("\n1 message cannot be read and is in none: 3.");
  });

  it("leaves no half file when it is ended", async () => {
    const store = temporaryStore();
    const told = namedWithIds(conversation({ turns: 60 }));
    storeMessages(store, { session, messages: told, from: "told" });
    const ending = new AbortController();
    const { signal } = ending;
    const folder = temporaryFolder();
    const work = exportSessions(store, { folder, signal, onProgress: () => ending.abort() });
    await expect(work).rejects.toMatchObject({ name: "AbortError" });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("an import", () => {
  const from = (path: string) => ({ files: [path], owner: ".." });

  it("stores a session file of a host, each message once, however often it is read", async () => {
    const store = temporaryStore();
    const file = sessionFile("s1");
    const told = conversation({ turns: 40, tools: 1 });
    file.say(...told);
    const first = await importSessions(store, from(file.path));
    expect(first.files[0]).toMatchObject({ sessionId: "s1", told: 160, added: 160, problems: [] });
    file.say(user("later"));
    const again = await importSessions(store, from(file.path));
    expect(again.files[0]).toMatchObject({ told: 161, added: 1 });
    expect(again.text).toContain("; 160 messages of them were there already.");
    const stored = conversationMessages(store, { sessionId: "s1", owner: ".." });
    expect(stored.map(({ __openclaw: _, ...message }) => message)).toEqual([
      ...told,
      user("later"),
    ]);
  });

  it("stores what can be read of a file with torn and broken lines, and names those", async () => {
    const store = temporaryStore();
    const file = sessionFile("s1");
    file.say(user("one"), assistant("two"));
    file.raw('{"type":"mess\n');
    file.say(user("three"));
    file.raw("\u0000\u0000\n");
    file.raw(
      '{"type":"message","id":"x","parentId":"e2","timestamp":"2026-01-01T00:00:00.000Z","mess',
    );
    const { files, isWhole, text } = await importSessions(store, from(file.path));
    expect(files[0]).toMatchObject({ told: 3, added: 3 });
    expect(files[0]?.problems).toEqual([
      "line 4 is not a JSON object",
      "line 6 is not a JSON object",
      "its last line is half written",
    ]);
    expect(isWhole).toBe(false);
    expect(text).toContain(`  ${file.path}: line 4 is not a JSON object.`);
  });

  it("reads files of pi's older versions, whose entries have no ids, always the same", async () => {
    const store = temporaryStore();
    const file = join(temporaryFolder(), "old.jsonl");
    const lines = [
      { type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/w" },
      { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user("one") },
      { type: "message", timestamp: "2025-01-01T00:00:02.000Z", message: user("one") },
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect((await importSessions(store, from(file))).files[0]).toMatchObject({ told: 2, added: 2 });
    expect((await importSessions(store, from(file))).files[0]).toMatchObject({ told: 2, added: 0 });
  });

  it("says that a file is no session file; among others it keeps none from being read", async () => {
    const store = temporaryStore();
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.jsonl"), "hello\n");
    await expect(importSessions(store, from(join(folder, "a.jsonl")))).rejects.toThrow(
      /is no session file: its first line is no session header/,
    );
    await expect(importSessions(store, from(join(folder, "none")))).rejects.toThrow(
      /^There is nothing at /,
    );
    await expect(importSessions(store, from(temporaryFolder()))).rejects.toThrow(
      /has no session files/,
    );
    const file = sessionFile("s1");
    file.say(user("hello"));
    writeFileSync(join(folder, "b.jsonl"), readFileSync(file.path));
    const { files, isWhole } = await importSessions(store, from(folder));
    expect(files.map(({ added }) => added)).toEqual([0, 1]);
    expect(isWhole).toBe(false);
  });

  it("goes on where it was ended", async () => {
    const store = temporaryStore();
    const file = sessionFile("s1");
    file.say(...conversation({ turns: 60 }));
    const ending = new AbortController();
    const work = importSessions(store, {
      ...from(file.path),
      ...{ signal: ending.signal, onProgress: () => ending.abort() },
    });
    await expect(work).rejects.toMatchObject({ name: "AbortError" });
    expect((await importSessions(store, from(file.path))).files[0]).toMatchObject({
      ...{ told: 120, added: 88 },
    });
  });

  it("says how many messages stay forgotten that a file tells", async () => {
    const store = temporaryStore();
    const told = namedWithIds([user("The code is 4711."), user("Thank you."), user("Good night.")]);
    storeMessages(store, { session, messages: told, from: "told" });
    const files = await exported(store);
    forget(store, { numbers: [1], sessions: [] }, READER);
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { text } = await importSessions(store, { files: [folder], owner: ".." });
    expect(text).toMatch(
      /3 messages of them were there already; 1 message was forgotten or is no longer kept, and stays so\.$/,
    );
  });
});
