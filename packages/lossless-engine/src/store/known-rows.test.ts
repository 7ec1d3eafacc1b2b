import { user } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { named } from "../messages/name.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { hasNameless, NAMELESS } from "./known-rows.ts";
import { storeMessages } from "./messages.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };

it("whether a message has no id is known without reading the names of all the others", () => {
  const store = temporaryStore();
  const askOf = () => store.read((sql) => hasNameless(sql, 1));
  storeMessages(store, { session, messages: namedWithIds([user("a"), user("b")]), from: "told" });
  expect(askOf()).toBe(false);
  storeMessages(store, { session, messages: [named(user("without"))], from: "told" });
  expect(askOf()).toBe(true);
  const steps = store.read((sql) => sql(`EXPLAIN QUERY PLAN ${NAMELESS}`).all(1));
  const searches = steps.map(({ detail }) => String(detail)).filter((step) => /message/.test(step));
  expect(searches).toHaveLength(2);
  for (const step of searches) expect(step).toContain("(conversation=? AND id>? AND id<?)");
});
