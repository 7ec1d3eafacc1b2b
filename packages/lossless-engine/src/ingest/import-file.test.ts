import { readFileSync, writeFileSync } from "node:fs";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { cursorOf } from "../store/cursors.ts";
import type { Store } from "../store/store.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { type SessionFile, sessionFile } from "../testing/session-file.ts";
import { conversationMessages, temporaryStore, withIds } from "../testing/stored.ts";
import { importFile } from "./import-file.ts";
import { storeTold } from "./ingest.ts";
import { storeSeen } from "./seen.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const importFrom = async (store: Store, file: SessionFile) =>
  importFile(store, { session, path: file.path });
const textsIn = (store: Store) => conversationMessages(store, session).map(textOf);
const idsIn = (store: Store) => conversationMessages(store, session).map(messageId);

describe("a file of another session", () => {
  it("is not spliced in where its first id is one of this session's, and says something else", async () => {
    const { engine, tell, texts } = startLife();
    await tell(withIds([user("What this session said.")], "f"));
    const file = sessionFile("another", "f");
    file.say(user("What nobody said here."), assistant("Nor this."));
    const read = await engine.bootstrap!({ ...SESSION, sessionFile: file.path });
    expect(read.reason).toContain("is of another session");
    expect(texts()).toHaveLength(1);
  });
});

describe("an import", () => {
  it("takes everything, in order, once, and nothing when it is asked again", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    const messages = conversation({ turns: 60, tools: 1, toolResultChars: 5_000 });
    file.say(...messages);
    expect(await importFrom(store, file)).toEqual({ imported: 240 });
    expect(await importFrom(store, file)).toEqual({ imported: 0 });
    expect(conversationMessages(store, session)).toEqual(withIds(messages));
  });

  it("takes what was written while the engine was away, and does not read the rest again", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    file.say(user("one"), assistant("two"), user("and"));
    await importFrom(store, file);
    // Were it read again, this would be another message.
    writeFileSync(file.path, readFileSync(file.path, "utf8").replaceAll('"e0"', '"x0"'));
    file.say(user("three"));
    file.append({ type: "custom", customType: "note" });
    file.say(assistant("four"));
    expect(await importFrom(store, file)).toEqual({ imported: 2 });
    expect(textsIn(store)).toEqual(["one", "two", "and", "three", "four"]);
  });

  it("is behind what it read also where that holds no message", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    file.say(user("one"));
    await importFrom(store, file);
    const note = file.append({ type: "custom", customType: "note" });
    expect(await importFrom(store, file)).toEqual({ imported: 0 });
    expect(cursorOf(store, session)).toMatchObject({
      bytes: readFileSync(file.path).length,
      entry: note,
    });
  });

  it("takes nothing twice that was told meanwhile", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    const turn = conversation({ turns: 1, tools: 1 });
    file.say(...turn);
    await storeTold(store, { session, messages: withIds(turn) });
    expect(await importFrom(store, file)).toEqual({ imported: 0 });
    file.say(user("a turn that failed"));
    file.say(user("the next turn"));
    expect(await importFrom(store, file)).toEqual({ imported: 2 });
  });

  it("leaves out branches that were left, and keeps what was on the way to the newest entry", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    const fork = file.say(user("root"), assistant("answer"));
    file.say(user("left behind"));
    file.append({ type: "message", message: user("went on") }, fork);
    await importFrom(store, file);
    expect(textsIn(store)).toEqual(["root", "answer", "went on"]);
    file.append({ type: "message", message: user("another way") }, fork);
    expect(await importFrom(store, file)).toEqual({ imported: 1 });
    expect(textsIn(store)).toEqual(["root", "answer", "went on", "another way"]);
  });

  it("begins behind a new root in the middle of the file, and bridges a lost parent", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    file.say(user("before"));
    file.append({ type: "message", message: user("new root") }, null);
    file.append({ type: "message", message: user("orphan") }, "nobody");
    await importFrom(store, file);
    expect(textsIn(store)).toEqual(["new root", "orphan"]);
  });

  it("keeps what stands before a compaction and a reset, and the summary as it was written", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    const kept = file.say(user("one"), assistant("two"));
    file.append({ type: "compaction", summary: "so far", firstKeptEntryId: kept, tokensBefore: 9 });
    file.say(user("three"));
    file.append({ type: "reset" });
    file.say(user("four"));
    await importFrom(store, file);
    expect(textsIn(store)).toEqual(["one", "two", "so far", "three", "four"]);
  });

  it("takes a message as it was first stored, not as a rewrite shortened it", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    const call = toolCall("read");
    const before = file.say(user("look"), assistant([call]));
    const whole = file.say(toolResult(call, "every line of it"));
    const shorter = { ...toolResult(call, "cut"), __openclaw: { id: whole } };
    file.append({ type: "message", message: shorter }, before);
    file.say(assistant("seen"));
    await importFrom(store, file);
    expect(textsIn(store)).toEqual(["look", "", "every line of it", "seen"]);
    expect(idsIn(store)[2]).toBe(whole);
  });

  it("skips lines that cannot be read, and waits for one that is being written", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    file.say(user("one"));
    file.raw("this is no entry\n");
    file.say(user("two"));
    file.raw('{"type":"message","id":"late","parentId":"e1","timestamp":"2026","mess');
    expect(await importFrom(store, file)).toEqual({ imported: 2 });
    expect(await importFrom(store, file)).toEqual({ imported: 0 });
    file.raw('age":{"role":"user","content":"three"}}\n');
    expect(await importFrom(store, file)).toEqual({ imported: 1 });
    expect(textsIn(store)).toEqual(["one", "two", "three"]);
  });

  it("takes a last line that only lacks its line feed", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    file.say(user("one"), user("two"));
    writeFileSync(file.path, readFileSync(file.path, "utf8").trimEnd());
    expect(await importFrom(store, file)).toEqual({ imported: 2 });
    file.raw("\n");
    file.say(user("three"));
    expect(await importFrom(store, file)).toEqual({ imported: 1 });
  });

  it("of a file that was replaced reads it anew, and another session's goes nowhere", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    file.say(user("one"), user("two"));
    await importFrom(store, file);
    const other = sessionFile("s1", "other");
    other.say(user("unrelated"), user("talk"));
    writeFileSync(file.path, readFileSync(other.path));
    expect(await importFrom(store, file)).toEqual({ imported: 2 });
    expect(textsIn(store)).toEqual(["one", "two", "unrelated", "talk"]);
  });

  it("that was interrupted goes on where it stopped, and ends", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    const messages = conversation({ turns: 100 });
    file.say(...messages);
    const abort = new AbortController();
    const cut = importFile(store, { session, path: file.path, signal: abort.signal });
    while (conversationMessages(store, session).length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await expect(cut).rejects.toThrow();
    const before = conversationMessages(store, session).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(200);
    expect(await importFrom(store, file)).toEqual({ imported: 200 - before });
    expect(conversationMessages(store, session)).toEqual(withIds(messages));
  });

  it("of what is no file, or no transcript, says so", async () => {
    const store = temporaryStore();
    const missing = await importFile(store, { session, path: "/nowhere/agent:main:main" });
    expect(missing.reason).toMatch(/cannot be read$/);
    const file = sessionFile();
    writeFileSync(file.path, "just some notes\n");
    expect((await importFrom(store, file)).reason).toMatch(/is no session file$/);
    expect(conversationMessages(store, session)).toEqual([]);
  });

  it("marks what was said in a heartbeat until a person speaks again", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    file.say(user("HEARTBEAT", { __openclaw: { kind: "heartbeat" } }), assistant("HEARTBEAT_OK"));
    file.say(user("hello"));
    await importFrom(store, file);
    const flags = store.read((sql) => sql("SELECT flags FROM message ORDER BY seq").all());
    expect(flags.map(({ flags }) => flags)).toEqual([2, 2, 0]);
  });
});

describe("messages of a host without ids", () => {
  it("are read in their session file, where they have some", async () => {
    const [store, file] = [temporaryStore(), sessionFile()];
    for (const number of [1, 2, 3]) {
      // The same words every time, without a time: ten short answers all stay.
      const turn: AgentMessage[] = [
        { role: "user", content: "ok" },
        assistant("ok", { timestamp: 0 }),
      ];
      file.say(...turn);
      const { added } = await storeTold(store, { session, messages: turn, sessionFile: file.path });
      expect([number, added]).toEqual([number, 2]);
    }
    expect(await importFrom(store, file)).toEqual({ imported: 0 });
    expect(idsIn(store)).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
  });

  it("are told by what they say, where there is no file", async () => {
    const store = temporaryStore();
    const turn = conversation({ turns: 2 });
    const told = { session, messages: turn, sessionFile: "agent:main:main" };
    expect((await storeTold(store, told)).added).toBe(4);
    expect((await storeTold(store, told)).added).toBe(0);
  });
});

describe("what a view shows", () => {
  it("is stored where nobody told of it, and told later it takes its place", async () => {
    const store = temporaryStore();
    const messages: AgentMessage[] = withIds([
      user("one"),
      assistant("two"),
      { role: "custom", customType: "note", content: "a note between" },
    ]);
    await storeTold(store, { session, messages: messages.slice(0, 2) });
    await storeSeen(store, { session, messages });
    expect(textsIn(store)).toEqual(["one", "two", "a note between"]);
    await storeSeen(store, { session, messages });
    expect(textsIn(store)).toHaveLength(3);
  });

  it("is a whole past where the engine meets the session in the middle", async () => {
    const store = temporaryStore();
    const messages = withIds(conversation({ turns: 50 }));
    await storeSeen(store, { session, messages });
    expect(conversationMessages(store, session)).toEqual(messages);
  });

  it("of a host without ids and times is left to the calls that tell of it", async () => {
    const store = temporaryStore();
    const messages = conversation({ turns: 5 });
    const timeless = messages.map(({ timestamp: _, ...rest }) => rest as AgentMessage);
    await storeSeen(store, { session, messages: timeless });
    expect(conversationMessages(store, session)).toEqual([]);
    await storeSeen(store, { session, messages });
    expect(conversationMessages(store, session)).toEqual(messages);
  });
});
