// Asks model servers by the door twice, and goes on with either reply.
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import type { TestGateway } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Reply } from "../testing/agents.ts";
import { TestClient as Client } from "../testing/client.ts";
import { type ReplyingUpstream, startReplies } from "../testing/http-world.ts";
import { startUpstream } from "../testing/upstream.ts";

const NAMES = ["First", "Second", "Third"];

const replyOf = (name: string, hasCall: boolean): Reply => ({
  ...{ text: `${name} reply to it.`, thinking: "" },
  calls: hasCall ? [{ id: `call_${name}Qx7Zk`, name: "read", args: { path: name } }] : [],
});

async function wordsIn({ gateway }: TestGateway, session: string) {
  await gateway.door.settled();
  const { branch = [] } = (await gateway.store.read(session)) ?? {};
  return branch.flatMap((entry) => {
    if (entry.type !== "message" || !("content" in entry.message)) return [];
    const { role, content } = entry.message;
    const said = typeof content === "string" ? content : JSON.stringify(content);
    return `${role}: ${/[A-Z][a-z]+ (?:reply|words)|call_[A-Za-z]+/.exec(said)?.[0] ?? said}`;
  });
}

/** A conversation of one turn, and a client that has asked the next thing. */
async function begin(api: (typeof DOOR_APIS)[number]) {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const client = new Client(api);
  client.say("Opening words.");
  const reply = replyOf("Opening", false);
  const { session } = await upstream.play(door.url, client.ask(), { reply, fault: undefined });
  client.say("Asking words.");
  return { upstream, door, client, session: session! };
}

const ask = (upstream: ReplyingUpstream, url: string, client: Client, reply: Reply) =>
  upstream.play(url, { ...client.ask(), take: () => {} }, { reply, fault: undefined });

async function goOn(
  { upstream, door, client }: Awaited<ReturnType<typeof begin>>,
  kept: Reply,
): Promise<void> {
  client.ask().take(kept);
  if (kept.calls.length === 0) client.say("Following words.");
  for (const name of ["Later", "Last"]) {
    const reply = replyOf(name, false);
    await upstream.play(door.url, client.ask(), { reply, fault: undefined });
    client.say(`${name} words.`);
  }
}

const BEFORE = ["user: Opening words", "assistant: Opening reply", "user: Asking words"];
const behind = (hasCall: boolean, name: string) => [
  hasCall ? `toolResult: call_${name}Qx` : "user: Following words",
  ...["assistant: Later reply", "user: Later words", "assistant: Last reply"],
];

const CASES = DOOR_APIS.flatMap((api) =>
  [false, true].flatMap((hasCall) =>
    ["one after the other", "at once"].flatMap((how) =>
      [2, 3].flatMap((count) =>
        NAMES.slice(0, count).map((kept) => ({ api, hasCall, how, count, kept })),
      ),
    ),
  ),
);

describe("of several replies to one request", () => {
  it.each(CASES)(
    "by $api (calls: $hasCall), $how, the session has the one its client goes on with: $kept of $count",
    async ({ api, hasCall, how, count, kept }) => {
      const world = await begin(api);
      const { upstream, door, client, session } = world;
      const replies = NAMES.slice(0, count).map((name) => replyOf(name, hasCall));
      if (how === "at once")
        await Promise.all(replies.map((reply) => ask(upstream, door.url, client, reply)));
      else for (const reply of replies) await ask(upstream, door.url, client, reply);
      const between = await wordsIn(door, session);
      expect(between.slice(0, -1)).toEqual(BEFORE);
      if (how !== "at once") expect(between.at(-1)).toBe(`assistant: ${NAMES[count - 1]} reply`);
      await goOn(world, replies[NAMES.indexOf(kept)]!);
      expect(await wordsIn(door, session)).toEqual([
        ...[...BEFORE, `assistant: ${kept} reply`],
        ...behind(hasCall, kept),
      ]);
    },
  );

  it.each([false, true])("so it is behind a restart (calls: %s)", async (hasCall) => {
    const world = await begin("openai-responses");
    const { upstream, client, session } = world;
    const replies = NAMES.map((name) => replyOf(name, hasCall));
    for (const reply of replies) await ask(upstream, world.door.url, client, reply);
    await world.door.stop();
    const door = await startTestDoor(upstream, { home: world.door.home });
    await goOn({ ...world, door }, replies[0]!);
    expect(await wordsIn(door, session)).toEqual([
      ...[...BEFORE, "assistant: First reply"],
      ...behind(hasCall, "First"),
    ]);
  });
});

it.each(DOOR_APIS)(
  "by %s, replies that begin with the same words are told by their calls",
  async (api) => {
    const world = await begin(api);
    const { upstream, client, session } = world;
    const replies = NAMES.map((name) => ({ ...replyOf(name, true), text: "Let me look." }));
    for (const reply of replies) await ask(upstream, world.door.url, client, reply);
    await world.door.stop();
    const door = await startTestDoor(upstream, { home: world.door.home });
    await goOn({ ...world, door }, replies[1]!);
    await door.gateway.door.settled();
    const { branch = [] } = (await door.gateway.store.read(session)) ?? {};
    const messages = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    const calling = messages.filter((message) => JSON.stringify(message).includes("Let me look."));
    expect(calling).toMatchObject([{ content: [{ text: "Let me look." }, { type: "toolCall" }] }]);
    expect(JSON.stringify(calling)).toContain("call_Second");
  },
);

it("a reply that comes when its client has gone on with another stands beside", async () => {
  const waiting: (() => void)[] = [];
  let count = 0;
  const upstream = await startUpstream((_heard, response) => {
    const content = `${["Opening", "First", "Second", "Later"][count++]} reply.`;
    const choices = [{ index: 0, delta: { content }, finish_reason: "stop" }];
    const end = () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify({ id: "r", choices })}\n\ndata: [DONE]\n\n`);
    };
    if (content.startsWith("Second")) waiting.push(end);
    else end();
  });
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const client = new Client("openai-completions");
  const send = async () => {
    const { path, body } = client.ask().request;
    const asked = { method: "POST", body: JSON.stringify({ ...body, stream: true }) };
    const sent = await fetch(`${door.url}${path}`, asked);
    await sent.text();
    return sent.headers.get("x-clew-session")!;
  };
  const take = (text: string) => client.ask().take({ text, thinking: "", calls: [] });
  client.say("Opening words.");
  const session = await send();
  take("Opening reply.");
  client.say("Asking words.");
  const first = send();
  await expect.poll(() => count).toBe(2);
  const second = send();
  await expect.poll(() => count).toBe(3);
  await first;
  take("First reply.");
  client.say("Following words.");
  await send();
  waiting.shift()!();
  await second;
  const words = [
    ...[...BEFORE, "assistant: First reply"],
    ...["user: Following words", "assistant: Later reply"],
  ];
  expect(await wordsIn(door, session)).toEqual(words);
});

describe("a client that left in the middle of a reply, of which the door has all", () => {
  it.each(DOOR_APIS)("goes on with the part that it had, which stands alone (%s)", async (api) => {
    const begun = await begin(api);
    const { upstream, door, client, session } = begun;
    await ask(upstream, door.url, client, {
      ...{ text: "Heard reply to it, and more that was not heard.", thinking: "" },
      calls: [{ id: "call_UnheardQx7Zk", name: "read", args: { path: "unheard" } }],
    });
    await goOn(begun, { text: "Heard reply to", thinking: "", calls: [] });
    expect(await wordsIn(door, session)).toEqual([
      ...[...BEFORE, "assistant: Heard reply"],
      ...behind(false, "Heard"),
    ]);
  });
});
