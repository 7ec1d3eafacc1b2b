import { conversation, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { growGraph } from "../summaries/grow.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { withTrigrams } from "./candidates.ts";
import { holdingsOf } from "./health.ts";
import { storeMessages } from "./messages.ts";
import { removeSession } from "./remove.ts";
import { indexMore } from "./search-index.ts";
import type { Store } from "./store.ts";

const MAIN = { sessionId: "s", sessionKey: "agent:main:main", owner: "o" };
const CHILD = { sessionId: "c", sessionKey: "agent:main:subagent:c", owner: "o" };
const SECRET = "Zanzibarquux-4711";

/** Long enough for a payload, alone and together with `MAIN`. */
const LONG = `${SECRET} `.repeat(600);
const SHARED = "what both were shown ".repeat(600);

const result = (text: string) => toolResult({ id: "c", name: "read" }, text);

function tell(store: Store, session: typeof MAIN, texts: readonly string[], prefix: string): void {
  const messages = [
    ...conversation({ turns: 40, tools: 1, toolResultChars: 300 }),
    ...texts.map(result),
    user(`${prefix} says ${texts.join(" ").slice(0, 100)}`),
  ];
  storeMessages(store, {
    ...{ session, messages: namedWithIds(messages, prefix), from: "told" },
    ...{ advancementKey: `${prefix}-1` },
  });
}

async function stored({ isIndexed }: { isIndexed: boolean }): Promise<Store> {
  const store = temporaryStore();
  tell(store, MAIN, [SHARED], "main");
  tell(store, CHILD, [SHARED, LONG], "child");
  for (let pieces = 0; pieces < 4; pieces++) while (isIndexed && !indexMore(store, () => false));
  for (const each of [1, 2]) await growGraph(store, each);
  return store;
}

const count = (store: Store, question: string, ...values: (string | number)[]) =>
  Number(
    store.read((sql) => sql(`SELECT count(*) AS number FROM ${question}`).get(...values))?.number,
  );

describe("a session that is removed", () => {
  it.each([true, false])(
    "leaves no rows, texts or words, and the other's stay (indexed: %s)",
    async (isIndexed) => {
      const store = await stored({ isIndexed });
      const before = count(store, "message WHERE conversation = 1");
      const all = count(store, "message");
      expect(removeSession(store, CHILD)).toBe(all - before);
      for (const table of ["message", "cut", "summary", "graph", "advancement", "change"])
        expect(count(store, `${table} WHERE conversation = 2`), table).toBe(0);
      expect(count(store, "message")).toBe(before);
      expect(count(store, "words")).toBe(isIndexed ? before : 0);
      expect(
        count(
          store,
          "transcript WHERE session_key = ? OR session_id = ?",
          CHILD.sessionKey,
          CHILD.sessionId,
        ),
      ).toBe(0);
      expect(count(store, "payload WHERE text LIKE ?", `%${SECRET}%`)).toBe(0);
      expect(count(store, "payload")).toBe(1);
      expect(withTrigrams(store, SECRET, { conversations: null, limit: 9 })).toEqual([]);
      expect((await verifyStore(store)).faults).toEqual([]);
      expect(holdingsOf(store)).toMatchObject({ messages: before, conversations: 1 });
      expect(removeSession(store, CHILD)).toBe(0);
    },
  );

  it("gives its numbers to nobody, and what comes afterwards is indexed and whole", async () => {
    const store = await stored({ isIndexed: true });
    const newest = count(store, "message");
    removeSession(store, CHILD);
    tell(store, { ...MAIN, sessionId: "t", sessionKey: "agent:main:other" }, [LONG], "other");
    while (!indexMore(store, () => false));
    expect(count(store, "message WHERE conversation = 3 AND seq <= ?", newest)).toBe(0);
    expect(count(store, "words")).toBe(count(store, "message"));
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("is found by an audit where its rows are missing and it was not removed", async () => {
    const store = await stored({ isIndexed: false });
    store.change((sql) => {
      sql(
        "DELETE FROM payload_use WHERE message IN (SELECT seq FROM message WHERE conversation = 2)",
      ).run();
      sql("DELETE FROM message WHERE conversation = 2").run();
    });
    expect((await verifyStore(store)).isWhole).toBe(false);
  });
});
