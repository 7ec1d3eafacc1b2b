import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { conversation } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { storeMessages } from "./messages.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };

it("what was written lately stands in the file itself once it was settled, and not before", () => {
  const store = temporaryStore();
  const bytes = () => statSync(store.path).size;
  store.settle();
  const before = bytes();
  const messages = namedWithIds(conversation({ turns: 400, tools: 1, toolResultChars: 3_000 }));
  storeMessages(store, { session, messages, from: "told" });
  expect(bytes()).toBe(before);
  store.settle();
  expect(bytes()).toBeGreaterThan(before + 1_000_000);
});

it("a reader keeps nothing from being settled later", () => {
  const store = temporaryStore();
  const reader = new DatabaseSync(store.path);
  reader.exec("BEGIN; SELECT count(*) FROM message");
  storeMessages(store, {
    session,
    messages: namedWithIds(conversation({ turns: 40 })),
    from: "told",
  });
  expect(() => store.settle()).not.toThrow();
  reader.exec("COMMIT");
  reader.close();
  expect(() => store.settle()).not.toThrow();
});
