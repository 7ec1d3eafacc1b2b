import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { named } from "../messages/name.ts";
import { searchTextOf } from "../messages/search-text.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { type Range, unindexed, withTrigrams, withWords } from "./candidates.ts";
import { storeMessages } from "./messages.ts";
import { backlogOf, INDEXED_CHARS, indexMore } from "./search-index.ts";
import type { Store } from "./store.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const everywhere: Range = { conversations: null, limit: 1_000 };
const tell = (store: Store, ...texts: string[]) =>
  storeMessages(store, {
    session,
    messages: namedWithIds(
      texts.map((text) => user(text)),
      texts[0],
    ),
    from: "told",
  });
const indexAll = (store: Store) => {
  while (!indexMore(store, () => false));
};

describe("the indexes", () => {
  it("find a message by any part of its text of three characters, in whatever script", () => {
    const store = temporaryStore();
    let stored = 0;
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 3, maxLength: 40 }),
        fc.nat(),
        (text, at) => {
          tell(store, `${stored}`, text);
          indexAll(store);
          stored += 2;
          const points = [...text];
          const start = at % Math.max(1, points.length - 2);
          const part = points.slice(start, start + 12).join("");
          expect(withTrigrams(store, part, everywhere)).toContain(stored);
        },
      ),
    );
  });

  it("find words whatever their endings and their case, each of them, and nothing else", () => {
    const store = temporaryStore();
    tell(store, "The tests were running on TICKET-10001", "Run it once more", "Nothing of it");
    indexAll(store);
    expect(withWords(store, "run", everywhere)).toEqual([2, 1]);
    expect(withWords(store, "runs test", everywhere)).toEqual([1]);
    expect(withWords(store, "ticket-10001", everywhere)).toEqual([1]);
    expect(withWords(store, 'NOT "OR" *', everywhere)).toEqual([]);
    expect(withWords(store, "-- !", everywhere)).toEqual([]);
  });

  it("find the words behind a null character", () => {
    const store = temporaryStore();
    tell(store, "before\0behind", "one\0\0two three");
    indexAll(store);
    expect(withWords(store, "behind", everywhere)).toEqual([1]);
    expect(withWords(store, "before", everywhere)).toEqual([1]);
    expect(withWords(store, "two", everywhere)).toEqual([2]);
    expect(withTrigrams(store, "three", everywhere)).toEqual([2]);
  });

  it("take every text that is searched for as text, however it is written", () => {
    const store = temporaryStore();
    tell(store, "some text");
    indexAll(store);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        withWords(store, text, everywhere);
        withTrigrams(store, text, everywhere);
      }),
    );
  });

  it("say of a text that is longer by one character that they do not hold all of it", () => {
    const store = temporaryStore();
    const words = "some plain words of a long letter ".repeat(INDEXED_CHARS / 20);
    tell(store, words.slice(0, INDEXED_CHARS), words.slice(0, INDEXED_CHARS + 1));
    indexAll(store);
    expect(unindexed(store, everywhere)).toEqual([2]);
  });

  it("leave a message that was replaced to be read, and no longer name its old words", () => {
    const store = temporaryStore();
    const message = namedWithIds([user("a lighthouse, as it was seen")]);
    storeMessages(store, { session, messages: message, from: "seen" });
    indexAll(store);
    expect(unindexed(store, everywhere)).toEqual([]);
    const told = namedWithIds([user("a barometer, as it was told")]);
    storeMessages(store, { session, messages: told, from: "told" });
    indexAll(store);
    expect(withWords(store, "lighthouse", everywhere)).toEqual([]);
    expect(withWords(store, "barometer", everywhere)).toEqual([1]);
    expect(unindexed(store, everywhere)).toEqual([1]);
  });

  it("hold calls, thoughts and errors, and no pictures", () => {
    const message = assistant(
      [
        { type: "thinking", thinking: "a thought" },
        toolCall("read", { path: "src/a.ts" }),
        { type: "text", text: "a word" },
      ],
      { errorMessage: "the line broke" },
    );
    expect(searchTextOf(message)).toBe("a thought\nread path: src/a.ts\na word\nthe line broke");
    expect(
      searchTextOf(
        toolResult(toolCall("look"), [{ type: "image", data: "iVBO", mimeType: "a/b" }]),
      ),
    ).toBe("");
  });

  it("lack messages, and no numbers that were left out", () => {
    const store = temporaryStore();
    tell(store, "one");
    tell(store, "two", "three");
    store.change((sql) => sql("UPDATE message SET seq = seq + 500 WHERE seq > 1").run());
    expect(backlogOf(store)).toBe(3);
    expect(backlogOf(store, 2)).toBe(2);
    indexAll(store);
    expect(backlogOf(store)).toBe(0);
  });

  it("follow in pieces, in the order in which messages came, and say when they are done", () => {
    const store = temporaryStore();
    tell(store, ...Array.from({ length: 40 }, (_, index) => `message number${index}`));
    expect(backlogOf(store)).toBe(40);
    expect(indexMore(store, () => true)).toBe(false);
    expect(backlogOf(store)).toBeGreaterThan(0);
    expect(withWords(store, "message", everywhere)).toHaveLength(40 - backlogOf(store));
    indexAll(store);
    expect([backlogOf(store), indexMore(store, () => true)]).toEqual([0, true]);
    expect(withWords(store, "message", everywhere)).toHaveLength(40);
  });

  it("find messages of every age when old ones stand in groups, and a page at a time", () => {
    const store = temporaryStore();
    const filler = (at: number) => `${at.toString(36).padStart(5, "x")} `.repeat(40);
    const texts = Array.from({ length: 3_000 }, (_, at) =>
      at % 500 === 7 ? `the lighthouse of ${at} ${filler(at)}` : `${filler(at)} ${filler(at * 31)}`,
    );
    for (let at = 0; at < texts.length; at += 20) {
      tell(store, ...texts.slice(at, at + 20));
      indexAll(store);
    }
    const count = (table: string) =>
      store.read((sql) => Number(sql(`SELECT count(*) AS rows FROM ${table}`).get()?.rows));
    expect(count("trigram_group")).toBeGreaterThan(1);
    expect(count("trigram_leaf")).toBeGreaterThan(0);
    const expected = [2_508, 2_008, 1_508, 1_008, 508, 8];
    expect(withTrigrams(store, "LightHouse of", everywhere)).toEqual(expected);
    expect(
      withTrigrams(store, "lighthouse of", { ...everywhere, before: 1_508, limit: 2 }),
    ).toEqual([1_008, 508]);
    expect(withTrigrams(store, "lighthouse of 1007", everywhere)).toEqual([1_008]);
    expect(withTrigrams(store, "lighthouses of", everywhere)).toEqual([]);
    expect(withTrigrams(store, "lighthouse", { conversations: [2], limit: 9 })).toEqual([]);
  });

  it("leave out what is data, and name it as what has to be read", () => {
    const store = temporaryStore();
    const base64 = Array.from({ length: 60 }, (_, line) =>
      Buffer.from(`${line}`.padStart(45, "clew")).toString("base64"),
    ).join("\n");
    tell(store, base64, "words", `${"word ".repeat(INDEXED_CHARS / 5)} beyond`);
    indexAll(store);
    expect(unindexed(store, everywhere)).toEqual([3, 1]);
    expect(withTrigrams(store, base64.slice(0, 8), everywhere)).toEqual([]);
    expect(withWords(store, "words", everywhere)).toEqual([3, 2]);
    expect(withWords(store, "beyond", everywhere)).toEqual([]);
  });

  it("follow a message that was replaced", () => {
    const store = temporaryStore();
    const cut = withMessageId(user("the beginning"), "m");
    storeMessages(store, { session, messages: [named(cut)], from: "seen" });
    indexAll(store);
    const whole = withMessageId(user("the beginning and the remainder"), "m");
    storeMessages(store, { session, messages: [named(whole)], from: "told" });
    expect(withWords(store, "remainder", everywhere)).toEqual([1]);
    expect(unindexed(store, everywhere)).toEqual([1]);
    expect(withWords(store, "beginning", everywhere)).toEqual([1]);
  });

  it("are asked for some conversations, before some message, newest first", () => {
    const store = temporaryStore();
    tell(store, "one word", "two words", "three words");
    storeMessages(store, {
      session: { sessionId: "other" },
      messages: namedWithIds([user("their words")]),
      from: "told",
    });
    indexAll(store);
    expect(withWords(store, "word", everywhere)).toEqual([4, 3, 2, 1]);
    expect(withWords(store, "word", { conversations: [1], limit: 2 })).toEqual([3, 2]);
    expect(withWords(store, "word", { conversations: [1], before: 2, limit: 2 })).toEqual([1]);
    expect(withWords(store, "word", { conversations: [2], limit: 2 })).toEqual([4]);
    expect(withWords(store, "word", { conversations: [], limit: 2 })).toEqual([]);
  });
});
