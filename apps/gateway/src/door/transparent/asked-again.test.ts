// Asks model servers by the door what they were asked before, as clients do that heard no answer.
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import type { TestGateway } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Reply } from "../testing/agents.ts";
import { TestClient as Client } from "../testing/client.ts";
import { startReplies } from "../testing/http-world.ts";
import { startUpstream } from "../testing/upstream.ts";

const saying = (text: string): Reply => ({ text, thinking: "", calls: [] });

async function wordsIn({ gateway }: TestGateway, session: string) {
  await gateway.door.settled();
  const { branch = [] } = (await gateway.store.read(session)) ?? {};
  return branch.flatMap((entry) =>
    entry.type === "message" ? [JSON.stringify(entry.message).slice(0, 200)] : [],
  );
}

describe("what is asked again", () => {
  it.each(DOOR_APIS)("by %s and answered otherwise has its newest reply alone", async (api) => {
    const upstream = await startReplies();
    onTestFinished(upstream.close);
    const door = await startTestDoor(upstream);
    const client = new Client(api);
    client.say("Fix the parser.");
    const played = (reply: Reply) => ({ reply, fault: undefined });
    await upstream.play(door.url, client.ask(), played(saying("Fixed.")));
    client.say("Which one?");
    const unheard = { ...client.ask(), take: () => {} };
    const { session } = await upstream.play(door.url, unheard, played(saying("First.")));
    await upstream.play(door.url, client.ask(), played(saying("Second.")));
    client.say("Go on.");
    const last = await upstream.play(door.url, client.ask(), played(saying("Third.")));
    expect(last.session).toBe(session);
    expect(await wordsIn(door, session!)).toEqual([
      ...[expect.stringContaining("Fix the parser."), expect.stringContaining("Fixed.")],
      expect.stringContaining("Which one?"),
      expect.stringContaining("Second."),
      expect.stringContaining("Go on."),
      expect.stringContaining("Third."),
    ]);
    const inspected = await door.gateway.inspect(session!);
    expect((await inspected.calls({ limit: 10 }))!.calls).toHaveLength(4);
  });

  it("at once by a client that has just left is the same session", async () => {
    const heard: (() => void)[] = [];
    const upstream = await startUpstream(() => heard.shift()?.());
    onTestFinished(upstream.close);
    const door = await startTestDoor(upstream);
    const sessions = [];
    for (let round = 0; round < 10; round++) {
      const client = new Client("openai-completions");
      client.say(`Fix parser ${round}.`);
      const { path, body } = client.ask().request;
      for (let tries = 0; tries < 3; tries++) {
        const arrived = new Promise<void>((resolve) => void heard.push(resolve));
        const leaving = new AbortController();
        const asked = { method: "POST", body: JSON.stringify(body), signal: leaving.signal };
        const left = fetch(`${door.url}${path}`, asked).catch(() => {});
        await arrived;
        leaving.abort();
        await left;
      }
      await door.gateway.door.settled();
      sessions.push((await door.gateway.sessions()).length);
    }
    expect(sessions).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

it.each([
  ["stands beside the one that it gets", []],
  ["stands beside that also where another one broke off before", ["broken"]],
])("a whole reply whose client left %s", async (_, between) => {
  let count = 0;
  const upstream = await startUpstream((_heard, response) => {
    const isBroken = ++count > 1 && count <= 1 + between.length;
    const delta = { content: `Reply ${count}.` };
    const choices = [{ index: 0, delta, ...(!isBroken && { finish_reason: "stop" }) }];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify({ id: "r", choices })}\n\n`);
    if (!isBroken) response.write("data: [DONE]\n\n");
    // The end of the answer comes late, after that of the reply.
    if (count > 1) response.end();
  });
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const client = new Client("openai-completions");
  client.say("Fix the parser.");
  const { path, body } = client.ask().request;
  const asked = { method: "POST", body: JSON.stringify({ ...body, stream: true }) };
  const leaving = new AbortController();
  const left = await fetch(`${door.url}${path}`, { ...asked, signal: leaving.signal });
  const session = left.headers.get("x-clew-session")!;
  await expect.poll(() => wordsIn(door, session)).toHaveLength(2);
  leaving.abort();
  for (const _each of between) await (await fetch(`${door.url}${path}`, asked)).text();
  const again = await fetch(`${door.url}${path}`, asked);
  const last = `Reply ${2 + between.length}.`;
  expect(await again.text()).toContain(last);
  expect(again.headers.get("x-clew-session")).toBe(session);
  expect(await wordsIn(door, session)).toEqual([
    ...[expect.stringContaining("Fix the parser."), expect.stringContaining(last)],
  ]);
});

describe("the summary by which a client goes on", () => {
  const SUMMARY = `The parser was fixed: ${"line 7 of parse.ts had a wrong bound. ".repeat(4)}`;

  // The newest result was in the request for the summary alone, where nothing is kept.
  it.each([
    { kept: 0, results: 4 },
    { kept: 2, results: 5 },
  ])("is stored once, with $kept messages kept behind it", async ({ kept, results }) => {
    const upstream = await startReplies();
    onTestFinished(upstream.close);
    const door = await startTestDoor(upstream);
    const client = new Client("openai-completions");
    const play = async (ask = client.ask(), reply = client.reply()) =>
      (await upstream.play(door.url, ask, { reply, fault: undefined })).session;
    client.say("Fix the parser.");
    const session = await play();
    for (let round = 0; round < 3; round++) await play();
    await play(client.askForSummary(), saying(SUMMARY));
    const { said } = client;
    client.said = [said[0]!, { uid: null, by: "person", text: `<summary>${SUMMARY}</summary>` }];
    client.said.push(...said.slice(said.length - kept));
    client.say("Go on.");
    for (let round = 0; round < 2; round++) expect(await play()).toBe(session);
    const words = await wordsIn(door, session!);
    expect(words.filter((each) => each.includes("The parser was fixed"))).toHaveLength(1);
    expect(words.filter((each) => each.includes("Go on."))).toHaveLength(1);
    expect(words.filter((each) => each.includes("Fix the parser."))).toHaveLength(1);
    expect(words.filter((each) => each.includes("toolResult"))).toHaveLength(results);
  });
});
