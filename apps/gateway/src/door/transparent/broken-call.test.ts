// Breaks replies off whose client runs what it has of them, and asks again all the same.
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Ask, Reply } from "../testing/agents.ts";
import { TestClient as Client } from "../testing/client.ts";
import type { Said } from "../testing/conversation.ts";
import { type Fault, startReplies } from "../testing/http-world.ts";
import type { DoorApi } from "../wires/door-wire.ts";

async function start(api: DoorApi, { ids = true }: { ids?: boolean } = {}) {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const client = new Client(api, { ids });
  let count = 0;
  client.say("Read the parts.");
  const playAsk = async (ask: Ask, reply: Reply, fault?: Fault) => {
    const calls = reply.calls.map((call) => ({ ...call, id: ids ? call.id : "" }));
    const take = () => fault === undefined && ask.take(reply);
    const answer = { reply: { ...reply, calls }, fault };
    return (await upstream.play(door.url, { ...ask, take }, answer)).session!;
  };
  return {
    client,
    calling(text = ""): Reply {
      const id = `call_${++count}`;
      return { text, thinking: "", calls: [{ id, name: "read", args: { path: `f${count}` } }] };
    },
    play: (reply: Reply, fault?: Fault) => playAsk(client.ask(), reply, fault),
    playAsk,
    /** Behind the person's request: who says what, by the numbers of calls. */
    async stored(session: string) {
      await door.gateway.door.settled();
      const { branch = [] } = (await door.gateway.store.read(session)) ?? {};
      const messages = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
      return messages.slice(1).map((message) => {
        const told = JSON.stringify(message).match(/I look at[\w ]*|(?<="path":")f\d+|r\d+(?= x)/g);
        const isBilled = message.role === "assistant" && message.usage !== undefined;
        return [...(told ?? []), ...(isBilled ? ["billed"] : [])].join(" ");
      });
    },
  };
}

const resultsOf = ({ calls }: Reply): Said => ({
  ...{ uid: null, by: "tools" },
  results: calls.map(({ id, name }) => ({ id, name, text: `${id.replace("call_", "r")} x` })),
});

const saidOf = (reply: Reply): Said => ({ uid: null, by: "model", ...reply });

const WAYS = [
  ...DOOR_APIS.map((api) => ({ api, ids: true })),
  { api: "google-generative-ai" as const, ids: false },
];

describe.each(WAYS)("by $api, with ids of calls: $ids, what broke off", ({ api, ids }) => {
  it.each(["", "I look at part 3 next."])(
    "and was run is stored before the reply that came then, “%s”, and nothing twice",
    async (text) => {
      const { client, calling, play, stored } = await start(api, { ids });
      const first = calling();
      const session = await play(first);
      client.said.splice(-1, 1, resultsOf(first));
      const [lost, came] = [calling(), calling(text)];
      await play(lost, "no-end");
      await play(came);
      client.said.splice(-2, 2, saidOf(lost), resultsOf(lost), saidOf(came), resultsOf(came));
      for (let round = 0; round < 2; round++) {
        const next = calling();
        expect(await play(next)).toBe(session);
        client.said.splice(-1, 1, resultsOf(next));
      }
      const told = text.replace(".", "");
      expect(await stored(session)).toEqual([
        ...["f1 billed", "r1", "f2", "r2", `${told} f3 billed`.trim(), "r3"],
        ...["f4 billed", "r4", "f5 billed"],
      ]);
    },
  );

  it("and was run is stored before the one of two replies that its client goes on with", async () => {
    const { client, calling, play, stored } = await start(api, { ids });
    const first = calling();
    const session = await play(first);
    client.said.splice(-1, 1, resultsOf(first));
    const [lost, came, dropped] = [calling(), calling(), calling()];
    await play(lost, "no-end");
    await play(came);
    client.said.splice(-2, 2);
    await play(dropped);
    client.said.splice(-2, 2, saidOf(lost), resultsOf(lost), saidOf(came), resultsOf(came));
    for (let round = 0; round < 2; round++) {
      const next = calling();
      expect(await play(next)).toBe(session);
      client.said.splice(-1, 1, resultsOf(next));
    }
    expect(await stored(session)).toEqual([
      ...["f1 billed", "r1", "f2", "r2", "f3 billed", "r3"],
      ...["f5 billed", "r5", "f6 billed"],
    ]);
  });

  it("in its words is stored before the reply that came then", async () => {
    const { client, calling, play, stored } = await start(api, { ids });
    const first = calling();
    const session = await play(first);
    client.said.splice(-1, 1, resultsOf(first));
    await play({ text: "I look at", thinking: "", calls: [] }, "no-end");
    const came = calling("I look at part 2.");
    await play(came);
    const part = saidOf({ text: "I look at", thinking: "", calls: [] });
    client.said.splice(-2, 2, part, saidOf(came), resultsOf(came));
    expect(await play(calling())).toBe(session);
    expect(await stored(session)).toEqual([
      ...["f1 billed", "r1", "I look at", "I look at part 2 f2 billed", "r2", "f3 billed"],
    ]);
  });
});

it.each(WAYS)(
  "by $api, with ids: $ids, the first request is known by its long reply",
  async (way) => {
    const { client, calling, play, stored } = await start(way.api, way);
    const [lost, came] = [calling(), calling("I look at part 2 of all that there is to be read")];
    const session = await play(lost, "broken");
    expect(await play(came)).toBe(session);
    client.said.splice(1, 2, saidOf(lost), resultsOf(lost), saidOf(came), resultsOf(came));
    expect(await play(calling())).toBe(session);
    expect((await stored(session)).join(" ").match(/[fr]\d+/g)).toEqual([
      "f1",
      "r1",
      "f2",
      "r2",
      "f3",
    ]);
  },
);

it.each(DOOR_APIS)("by %s, both calls in one reply are stored so, once", async (api) => {
  const { client, calling, play, stored } = await start(api);
  const first = calling();
  const session = await play(first);
  client.said.splice(-1, 1, resultsOf(first));
  const [lost, came] = [calling(), calling()];
  await play(lost, "no-end");
  await play(came);
  const both: Reply = { text: "", thinking: "", calls: [...lost.calls, ...came.calls] };
  client.said.splice(-2, 2, saidOf(both), resultsOf(both));
  expect(await play(calling())).toBe(session);
  expect((await stored(session)).join(" ").match(/[fr]\d+/g)).toEqual([
    ...["f1", "r1", "f2", "f3", "r2", "r3", "f4"],
  ]);
});

it.each(["openai-completions", "openai-responses", "anthropic-messages"] as const)(
  "by %s, its words and its call are stored where their client has compacted since, too",
  async (api) => {
    const { client, calling, play, playAsk, stored } = await start(api);
    const first = calling();
    const session = await play(first);
    client.said.splice(-1, 1, resultsOf(first));
    const lost = calling("I look at part 2 next.");
    const came: Reply = { text: "I look at nothing more.", thinking: "", calls: [] };
    await play(lost, "no-end");
    await play(came);
    const summary: Reply = {
      ...{ text: "1. All of the parts were to be read. 2. One was.", thinking: "", calls: [] },
    };
    await playAsk(client.askForSummary(), summary);
    client.said = [{ uid: null, by: "person", text: "What have we done?" }, saidOf(summary)];
    client.said.push(saidOf(lost), resultsOf(lost), saidOf(came));
    client.say("Go on.");
    expect(await play(calling())).toBe(session);
    expect(await stored(session)).toEqual([
      ...["f1 billed", "r1", "", "I look at part 2 next f2", "r2", "I look at nothing more billed"],
      ...["", "f3 billed"],
    ]);
  },
);
