// Floods a gateway by its door, and looks at what waits, what is refused, and what is told of it.
import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { ask, person, request } from "../../testing/door-client.ts";
import { post, type TestGateway } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import {
  HELD_WORDS,
  type HeldStream,
  LAST_WORDS,
  startHeldUpstream,
} from "../testing/held-upstream.ts";

const limits = { runningTurns: 2, waitingTurns: 3 };
const sent = { streaming: true, model: "model" };
const many = Array.from({ length: 12 }, (_, index) => index);

async function start(settings: Record<string, unknown> = {}) {
  const upstream = await startHeldUpstream();
  const door = await startTestDoor(upstream, { settings: { gateway: { limits }, ...settings } });
  return { upstream, door };
}

const busyOf = async ({ get }: TestGateway) =>
  ((await (await get("/api/health")).json()) as { turns: object }).turns;

describe.each(DOOR_APIS)("more requests by %s than may run and wait", (api) => {
  it.each(["transparent", "session"])(
    "are told to come again, in %s mode, and the others have their turn",
    async (mode) => {
      const { upstream, door } = await start({
        agents: { defaults: { model: "chat/model" } },
      });
      const asked = many.map((index) =>
        ask(door, api, [person(`Question ${index}`)], {
          ...{ streaming: true, model: "model" },
          ...(mode === "session" && { session: `work-${index}`, model: "clew" }),
        }),
      );
      await expect.poll(() => busyOf(door)).toEqual({ running: 2, waiting: 3 });
      const metrics = await (await door.get("/metrics")).text();
      expect(metrics).toContain("clew_turns_running 2");
      expect(metrics).toContain("clew_turns_waiting 3");
      for (let count = 0; count < 5; count++) (await upstream.asked()).finish();
      const answers = await Promise.all(asked);
      const refused = answers.filter(({ answer }) => answer.status === 429);
      expect(answers.filter(({ error }) => error === null)).toHaveLength(5);
      expect(refused).toHaveLength(7);
      for (const { answer, body } of refused) {
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(body).toContain("waitingTurns");
        expect(body).toMatch(/rate_limit_error|RESOURCE_EXHAUSTED/);
      }
      expect(upstream.heard).toHaveLength(5);
      const counted = await (await door.get("/metrics")).text();
      for (const [status, count] of [
        [200, 5],
        [429, 7],
      ])
        expect(counted).toContain(
          `clew_door_answers_total{wire="${api}",status="${status}"} ${count}`,
        );
      await expect.poll(() => busyOf(door)).toEqual({ running: 0, waiting: 0 });
    },
  );
});

it("what was refused is stored nowhere, and is answered when it is asked again", async () => {
  const { upstream, door } = await start();
  const asked = many.map((index) =>
    ask(door, "anthropic-messages", [person(`Question ${index}`)], sent),
  );
  await expect.poll(() => busyOf(door)).toEqual({ running: 2, waiting: 3 });
  for (let count = 0; count < 5; count++) (await upstream.asked()).finish();
  const answers = await Promise.all(asked);
  await door.gateway.door.settled();
  expect(await door.gateway.sessions()).toHaveLength(5);
  const index = answers.findIndex(({ answer }) => answer.status === 429);
  const again = ask(door, "anthropic-messages", [person(`Question ${index}`)], sent);
  (await upstream.asked()).finish();
  expect((await again).error).toBe(null);
});

it("a client that goes away while it waits gives its place up", async () => {
  const { upstream, door } = await start();
  const api = "openai-completions";
  const running = [1, 2].map((index) => ask(door, api, [person(`Run ${index}`)], sent));
  const streams = [await upstream.asked(), await upstream.asked()];
  const leaving = new AbortController();
  const left = request(door, api, [person("Wait")], { ...sent, signal: leaving.signal });
  left.catch(() => {});
  await expect.poll(() => busyOf(door)).toEqual({ running: 2, waiting: 1 });
  leaving.abort();
  await expect.poll(() => busyOf(door)).toEqual({ running: 2, waiting: 0 });
  for (const stream of streams) stream.finish();
  await Promise.all(running);
  expect(upstream.heard).toHaveLength(2);
});

it("a title is asked for while all turns that may run do", async () => {
  const { upstream, door } = await start();
  const api = "anthropic-messages";
  const headers = { "x-claude-code-session-id": "11111111-2222-3333-4444-555555555555" };
  const work = { streaming: true, model: "model", headers, tools: ["read", "write"] };
  const running = [1, 2].map((index) =>
    ask(door, api, [person(`Run ${index}`)], { ...work, headers: index === 1 ? headers : {} }),
  );
  const streams: HeldStream[] = [await upstream.asked(), await upstream.asked()];
  await expect.poll(() => busyOf(door)).toEqual({ running: 2, waiting: 0 });
  const title = ask(door, api, [person("Write a title of this conversation in JSON: Run 1")], {
    ...{ streaming: true, model: "model", headers },
    more: { max_tokens: 32 },
  });
  const side = await Promise.race([
    upstream.asked(),
    new Promise<undefined>((resolve) => setTimeout(resolve, 3000)),
  ]);
  expect(side).toBeDefined();
  side!.finish();
  await title;
  for (const stream of streams) stream.finish();
  await Promise.all(running);
});

describe("a session whose client is being answered", () => {
  const api = "openai-completions";
  const messages = (session: string) => `/api/sessions/${session}/messages`;
  async function answering() {
    const upstream = await startHeldUpstream();
    const door = await startTestDoor(upstream, {
      settings: { agents: { defaults: { model: "chat/model" } } },
    });
    const answer = await request(door, api, [person("Why?")], sent);
    const session = answer.headers.get("x-clew-session")!;
    return { upstream, door, answer, session, stream: await upstream.asked() };
  }

  it("lets a message of the page wait, and its client behind that", async () => {
    const { upstream, door, answer, session, stream } = await answering();
    const { gateway } = door;
    const taken = await gateway.offer({ key: session, content: "From the page" });
    expect(taken.waiting).toMatchObject({ text: "From the page" });
    expect(await gateway.waiting.list(session)).toHaveLength(1);
    await expect.poll(async () => (await gateway.session(session))?.busy).toBe(true);
    const next = ask(door, api, [person("Why?"), heard, person("And then?")], sent);
    expect(upstream.heard).toHaveLength(1);
    stream.finish();
    await answer.text();
    const native = await upstream.asked();
    expect(native.heard.bytes.toString()).toContain("From the page");
    expect(await gateway.waiting.list(session)).toEqual([]);
    native.finish();
    expect(await taken.result).toMatchObject({ outcome: "completed" });
    (await upstream.asked()).finish();
    expect((await next).answer.headers.get("x-clew-session")).toBe(session);
    await gateway.door.settled();
    const told = await gateway.messages(session, 10);
    const words = told!.map((message) => JSON.stringify(message));
    expect(words).toEqual([
      expect.stringContaining("Why?"),
      expect.stringContaining(LAST_WORDS),
      expect.stringContaining("From the page"),
      expect.stringContaining(LAST_WORDS),
      expect.stringContaining("And then?"),
      expect.stringContaining(LAST_WORDS),
    ]);
  });

  it("refuses a message that is not to wait, and gives one back that waits", async () => {
    const { door, session, stream, answer } = await answering();
    const refusing = { text: "Now", whenBusy: "refuse" };
    expect((await door.get(messages(session), post(refusing))).status).toBe(409);
    const taken = await door.gateway.offer({ key: session, content: "Later" });
    taken.result.catch(() => {});
    expect(await door.gateway.waiting.takeBack(session, taken.waiting!.id)).toBe(true);
    stream.finish();
    await answer.text();
  });

  it("ends the reply when a person says so, keeps what arrived, and tells its client", async () => {
    const { door, session, stream, answer } = await answering();
    const aborted = await door.get(`/api/sessions/${session}/abort`, { method: "POST" });
    expect(await aborted.json()).toMatchObject({ aborted: true });
    await stream.closed;
    expect(await answer.text()).toContain("Cancelled by the person.");
    await door.gateway.door.settled();
    const told = await door.gateway.messages(session, 10);
    expect(told).toHaveLength(2);
    expect(told![1]).toMatchObject({ role: "assistant", stopReason: "aborted" });
    const again = await door.get(`/api/sessions/${session}/abort`, { method: "POST" });
    expect(await again.json()).toMatchObject({ aborted: false });
  });
});

const heard: Said = { uid: null, by: "model", text: HELD_WORDS, calls: [] };
