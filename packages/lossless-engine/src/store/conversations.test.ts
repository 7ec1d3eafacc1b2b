import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, FIRST_TIMESTAMP, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import type { NamedMessage } from "../messages/name.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { conversationsOf } from "./conversations.ts";
import { storeMessages } from "./messages.ts";
import type { Store } from "./store.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const successor = { ...session, sessionId: "s2" };
const notes = (count: number, prefix: string) =>
  namedWithIds(
    Array.from({ length: count }, (_, at) => user(`${prefix} ${at}`)),
    prefix,
  );

function timeless({ timestamp: _time, ...message }: AgentMessage): AgentMessage {
  return message as AgentMessage;
}

/** True: a transcript of these messages goes on with what was told before. */
function goesOn(store: Store, messages: readonly NamedMessage[]): boolean {
  storeMessages(store, { session: successor, messages, from: "told" });
  return store.read((sql) => conversationsOf(sql, successor)).length === 1;
}

/** A database in which one message was told. */
function storeWithOne(message: NamedMessage): Store {
  const store = temporaryStore();
  storeMessages(store, { session, messages: [message], from: "told" });
  return store;
}

describe("a transcript goes on with an earlier one of its session", () => {
  it.each([0, 15, 24, 39])("that holds its message %i of 40 near one of its ends", (at) => {
    const messages = notes(40, "note");
    expect(goesOn(storeWithOne(messages[at]!), messages)).toBe(true);
  });

  it("that its host calls by another key since, as after a reset", () => {
    const store = temporaryStore();
    const messages = notes(40, "note");
    storeMessages(store, { session, messages, from: "told" });
    const other = { ...session, sessionKey: "agent:main:main.2026-01-01" };
    storeMessages(store, { session: other, messages, from: "told" });
    const more = namedWithIds([user("and on")], "more");
    storeMessages(store, { session: other, messages: more, from: "told" });
    const count = store.read((sql) => sql("SELECT count(*) AS all_of FROM message").get());
    expect(Number(count?.all_of)).toBe(41);
    const [one, two] = [session, other].map((each) =>
      store.read((sql) => conversationsOf(sql, each)),
    );
    expect(one).toEqual(two);
  });

  it("whose messages its host shortened since", () => {
    const [whole] = namedWithIds([user(`${"many words ".repeat(40)}end`)]);
    const [cut] = namedWithIds([user(`${"many words ".repeat(30)}…`)]);
    expect(goesOn(storeWithOne(whole!), [cut!])).toBe(true);
  });
});

describe("a transcript begins a history of its own", () => {
  const at = { timestamp: FIRST_TIMESTAMP };
  const [told] = namedWithIds([user("the first words", at)]);

  it.each([
    ["another role", assistant("the first words", at)],
    ["another time", user("the first words", { timestamp: FIRST_TIMESTAMP + 1 })],
    ["other words", user("quite another matter", at)],
  ])("where a message of the same id has %s", (_, message) => {
    expect(goesOn(storeWithOne(told!), namedWithIds([message]))).toBe(false);
  });

  it("where a reply without a time is the same, and another message of the same id is not", () => {
    const said = (words: string) => namedWithIds([user(words, at), timeless(assistant("Done."))]);
    const store = temporaryStore();
    storeMessages(store, { session, messages: said("the first words"), from: "told" });
    expect(goesOn(store, said("quite another matter"))).toBe(false);
    expect(goesOn(storeWithOne(said("")[1]!), said("").slice(1))).toBe(true);
  });

  it("where only messages far from both of its ends were told before", () => {
    const messages = notes(40, "note");
    expect(goesOn(storeWithOne(messages[20]!), messages)).toBe(false);
  });
});
