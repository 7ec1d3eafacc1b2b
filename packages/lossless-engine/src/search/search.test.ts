import { user } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { storeMessages } from "../store/messages.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { describeNewest } from "../tools/found.ts";
import { search } from "./search.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };

it("takes turns with others while a pattern is looked for, and says where that took too long", async () => {
  const store = temporaryStore();
  const messages = namedWithIds([user("an older note"), user("abbabaabbaababba".repeat(40_000))]);
  storeMessages(store, { session, messages, from: "told" });
  const request = {
    ...({ mode: "pattern", query: "(a|b)*a(a|b){14}c|note", scope: null } as const),
    ...{ accepts: () => true, limit: 10 },
  };
  const stopped = await search(store, { ...request, boundMs: 1 });
  expect(stopped).toMatchObject({ hits: [], stoppedAt: 2, tooSlowFor: 2 });
  expect(describeNewest(stopped)).toContain(
    "Message #2 was not searched: this pattern takes too long there; ask for a simpler one.",
  );
  let turns = 0;
  const beat = setInterval(() => turns++, 1);
  const whole = await search(store, { ...request, boundMs: 60_000 });
  clearInterval(beat);
  expect(whole.hits.map(({ message }) => message.seq)).toEqual([1]);
  expect(turns).toBeGreaterThan(0);
});
