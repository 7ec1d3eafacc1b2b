import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import {
  assistant,
  conversation,
  FIRST_TIMESTAMP,
  toolCall,
  toolResult,
  user,
} from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { named } from "../messages/name.ts";
import { namedWithIds, temporaryStore, withIds } from "../testing/stored.ts";
import { conversationsOf } from "./conversations.ts";
import { cursorOf } from "./cursors.ts";
import { knownNames, type NewMessages, readMessages, storeMessages } from "./messages.ts";
import type { Store } from "./store.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const tell = (store: Store, messages: NewMessages["messages"], extras: Partial<NewMessages> = {}) =>
  storeMessages(store, { session, messages, from: "told", ...extras });
const familyOf = (store: Store, of = session) => store.read((sql) => conversationsOf(sql, of));
const storedOf = (store: Store, of = session) =>
  familyOf(store, of).flatMap((conversation) =>
    readMessages(store, { conversation, limit: 1_000 }).map(({ message }) => message),
  );
const rowsOf = (store: Store, table: string) =>
  store.read((sql) => Number(sql(`SELECT count(*) AS rows FROM ${table}`).get()?.rows));

describe("a message", () => {
  it.each(["\ud800", "\udfff.", "a\u0000b", "\u202e", 'json"x', "x".repeat(200_000)])(
    "of any name, role and turn is kept, and nothing is wrong with it: %j",
    async (odd) => {
      const store = temporaryStore();
      const messages = [
        withMessageId({ role: odd, content: "by nobody" } as unknown as AgentMessage, odd),
        withMessageId({ ...user("asked"), idempotencyKey: odd }, `${odd}2`),
        { role: "custom", customType: odd, content: odd, display: false } as AgentMessage,
      ].map(named);
      const of = { session: { sessionId: odd, sessionKey: `k${odd}` } };
      const turns = [odd, `${odd}\ud801`, `${odd}\ud802`];
      for (const [at, advancementKey] of turns.entries()) {
        const told = { ...of, advancementKey };
        expect(tell(store, [messages[at]!], told)).toMatchObject({ added: 1, isDuplicate: false });
        expect(tell(store, [messages[at]!], told)).toMatchObject({ added: 0, isDuplicate: true });
      }
      expect(tell(store, messages, of).added).toBe(0);
      const stored = storedOf(store, of.session as typeof session);
      expect(stored.map((message) => JSON.stringify(message))).toEqual(
        messages.map(({ message }) => JSON.stringify(message)),
      );
      expect((await verifyStore(store)).faults).toEqual([]);
    },
  );

  it("comes back as it was told, in order, and once however often it is told", () => {
    const store = temporaryStore();
    const messages = withIds(conversation({ turns: 3, tools: 2, toolResultChars: 5_000 }));
    expect(tell(store, messages.map(named)).added).toBe(messages.length);
    expect(tell(store, messages.map(named)).added).toBe(0);
    expect(tell(store, messages.slice(-3).map(named)).added).toBe(0);
    expect(JSON.stringify(storedOf(store))).toBe(JSON.stringify(messages));
  });

  it("of the same words under another id is another message: ten short answers all stay", () => {
    const store = temporaryStore();
    const answers = withIds(Array.from({ length: 10 }, () => user("ok")));
    expect(tell(store, answers.map(named)).added).toBe(10);
  });

  it("whose tool calls have ids that recur is told apart by its own", () => {
    const store = temporaryStore();
    const call = toolCall("exec", {}, "exec:1");
    const messages = withIds([
      user("run it"),
      assistant([call]),
      toolResult(call, "first"),
      user("again"),
      assistant([call]),
      toolResult(call, "second"),
    ]);
    tell(store, messages.map(named));
    expect(storedOf(store)).toEqual(messages);
  });

  it("that was rewritten, redacted or shortened later stays as it was first told", () => {
    const store = temporaryStore();
    const [said] = withIds([user("my key is 12345")]);
    tell(store, [named(said!)]);
    tell(store, [named({ ...said!, role: "user", content: "my key is [removed]" })]);
    expect(storedOf(store)).toEqual([said]);
  });

  it("that was only seen in a view gives way to the whole one, once", () => {
    const store = temporaryStore();
    const call = toolCall("read");
    const [whole] = withIds([toolResult(call, "x".repeat(9_000), { details: { lines: 900 } })]);
    const cut = withMessageId(toolResult(call, "x… cut"), messageId(whole!)!);
    tell(store, [named(cut)], { from: "seen" });
    const shorter = withMessageId(toolResult(call, "x…"), messageId(whole!)!);
    tell(store, [named(shorter)], { from: "seen" });
    expect(storedOf(store)).toEqual([cut]);
    expect(tell(store, [named(whole!)]).added).toBe(0);
    expect(storedOf(store)).toEqual([whole]);
    tell(store, [named(cut)]);
    tell(store, [named(cut)], { from: "seen" });
    expect(storedOf(store)).toEqual([whole]);
    expect(rowsOf(store, "payload_use")).toBe(1);
  });

  it("that was seen with a long text, and told without it, is as it was told", () => {
    const store = temporaryStore();
    const [told] = withIds([user("short")]);
    tell(store, [named({ ...told!, role: "user", content: "x".repeat(9_000) })], { from: "seen" });
    tell(store, [named(told!)]);
    expect(storedOf(store)).toEqual([told]);
    expect(rowsOf(store, "payload_use")).toBe(0);
  });

  it("whose long text holds half of a surrogate pair comes back as it was told", () => {
    const store = temporaryStore();
    const messages = withIds([user(`\ud800${"x".repeat(9_000)}`), user("y".repeat(9_000))]);
    tell(store, messages.map(named));
    expect(JSON.stringify(storedOf(store))).toBe(JSON.stringify(messages));
  });

  it("that was seen whole is no less whole when it is told, and stays so", () => {
    const store = temporaryStore();
    const [whole] = withIds([toolResult(toolCall("read"), "x".repeat(9_000))]);
    tell(store, [named(whole!)], { from: "seen" });
    tell(store, [named(whole!)]);
    tell(store, [named({ ...whole!, content: "cut" } as typeof whole & object)]);
    expect(storedOf(store)).toEqual([whole]);
    expect([rowsOf(store, "payload"), rowsOf(store, "payload_use")]).toEqual([1, 1]);
  });

  it("of a host without ids is known by its key, or by all that it says", () => {
    const store = temporaryStore();
    const said = [
      user("yes", { idempotencyKey: "k1" }),
      user("yes", { idempotencyKey: "k2" }),
      user("yes"),
      user("yes", { timestamp: FIRST_TIMESTAMP + 1 }),
    ];
    expect(tell(store, said.map(named)).added).toBe(4);
    expect(tell(store, said.map(named)).added).toBe(0);
  });
});

describe("a long text", () => {
  it("is stored once for all messages that hold it, and each version of a file for itself", () => {
    const store = temporaryStore();
    const [first, second] = ["a".repeat(20_000), "b".repeat(20_000)];
    const reads = [first, first, second, first].map((text, index) =>
      toolResult(toolCall("read", { path: "notes.md" }, `c${index}`), text),
    );
    tell(store, namedWithIds(reads));
    expect([rowsOf(store, "payload"), rowsOf(store, "payload_use")]).toEqual([2, 4]);
    expect(storedOf(store).map((message) => JSON.stringify(message).length)).toHaveLength(4);
    expect(storedOf(store)).toEqual(withIds(reads));
  });
});

describe("a durable turn", () => {
  it("is stored with its key, and the same key stores nothing again", () => {
    const store = temporaryStore();
    const turn = namedWithIds(conversation({ turns: 1 }));
    expect(tell(store, turn, { advancementKey: "t1" })).toMatchObject({
      added: 2,
      isDuplicate: false,
    });
    const other = namedWithIds(conversation({ turns: 1 }), "other");
    expect(tell(store, other, { advancementKey: "t1" })).toMatchObject({
      added: 0,
      isDuplicate: true,
    });
    expect(rowsOf(store, "message")).toBe(2);
  });

  it("of another session may have the same key", () => {
    const store = temporaryStore();
    const turn = namedWithIds(conversation({ turns: 1 }));
    tell(store, turn, { advancementKey: "t1" });
    const elsewhere = { sessionId: "s9", sessionKey: "agent:main:other" };
    expect(tell(store, turn, { advancementKey: "t1", session: elsewhere }).added).toBe(2);
  });

  it("counts its messages' turns on from those before", () => {
    const store = temporaryStore();
    for (const prefix of ["a", "b"]) tell(store, namedWithIds(conversation({ turns: 40 }), prefix));
    const [conversationId] = familyOf(store);
    const turns = readMessages(store, { conversation: conversationId!, limit: 200 });
    expect(turns.map(({ turn }) => turn)).toEqual(
      Array.from({ length: 160 }, (_, at) => 1 + Math.floor(at / 2)),
    );
  });
});

describe("a session", () => {
  it("goes on in a successor that begins with messages it knows, and keeps each once", () => {
    const store = temporaryStore();
    const messages = namedWithIds(conversation({ turns: 4 }));
    tell(store, messages.slice(0, 6));
    const successor = { ...session, sessionId: "s2" };
    expect(tell(store, messages.slice(2), { session: successor }).added).toBe(2);
    expect(familyOf(store)).toHaveLength(1);
    expect(storedOf(store, successor)).toHaveLength(8);
  });

  it("begins anew where nothing is known, also when ids repeat by chance", () => {
    const store = temporaryStore();
    tell(store, namedWithIds([user("the old question")]));
    const later = [user("the new question", { timestamp: FIRST_TIMESTAMP + 5_000 })];
    const anew = { ...session, sessionId: "s2" };
    expect(tell(store, namedWithIds(later), { session: anew }).added).toBe(1);
    expect(familyOf(store)).toHaveLength(2);
    expect(storedOf(store)).toHaveLength(2);
  });

  it("of a late callback goes on with its own transcript, whatever began since", () => {
    const store = temporaryStore();
    tell(store, namedWithIds([user("cron run one")], "one"));
    const second = { ...session, sessionId: "s2" };
    tell(store, namedWithIds([user("cron run two")], "two"), { session: second });
    tell(store, namedWithIds([assistant("late answer")], "late"));
    const [newest, oldest] = familyOf(store).map((conversation) =>
      readMessages(store, { conversation, limit: 9 }).map(({ name }) => name),
    );
    expect([newest, oldest]).toEqual([["two0"], ["one0", "late0"]]);
  });

  it("is found by its transcript alone, and gets its key when a call names it", () => {
    const store = temporaryStore();
    const unnamed = { sessionId: "s1" };
    tell(store, namedWithIds([user("one")], "a"), { session: unnamed as typeof session });
    tell(store, namedWithIds([user("two")], "b"));
    expect(familyOf(store)).toEqual([1]);
    expect(familyOf(store, unnamed as typeof session)).toEqual([1]);
    expect([...knownNames(store, session, ["a0", "b0", "c0"]).known]).toEqual(["a0", "b0"]);
  });

  it("shares nothing with another of the same ids", () => {
    const store = temporaryStore();
    const other = { sessionId: "s1", sessionKey: "agent:main:other" };
    tell(store, namedWithIds([user("mine")]));
    tell(store, namedWithIds([user("theirs")]), { session: other });
    expect([storedOf(store), storedOf(store, other)].flat()).toMatchObject([
      { content: "mine" },
      { content: "theirs" },
    ]);
  });

  it("remembers how far its file was read together with what was read", () => {
    const store = temporaryStore();
    expect(cursorOf(store, session)).toBeUndefined();
    const lineHash = new Uint8Array(32).fill(7);
    const cursor = { bytes: 120, lineBytes: 20, lineHash, entry: "e1" };
    tell(store, namedWithIds([user("one")]), { cursor });
    expect(cursorOf(store, session)).toEqual(cursor);
    const fail = () =>
      tell(store, [{ name: "bad", message: { role: "user" } as never }, null as never], {
        cursor: { ...cursor, bytes: 999 },
      });
    expect(fail).toThrow();
    expect([cursorOf(store, session)?.bytes, rowsOf(store, "message")]).toEqual([120, 1]);
  });
});
