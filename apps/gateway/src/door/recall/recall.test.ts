import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import type { TestGateway } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Reply } from "../testing/agents.ts";
import { TestClient } from "../testing/client.ts";
import { readReply } from "../testing/read-reply.ts";
import { startUpstream } from "../testing/upstream.ts";
import { writeReply } from "../testing/write-reply.ts";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";
import { wireAt } from "../wires/find-wire.ts";

const FACT = "The spare key is heron-48213.";
const OURS = ["session_search", "session_read"];
const recall = { settings: { door: { recallTools: true } } };

type Answer = Reply | { status: number } | "silence" | "break";

/** Answers each request with what `next` has for it. */
async function startScript(api: DoorApi) {
  const script = { next: [] as Answer[], bodies: [] as JsonObject[], sizes: [] as number[] };
  let count = 0;
  const upstream = await startUpstream(({ url, bytes }, response) => {
    const body = JSON.parse(bytes.toString()) as JsonObject;
    script.bodies.push(body);
    script.sizes.push(Math.ceil(bytes.length / 4));
    const answer = script.next.shift();
    if (answer === undefined) return response.writeHead(404).end();
    if (answer === "silence") return undefined;
    const streaming = body.stream === true || url.includes("streamGenerateContent");
    if (answer === "break" || "status" in answer) {
      const status = answer === "break" ? 200 : answer.status;
      response.writeHead(status, { "content-type": "application/json" });
      if (answer !== "break")
        return response.end(JSON.stringify(wireAt(url.split("?")[0]!)!.error(status, "No.").body));
      response.write("{");
      return setImmediate(() => response.destroy());
    }
    const usage = { input: script.sizes.at(-1)!, output: 20 };
    const written = writeReply(api, answer, { id: `r${++count}`, usage, streaming });
    response.writeHead(200, { "content-type": written.contentType });
    response.end(written.pieces.join(""));
  });
  onTestFinished(upstream.close);
  return Object.assign(script, { url: upstream.url });
}

const calling = (...names: string[]): Reply => ({
  ...{ text: "", thinking: "" },
  calls: names.map((name, at) => ({
    ...{ id: `own_${at}_${name}`, name },
    args: name === "session_search" ? { query: "spare key" } : { path: "a" },
  })),
});

class Played extends TestClient {
  readonly api: DoorApi;
  readonly url: string;
  readonly streaming: boolean;

  constructor(api: DoorApi, url: string, streaming: boolean) {
    super(api, { chars: 4_000 });
    this.api = api;
    this.url = url;
    this.streaming = streaming;
  }

  async send(take: Reply | null, signal?: AbortSignal) {
    const asked = this.ask();
    const { path, body } = asked.request;
    const isGoogle = this.api === "google-generative-ai";
    const address = this.streaming
      ? path
      : path.replace("streamGenerateContent", "generateContent").replace(/\?alt=sse$/, "");
    const sent = isGoogle ? body : { ...body, stream: this.streaming };
    const answer = await fetch(`${this.url}${address}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sent),
      ...(signal && { signal }),
    });
    const text = await answer.text();
    asked.take(take);
    const session = answer.headers.get("x-clew-session") ?? "";
    const type = answer.headers.get("content-type") ?? "";
    return { status: answer.status, text, session, type };
  }
}

/** A session of which something is set aside, with the fact in its first result. */
async function startCut(api: DoorApi, streaming = true) {
  const upstream = await startScript(api);
  const door = await startTestDoor(upstream, { ...recall, window: 16_000 });
  const client = new Played(api, door.url, streaming);
  client.say("Read all of it.");
  let session = "";
  for (let round = 0; round < 20; round++) {
    const reply = client.reply();
    upstream.next.push(reply);
    ({ session } = await client.send(reply));
    if (round === 0) hide(client);
  }
  return { upstream, door, client, session };
}

/** Among lines of the same words, so that no excerpt has it for its place. */
function hide(client: TestClient) {
  const last = client.said.at(-1);
  if (last?.by !== "tools") throw new Error("there is no result");
  const results = last.results.map((one) => ({
    ...one,
    text: `${one.text}\n${FACT}\n${one.text}`,
  }));
  client.said[client.said.length - 1] = { ...last, results };
}

async function lastReport({ gateway }: TestGateway, session: string) {
  await gateway.door.settled();
  const inspected = await gateway.inspect(session);
  const { calls } = (await inspected.calls({ limit: 100 }))!;
  return { calls: calls.length, usage: await gateway.usage(session) };
}

const namesIn = (body: JsonObject) =>
  OURS.filter((name) => JSON.stringify(body.tools).includes(name));

describe.each(DOOR_APIS)("a model by %s that looks into its session", (api) => {
  it.each([true, false])(
    "is answered here, and its client sees the end alone, streamed: %s",
    async (streaming) => {
      const { upstream, door, client, session } = await startCut(api, streaming);
      const before = upstream.bodies.length;
      const reply = client.reply();
      upstream.next.push(calling("session_search"), reply);
      const answer = await client.send(reply);
      expect(answer.status).toBe(200);
      for (const name of OURS) expect(answer.text).not.toContain(name);
      const { last } = readReply(api, answer.text, answer.type);
      expect(last.type).toBe("done");
      const { content, usage } = (last as { message: AssistantMessage }).message;
      expect(content.map((block) => block.type === "toolCall" && block.name)).toEqual(["read"]);
      expect(usage?.input).toBe(upstream.sizes.at(-1));
      const [first, second] = upstream.bodies.slice(before) as [JsonObject, JsonObject];
      expect(upstream.bodies).toHaveLength(before + 2);
      expect(namesIn(first)).toEqual(OURS);
      expect(JSON.stringify(second)).toContain("own_0_session_search");
      expect(JSON.stringify(second)).toContain(FACT);
      const wire = wireAt(client.ask().request.path)!;
      const [a, b] = [first, second].map((body) => body[wire.list] as object[]) as [
        object[],
        object[],
      ];
      expect(b.slice(0, a.length)).toEqual(a);
      expect(b).toHaveLength(a.length + 2);
      const told = await lastReport(door, session);
      expect(told.calls).toBe(21);
      expect(told.usage.total).toMatchObject({
        modelCalls: 21,
        tokens: { input: upstream.sizes.reduce((sum, size) => sum + size, 0), output: 440 },
      });
      // Its client knows nothing of it, and goes on in the same session.
      const next = client.reply();
      upstream.next.push(next);
      expect((await client.send(next)).session).toBe(session);
      expect(JSON.stringify(upstream.bodies.at(-1))).not.toContain("own_0_session_search");
    },
  );

  it("is asked to repeat calls of its client's tools that came beside", async () => {
    const { upstream, client } = await startCut(api);
    const reply = client.reply();
    upstream.next.push(calling("session_search", "read"), reply);
    const answer = await client.send(reply);
    expect(answer.text).not.toContain("own_1_read");
    expect(JSON.stringify(upstream.bodies.at(-1))).toMatch(/own_1_read.*was not run/s);
  });

  it("is not offered to again when it has looked often enough", async () => {
    const { upstream, client } = await startCut(api);
    const reply = client.reply();
    const search = calling("session_search");
    upstream.next.push(search, search, search, search, reply);
    expect((await client.send(reply)).status).toBe(200);
    expect(upstream.bodies.slice(-5).map(namesIn)).toEqual([OURS, OURS, OURS, OURS, []]);
    upstream.next.push(search, search, search, search, search);
    const endless = await client.send(null);
    expect(endless.status).toBe(502);
    expect(endless.text).toContain("went on looking");
  });

  it.each([{ status: 429 }, "break"] as const)(
    "fails for its client where the second request fails: %j",
    async (fault) => {
      const { upstream, client, session } = await startCut(api);
      upstream.next.push(calling("session_search"), fault);
      const failed = await client.send(null).catch(() => undefined);
      if (fault !== "break") expect(failed?.status).toBe(429);
      else expect(failed).toBeUndefined();
      // The same request again is answered as if nothing had been.
      const reply = client.reply();
      upstream.next.push(reply);
      const again = await client.send(reply);
      expect(again).toMatchObject({ status: 200, session });
    },
  );

  it("is not waited for when its client has gone", async () => {
    const { upstream, door, client, session } = await startCut(api);
    const before = upstream.bodies.length;
    upstream.next.push(calling("session_search"), "silence");
    const gone = new AbortController();
    const sent = client.send(null, gone.signal).catch(() => "gone");
    await expect.poll(() => upstream.bodies.length, { timeout: 20_000 }).toBe(before + 2);
    gone.abort();
    expect(await sent).toBe("gone");
    const told = await expect
      .poll(async () => (await lastReport(door, session)).calls, { timeout: 20_000 })
      .toBe(21);
    return told;
  });
});

describe("a model that is offered nothing", () => {
  it("has its client's bytes while nothing is set aside", async () => {
    const upstream = await startScript("openai-completions");
    const door = await startTestDoor(upstream, recall);
    const client = new Played("openai-completions", door.url, true);
    client.say("Read it.");
    const reply = client.reply();
    upstream.next.push(reply);
    await client.send(reply);
    expect(namesIn(upstream.bodies[0]!)).toEqual([]);
  });
});
