import { DatabaseSync } from "node:sqlite";
import { conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { catchUp } from "../search/catch-up.ts";
import { search } from "../search/search.ts";
import { storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { mend } from "./mend.ts";

async function indexedStore(): Promise<Store> {
  const store = temporaryStore();
  const messages = namedWithIds([...conversation({ turns: 20 }), user("a marmoset and a tapir")]);
  const session = { sessionId: "s", sessionKey: "k" };
  storeMessages(store, { session, messages, from: "told" });
  await catchUp(store);
  return store;
}

const found = async (store: Store, query: string) => {
  const request = { scope: null, limit: 5, accepts: () => true, boundMs: 5_000, signal: undefined };
  return (await search(store, { ...request, query, mode: "words", before: undefined })).hits.length;
};

describe("the doctor", () => {
  it("changes nothing where the index says what the messages say", async () => {
    const store = await indexedStore();
    expect(await mend(store)).toMatchObject({ isWhole: true, indexFaults: [] });
  });

  it.each([
    ["DELETE FROM words WHERE rowid = 41", "the index of words does not hold what message 41 says"],
    [
      "UPDATE trigram_leaf SET postings = x'00' WHERE first = (SELECT max(first) FROM trigram_leaf)",
      "the index of trigrams does not hold what message 41 says",
    ],
    ["UPDATE watermark SET indexed = 20", "the index of words does not hold what message 21 says"],
    [
      "UPDATE watermark SET indexed = 99",
      "the search index does not say how many of the messages it holds",
    ],
    ["INSERT INTO unindexed VALUES (99)", "the search index lists message 99, which is gone"],
  ])("names what is wrong after %s, and makes the index again", async (damage, fault) => {
    const store = await indexedStore();
    damaging(store, damage);
    const { faults } = await verifyStore(store);
    expect(faults.map(({ text }) => text)).toContain(fault);
    const mended = await mend(store);
    expect(mended.isWhole).toBe(false);
    expect(mended.indexFaults.map(({ text }) => text)).toContain(fault);
    expect(mended.text).toMatch(
      /The search index was wrong: .* It was made again from the messages\./,
    );
    expect((await verifyStore(store)).faults).toEqual([]);
    expect(await found(store, "marmoset")).toBe(1);
    expect(await mend(store)).toMatchObject({ isWhole: true });
  });
});

/** As another program does it, which keeps no references. */
function damaging(store: Store, statement: string): void {
  const db = new DatabaseSync(store.path, { enableForeignKeyConstraints: false });
  db.exec(statement);
  db.close();
}
