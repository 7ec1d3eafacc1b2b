import { readFile, writeFile } from "node:fs/promises";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { readLastRequest } from "../../reports/report-log.ts";
import { agentPaths } from "../../sessions/paths.ts";
import { follow } from "../../testing/follower.ts";
import type { TestGateway } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { TestClient as Client } from "../testing/client.ts";
import { type ReplyingUpstream, startReplies } from "../testing/http-world.ts";
import { startUpstream as startModelServer } from "../testing/upstream.ts";

const WINDOW = 32_000;

async function startUpstream(...given: Parameters<typeof startReplies>) {
  const upstream = await startReplies(...given);
  onTestFinished(upstream.close);
  return upstream;
}

/** Says nothing until `answers` is set. */
async function startSilent(onHeard: () => void) {
  const silent = { answers: false };
  const upstream = await startModelServer((_heard, response) => {
    onHeard();
    if (silent.answers) response.writeHead(500).end("{}");
  });
  return Object.assign(silent, upstream);
}

async function storedIn({ gateway }: TestGateway, session: string): Promise<AgentMessage[]> {
  await gateway.door.settled();
  const found = await gateway.store.read(session);
  return (found?.branch ?? []).flatMap((entry) =>
    entry.type === "message" ? [entry.message] : [],
  );
}

const doneIn = (events: readonly { type: string }[]) =>
  events.filter(({ type }) => type === "done").length;

const bodiesOf = ({ heard }: ReplyingUpstream) => heard.map(({ bytes }) => bytes.toString());

describe("a client that sends its whole history", () => {
  it.each(DOOR_APIS)(
    "by %s has its bytes passed on as they are, and is stored once",
    async (api) => {
      const upstream = await startUpstream();
      const door = await startTestDoor(upstream);
      const client = new Client(api);
      client.say("Fix the parser.");
      const sent: string[] = [];
      const sessions = new Set<string | null>();
      for (let round = 0; round < 6; round++) {
        const ask = client.ask();
        sent.push(JSON.stringify(ask.request.body));
        const { session, hasReply } = await upstream.play(door.url, ask, {
          ...{ reply: client.reply(), fault: undefined },
        });
        expect(hasReply).toBe(true);
        sessions.add(session);
      }
      expect(bodiesOf(upstream)).toEqual(sent);
      expect(sessions.size).toBe(1);
      const [session] = sessions;
      const stored = await storedIn(door, session!);
      expect(stored.map(({ role }) => role)).toEqual([
        "user",
        ...Array.from({ length: 5 }, () => ["assistant", "toolResult"]).flat(),
        "assistant",
      ]);
      const { gateway } = door;
      const { calls } = (await (await gateway.inspect(session!)).calls({ limit: 100 }))!;
      expect(calls).toHaveLength(6);
      expect(calls.at(-1)!.fates).toMatchObject({ all: 11, shown: 11, changed: 0 });
      const usage = await gateway.usage(session!);
      expect(usage.total.modelCalls).toBe(6);
      expect(usage.total.cost?.total).toBeGreaterThan(0);
    },
  );

  it.each([true, false])("in code mode has its replies read, streamed %s", async (streaming) => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream);
    const client = new Client("openai-responses", { code: true });
    client.say("Fix the parser.");
    const sessions = new Set<string | null>();
    for (let round = 0; round < 4; round++) {
      const ask = client.ask();
      ask.request.body.stream = streaming;
      const named = { ...ask, headers: { "thread-id": "t1", "x-codex-window-id": "t1:0" } };
      const played = { reply: client.reply(), fault: undefined };
      sessions.add((await upstream.play(door.url, named, played)).session);
    }
    expect([...sessions]).toEqual([expect.stringMatching(/^codex-/)]);
    const [session] = sessions;
    const stored = await storedIn(door, session!);
    expect(stored.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "toolResult", "assistant", "toolResult"],
      ...["assistant", "toolResult", "assistant"],
    ]);
    expect(stored[1]).toMatchObject({
      stopReason: "toolUse",
      content: [
        {
          ...{ type: "toolCall", id: "call_1", name: "read" },
          arguments: { input: 'text(await tools.run({"path":"f1"}));' },
        },
      ],
    });
    expect(stored[2]).toMatchObject({ toolName: "read" });
    expect((await door.gateway.usage(session!)).total.modelCalls).toBe(4);
    const found = (await door.gateway.store.find(session!))!;
    const last = await readLastRequest(agentPaths(door.home, "main").reports, found.sessionId);
    expect(last).toMatchObject({
      call: {
        system: [{ source: { part: "client" } }],
        tools: ["read", "write"].map((name) => ({ source: { kind: "tool-schema", name } })),
      },
    });
  });

  it("has each of its turns told of, also where it puts words of its own behind a person's", async () => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream);
    const client = new Client("anthropic-messages");
    const play = () =>
      upstream.play(door.url, client.ask(), { reply: client.reply(), fault: undefined });
    client.say("Fix the parser.");
    client.said.push({ uid: null, by: "system", text: "Mind your list of tasks." });
    await play();
    await play();
    client.say("Stop that, and read the other one.");
    const { session } = await play();
    await door.gateway.door.settled();
    const { missingTurns } = (await (await door.gateway.inspect(session!)).calls({ limit: 9 }))!;
    expect(missingTurns).toEqual([]);
  });

  it("is never more than its newest turn ahead of what is stored, however many there are", async () => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream);
    const behind = await Promise.all(
      Array.from({ length: 12 }, async (_, number) => {
        const client = new Client("openai-completions");
        client.say(`Fix the parser number ${number}.`);
        const least: number[] = [];
        for (let round = 0; round < 8; round++) {
          const reply = client.reply();
          const calls = reply.calls.map((call) => ({ ...call, id: `${number}_${call.id}` }));
          const { session } = await upstream.play(door.url, client.ask(), {
            ...{ reply: { ...reply, calls }, fault: undefined },
          });
          const found = await door.gateway.store.read(session!);
          const stored = found?.branch.filter(
            (entry) => entry.type === "message" && entry.message.role === "assistant",
          );
          least.push(round - (stored?.length ?? 0));
        }
        return Math.max(...least);
      }),
    );
    expect(Math.max(...behind)).toBeLessThanOrEqual(0);
  });

  it.each(DOOR_APIS)("by %s never overflows in fifty calls, and its prefix stays", async (api) => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream);
    const client = new Client(api, { maxTokens: 64_000, chars: 4_000 });
    client.say("Read fifty files.");
    let session: string | null = null;
    for (let round = 0; round < 50; round++) {
      const played = await upstream.play(door.url, client.ask(), {
        ...{ reply: client.reply(), fault: undefined },
      });
      expect(played.status).toBe(200);
      session = played.session;
    }
    const bodies = bodiesOf(upstream).map((body) => JSON.parse(body) as Record<string, unknown>);
    for (const body of bodies) expect(JSON.stringify(body).length / 4).toBeLessThan(WINDOW);
    const lists = bodies.map((body) => (body.messages ?? body.input ?? body.contents) as object[]);
    const plain = (message: object) =>
      JSON.stringify(message, (name, value: unknown) =>
        name === "cache_control" ? undefined : value,
      );
    const kept = lists.filter((list, index) => {
      const before = lists[index - 1] ?? [];
      return before.every((message, at) => list[at] !== undefined && isSame(message, list[at]));
    });
    function isSame(a: object, b: object) {
      return plain(a) === plain(b) || plain(asBlocks(a)) === plain(asBlocks(b));
    }
    expect(kept.length).toBeGreaterThanOrEqual(46);
    const stored = await storedIn(door, session!);
    const ids = stored.flatMap((message) =>
      message.role === "toolResult" ? [message.toolCallId] : [],
    );
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids).toHaveLength(49);
    const results = stored.filter(({ role }) => role === "toolResult");
    for (const result of results) expect(JSON.stringify(result).length).toBeGreaterThan(4_000);
    const { calls } = (await (await door.gateway.inspect(session!)).calls({ limit: 100 }))!;
    expect(calls).toHaveLength(50);
    expect(calls.at(-1)!.fates.shortened).toBeGreaterThan(20);
  });
});

/** A text that bore a marker was a block. */
const asBlocks = (message: object): object => {
  const { content } = message as { content?: unknown };
  return typeof content === "string"
    ? { ...message, content: [{ type: "text", text: content }] }
    : message;
};

describe("what does not fit", () => {
  it.each(DOOR_APIS)("by %s is told in the form that its clients know", async (api) => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream, { window: 4_000 });
    const client = new Client(api);
    client.say("word ".repeat(8_000));
    const ask = client.ask();
    const told = await fetch(`${door.url}${ask.request.path}`, {
      method: "POST",
      body: JSON.stringify(ask.request.body),
    });
    expect(told.status).toBe(400);
    expect(await told.text()).toMatch(
      /context_length_exceeded|prompt is too long: \d+ tokens > 4000 maximum|exceeds the maximum number of tokens/,
    );
    expect(upstream.heard).toEqual([]);
    const session = told.headers.get("x-clew-session")!;
    expect((await storedIn(door, session)).map(({ role }) => role)).toEqual(["user"]);
  });

  it("is cut harder and sent once more where the model server refuses it", async () => {
    let most = 5_000;
    const upstream = await startUpstream({
      refuse: ({ bytes }) => {
        const tokens = Math.ceil(bytes.length / 4);
        return tokens <= most
          ? undefined
          : `This model's maximum context length is ${most} tokens. However, your messages resulted in ${tokens} tokens.`;
      },
    });
    const door = await startTestDoor(upstream, { window: 32_000 });
    const client = new Client("openai-completions", { chars: 2_000 });
    client.say("Read many files.");
    const statuses: number[] = [];
    for (let round = 0; round < 25; round++) {
      const asked = { reply: client.reply(), fault: undefined };
      statuses.push((await upstream.play(door.url, client.ask(), asked)).status);
    }
    expect(statuses).toEqual(statuses.map(() => 200));
    const sizes = upstream.heard.map(({ bytes }) => bytes.length / 4);
    expect(sizes.filter((size) => size > most)).toHaveLength(1);
    // What never fits is refused in the words of the model server.
    most = 100;
    const asked = { reply: client.reply(), fault: undefined };
    expect((await upstream.play(door.url, client.ask(), asked)).status).toBe(400);
  });
});

describe("a model server that says behind its status that a request is too large", () => {
  it.each(DOOR_APIS)("by %s is passed on as it is, and gets less the next time", async (api) => {
    let most = Number.POSITIVE_INFINITY;
    const told = (bytes: Buffer) =>
      `The prompt is too long: ${Math.ceil(bytes.length / 4)} tokens > ${most} maximum`;
    const upstream = await startUpstream({
      refuse: ({ bytes }) => (bytes.length / 4 <= most ? undefined : told(bytes)),
      refusesInStream: true,
    });
    const door = await startTestDoor(upstream);
    const client = new Client(api, { chars: 2_000 });
    client.say("Read many files.");
    const play = () =>
      upstream.play(door.url, client.ask(), { reply: client.reply(), fault: undefined });
    for (let round = 0; round < 12; round++) await play();
    most = 5_000;
    const { path, body } = client.ask().request;
    const headers = { "x-ask": "late" };
    upstream.await("late", { reply: client.reply(), fault: undefined });
    const refused = await fetch(`${door.url}${path}`, {
      ...{ method: "POST", headers, body: JSON.stringify(body) },
    });
    expect(refused.status).toBe(200);
    expect(await refused.text()).toContain("The prompt is too long");
    const tried = upstream.heard.length;
    expect((await play()).status).toBe(200);
    expect(upstream.heard).toHaveLength(tried + 1);
    expect(upstream.heard.at(-1)!.bytes.length / 4).toBeLessThan(most);
  });
});

describe("a gateway that starts again", () => {
  it("knows its sessions, and stores nothing twice that was stored and not noted", async () => {
    const upstream = await startUpstream();
    const first = await startTestDoor(upstream);
    const client = new Client("openai-completions");
    client.say("Fix the parser.");
    const play = (door: TestGateway) =>
      upstream.play(door.url, client.ask(), { reply: client.reply(), fault: undefined });
    const { session } = await play(first);
    await play(first);
    await first.stop();
    const found = (await first.gateway.store.find(session!))!;
    const journal = `${found.file}.door`;
    const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(6);
    // As if it had been killed behind the transcript's last line, and within the journal's.
    await writeFile(journal, `${lines.slice(0, -1).join("\n")}\n${lines.at(-1)!.slice(0, 40)}`);
    const second = await startTestDoor(upstream, { home: first.home });
    expect((await play(second)).session).toBe(session);
    const stored = await storedIn(second, session!);
    expect(stored.map(({ role }) => role)).toEqual([
      "user",
      ...["assistant", "toolResult", "assistant", "toolResult", "assistant"],
    ]);
  });
});

describe("beside its sessions", () => {
  it("the door tells of replies while they come, and of each request what it was", async () => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream);
    const tab = await follow(door.url);
    const client = new Client("anthropic-messages");
    client.say("Fix the parser.");
    const reply = { text: "It is fixed now.", thinking: "", calls: [] };
    const { session } = await upstream.play(door.url, client.ask(), { reply, fault: undefined });
    await tab.on("done");
    const types = tab.events.map(({ type }) => type);
    for (const type of ["started", "accepted", "text", "message", "done"])
      expect(types).toContain(type);
    await door.gateway.door.settled();
    const found = (await door.gateway.store.find(session!))!;
    const last = await readLastRequest(agentPaths(door.home, "main").reports, found.sessionId);
    expect(last!.report.door).toEqual({
      ...{ wire: "anthropic-messages", matchedBy: "nothing", kind: "turn" },
      messages: { fresh: 1, known: 0, edited: 0 },
      view: { tokens: expect.any(Number), setAside: 0, leftOut: 0, moved: false },
    });
    const { requestHash, rebuiltHash } = (await (
      await door.gateway.inspect(session!)
    ).request("1.1"))!;
    expect(rebuiltHash).toBe(requestHash);
  });

  it("the door tells of each call before its reply, what its cache should give, and counts it", async () => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream);
    const tab = await follow(door.url);
    const client = new Client("anthropic-messages", { chars: 20_000 });
    client.say("Read many files.");
    const rounds = 9;
    let session: string | null = null;
    for (let round = 0; round < rounds; round++)
      session = (
        await upstream.play(door.url, client.ask(), { reply: client.reply(), fault: undefined })
      ).session;
    await door.gateway.door.settled();
    await tab.on("done", ({ type }) => type === "done" && doneIn(tab.events) === rounds);
    const types = tab.events.map(({ type }) => type);
    const told = tab.events.flatMap((event) => (event.type === "call" ? [event.call] : []));
    expect(told.map(({ id }) => id)).toEqual(told.map((_, index) => `${index + 1}.1`));
    expect(told).toHaveLength(rounds);
    expect(types.indexOf("call")).toBeLessThan(types.indexOf("call_end"));
    expect(types.filter((type) => type === "call_end")).toHaveLength(rounds);
    const { calls } = (await (await door.gateway.inspect(session!)).calls({ limit: 100 }))!;
    expect(told.map(({ requestHash }) => requestHash)).toEqual(
      calls.map(({ requestHash }) => requestHash),
    );
    const caches = calls.map(({ cache }) => cache);
    expect(caches[0]).toMatchObject({ predicted: 0, broke: "first-call" });
    expect(caches[2]!.predicted).toBeGreaterThan(5_000);
    expect(caches.some((cache) => cache?.broke === "messages-changed")).toBe(true);
    const wasted = calls.flatMap(({ waste }) => waste).reduce((sum, { tokens }) => sum + tokens, 0);
    expect(wasted).toBeGreaterThan(1_000);
    expect(await (await door.get("/api/usage?by=engine")).json()).toMatchObject({
      engines: [{ name: "door", waste: { brokenPrefix: { tokens: wasted } } }],
    });
    const numbers = await (await door.get("/metrics")).text();
    const wire = 'wire="anthropic-messages"';
    expect(numbers).toContain(
      `clew_door_requests_total{${wire},kind="turn",matched="prefix",outcome="completed"} ${rounds - 1}`,
    );
    expect(numbers).toMatch(/clew_door_views_moved_total\{wire="anthropic-messages"\} [1-9]/);
    expect(numbers).toMatch(/clew_tokens_total\{model="claude\/model",kind="input"\} [1-9]/);
  });

  it("a client that leaves before it is answered ends its turn, and asks again in the same session", async () => {
    const heard = Promise.withResolvers<void>();
    const silent = await startSilent(() => heard.resolve());
    onTestFinished(silent.close);
    const door = await startTestDoor(silent);
    const tab = await follow(door.url);
    const client = new Client("openai-completions");
    client.say("Fix the parser.");
    const { path, body } = client.ask().request;
    const asked = { method: "POST", body: JSON.stringify(body) };
    const leaving = new AbortController();
    const left = fetch(`${door.url}${path}`, { ...asked, signal: leaving.signal });
    await heard.promise;
    leaving.abort();
    await expect(left).rejects.toThrow();
    await tab.on("done");
    expect(tab.events.at(-1)).toMatchObject({ type: "done", outcome: "aborted" });
    silent.answers = true;
    const again = await fetch(`${door.url}${path}`, asked);
    await again.text();
    await door.gateway.door.settled();
    const listed = await door.gateway.sessions();
    expect(listed.map(({ key }) => key)).toEqual([
      `agent:main:${again.headers.get("x-clew-session")}`,
    ]);
  });

  it("subagents are listed below who started them", async () => {
    const upstream = await startUpstream();
    const door = await startTestDoor(upstream);
    const play = async (agent?: string) => {
      const client = new Client("anthropic-messages");
      client.say(agent ?? "Fix the parser.");
      const headers = {
        "x-claude-code-session-id": "s1",
        ...(agent && { "x-claude-code-agent-id": agent }),
      };
      const asked = { reply: client.reply(), fault: undefined };
      return (await upstream.play(door.url, { ...client.ask(), headers }, asked)).session!;
    };
    const [main, first, second] = [await play(), await play("a1"), await play("a2")];
    expect(new Set([main, first, second]).size).toBe(3);
    await door.gateway.door.settled();
    const listed = await door.gateway.sessions();
    expect(listed.map(({ key, depth }) => [key, depth])).toEqual([
      [`agent:main:${main}`, 0],
      [`agent:main:${first}`, 1],
      [`agent:main:${second}`, 1],
    ]);
  });
});
