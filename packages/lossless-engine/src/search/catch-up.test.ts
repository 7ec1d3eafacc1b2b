import { user } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { storeMessages } from "../store/messages.ts";
import { backlogOf } from "../store/search-index.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { catchUpInBackground } from "./catch-up.ts";

it("leaves to a later time what it has no time for, and then goes on to the end", async () => {
  const store = temporaryStore();
  const messages = namedWithIds(Array.from({ length: 300 }, (_, at) => user(`message ${at}`)));
  storeMessages(store, { session: { sessionId: "s" }, messages, from: "told" });
  await catchUpInBackground(store, { boundMs: 0 });
  expect(backlogOf(store)).toBe(300);
  await catchUpInBackground(store, {});
  expect(backlogOf(store)).toBe(0);
});
