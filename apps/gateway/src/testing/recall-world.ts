// A session whose model may look into it, and a model server that plays a script.
import { onTestFinished } from "vitest";
import type { Reply } from "../door/testing/agents.ts";
import { TestClient } from "../door/testing/client.ts";
import { startUpstream } from "../door/testing/upstream.ts";
import { writeReply } from "../door/testing/write-reply.ts";
import type { DoorApi, JsonObject } from "../door/wires/door-wire.ts";
import { wireAt } from "../door/wires/find-wire.ts";
import type { TestGateway } from "./gateway.ts";
import { startTestDoor } from "./test-door.ts";

export const FACT = "The spare key is heron-48213.";
export const OURS = ["session_search", "session_read"];
export const recall = { settings: { door: { recallTools: true } } };

type Answer = Reply | { status: number } | "silence" | "break";

/** Answers each request with what `next` has for it. */
export async function startScript(api: DoorApi) {
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

/** A reply that calls them. */
export const calling = (...names: string[]): Reply => ({
  ...{ text: "", thinking: "" },
  calls: names.map((name, at) => ({
    ...{ id: `own_${at}_${name}`, name },
    args: name === "session_search" ? { query: "spare key" } : { path: "a" },
  })),
});

export class Played extends TestClient {
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

/** Who speaks each wire in a test's settings. */
const PROVIDERS: Readonly<Record<DoorApi, string>> = {
  "openai-completions": "chat",
  "openai-responses": "resp",
  "anthropic-messages": "claude",
  "google-generative-ai": "gemini",
};

/**
 * A session of which something is set aside, with the fact in its first result. `server`: the wire
 * of the model; absent: its client's.
 */
export async function startCut(api: DoorApi, streaming = true, server: DoorApi = api) {
  const upstream = await startScript(server);
  const models = server === api ? {} : { model: `${PROVIDERS[server]}/model` };
  const door = await startTestDoor(upstream, {
    settings: { door: { recallTools: true, upstreams: { [api]: { models } } } },
    window: 16_000,
  });
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

export async function lastReport({ gateway }: TestGateway, session: string) {
  await gateway.door.settled();
  const inspected = await gateway.inspect(session);
  const { calls } = (await inspected.calls({ limit: 100 }))!;
  return { calls: calls.length, usage: await gateway.usage(session) };
}

export const namesIn = (body: JsonObject) =>
  OURS.filter((name) => JSON.stringify(body.tools).includes(name));
