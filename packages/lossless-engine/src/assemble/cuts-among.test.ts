import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { keyName, named, nameOf, printOf } from "../messages/name.ts";
import type { StoredCut } from "../store/cuts.ts";
import { storeMessages } from "../store/messages.ts";
import { temporaryStore, withIds } from "../testing/stored.ts";
import { cutsAmong } from "./cuts-among.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };

const cut = (id: number, first: string): StoredCut => ({
  ...{ id, name: `cut${id}`, first, request: null, ceiling: Infinity },
  ...{ tokens: { estimate: 1, high: 1 }, time: null, covered: 1, parts: new Map() },
});
/** As the store lists them: the newest first. */
const newestFirst = (...cuts: StoredCut[]) => new Map(cuts.map((one) => [one.first, one]));

const DONE: AgentMessage = assistant("Done.");

/** One message of a host that gave it an id and a key, and the same as told without its id. */
async function stored() {
  const store = temporaryStore();
  const nameless: AgentMessage = { ...user("Deploy it."), idempotencyKey: "k1" };
  const [message] = withIds([nameless]);
  storeMessages(store, { session, messages: [named(message!)], from: "told" });
  const among = (cuts: ReadonlyMap<string, StoredCut>, messages = [nameless, DONE]) =>
    cutsAmong(store, { session, messages, cuts });
  return { among, id: nameOf(message!), key: keyName(nameless)!, print: printOf(nameless) };
}

describe("a cut at a message that has lost its id", () => {
  it("is found by the message's key, and by what it says where its key is lost as well", async () => {
    const { among, id, key, print } = await stored();
    const found = await among(newestFirst(cut(1, id)));
    expect([key, print].map((name) => found.get(name)?.id)).toEqual([1, 1]);
    expect(found.get(print)?.first).toBe(print);
  });

  it("shows the request by whichever name it has now", async () => {
    const { among, id, key, print } = await stored();
    const { idempotencyKey: _key, ...keyless } = { ...user("Deploy it."), idempotencyKey: "k1" };
    const first = nameOf(DONE);
    for (const request of [id, key]) {
      const cuts = newestFirst({ ...cut(1, first), request });
      expect((await among(cuts)).get(first)?.request).toBe(key);
    }
    const cuts = newestFirst({ ...cut(1, first), request: id });
    expect((await among(cuts, [keyless, DONE])).get(first)?.request).toBe(print);
  });

  it("gives way to a newer one at the same message, whatever either calls it", async () => {
    const { among, id, key } = await stored();
    expect((await among(newestFirst(cut(2, key), cut(1, id)))).get(key)?.id).toBe(2);
    expect((await among(newestFirst(cut(2, id), cut(1, key)))).get(key)?.id).toBe(2);
  });
});
