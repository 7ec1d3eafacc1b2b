import { DatabaseSync } from "node:sqlite";
import { conversation } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { storeMessages } from "../store/messages.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { verified } from "./verify.ts";

it("says that all is as it was stored, or names what is not", async () => {
  const store = temporaryStore();
  const session = { sessionId: "s", sessionKey: "k" };
  const messages = namedWithIds(conversation({ turns: 20 }));
  storeMessages(store, { session, messages, from: "told" });
  expect(await verified(store)).toBe(
    "40 messages and 0 long texts looked at: all are as they were stored.",
  );

  const db = new DatabaseSync(store.path);
  db.exec("UPDATE message SET body = replace(body, '\"', '“') WHERE seq = 7");
  db.exec("DELETE FROM message WHERE seq = 9");
  db.close();
  const told = await verified(store);
  expect(told).toContain("  message 7 is not what was stored, or not in its place\n");
  expect(told).toContain("  message 9 of conversation 1 is gone\n");
  expect(told).toMatch(/^39 messages and 0 long texts looked at; 3 things are not as stored:\n/);

  const again = new DatabaseSync(store.path);
  again.exec("UPDATE message SET turn = turn + 1");
  again.close();
  expect(await verified(store)).toMatch(/\n {2}and 21 more\n/);
});
