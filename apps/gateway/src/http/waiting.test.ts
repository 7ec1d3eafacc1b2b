import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel, parseStream, post, startTestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import { temporaryHome } from "../testing/home.ts";

const SOON = { timeout: 60_000 };

type Sent = Record<string, unknown>;

async function gatewayWith(config: Record<string, unknown>, home?: string) {
  const gateway = await startTestGateway(config, home);
  const send = (body: Sent, session = "main") =>
    gateway.get(`/api/sessions/${session}/messages`, post(body));
  const json = async (path: string, init?: RequestInit) =>
    (await gateway.get(path, init)).json() as Promise<Record<string, unknown>>;
  const waiting = async (session = "main") =>
    (await json(`/api/sessions/${session}/waiting`)).waiting as { id: string; text: string }[];
  const said = async (session = "main") => {
    const { messages } = await json(`/api/sessions/${session}/messages`);
    return (messages as { role: string; content: unknown }[]).map(({ role, content }) =>
      typeof content === "string" ? `${role}: ${content}` : role,
    );
  };
  const read = async (response: Promise<Response>) => parseStream(await (await response).text());
  const abort = () => json("/api/sessions/main/abort", { method: "POST" });
  return { ...gateway, send, json, waiting, said, read, abort };
}

/** The events of a stream until one of a type has come; the client stays. */
async function readUntil(response: Response, type: string): Promise<string> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(`event: ${type}\n`)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

describe("a message that comes while a reply is being written", () => {
  it("is stored before it is acknowledged, told to all, and has its turn afterwards", async () => {
    const model = await heldModel();
    const { send, waiting, said, read, home, gateway } = await gatewayWith(model.config);
    const first = read(send({ text: "one" }));
    const reply = await model.asked();
    const second = await send({ text: "two" });
    const told = await readUntil(second, "waiting");
    expect(parseStream(told).events).toMatchObject([
      { type: "queued" },
      { type: "waiting", message: { text: "two", whenBusy: "follow" } },
    ]);
    expect(await readdir(join(home, "agents/main/waiting"))).toHaveLength(1);
    expect(await waiting()).toMatchObject([{ text: "two" }]);
    expect(gateway.busy()).toEqual({ running: 1, waiting: 1 });
    reply.finish();
    await first;
    (await model.asked()).finish();
    await expect
      .poll(() => said(), SOON)
      .toEqual([...["user: one", "assistant", "user: two", "assistant"]]);
    expect(await waiting()).toEqual([]);
    await expect.poll(() => readdir(join(home, "agents/main/waiting")), SOON).toEqual([]);
  });

  it("is taken back by its id, or all are, and says so to whoever sent it", async () => {
    const model = await heldModel();
    const { send, waiting, json, read, get } = await gatewayWith(model.config);
    const first = read(send({ text: "one" }));
    const reply = await model.asked();
    const sent = [];
    for (const text of ["two", "three", "four"]) sent.push(read(send({ text })));
    await expect.poll(async () => (await waiting()).length, SOON).toBe(3);
    const { id } = (await waiting()).find(({ text }) => text === "three")!;
    const path = `/api/sessions/main/waiting/${id}`;
    expect(await json(path, { method: "DELETE" })).toEqual({ takenBack: 1 });
    expect((await get(path, { method: "DELETE" })).status).toBe(404);
    const message = "The message was taken back before it had its turn.";
    expect((await sent[1]!).events.at(-1)).toMatchObject({ error: { code: "ABORTED", message } });
    expect(await json("/api/sessions/main/waiting", { method: "DELETE" })).toEqual({
      takenBack: 2,
    });
    reply.finish();
    expect((await first).events.at(-1)).toMatchObject({ type: "done" });
    expect(await waiting()).toEqual([]);
  });

  it("goes on waiting when the reply is stopped, which says how many do", async () => {
    const model = await heldModel();
    const { send, read, abort, waiting } = await gatewayWith(model.config);
    const first = read(send({ text: "one" }));
    await model.asked();
    const second = read(send({ text: "two" }));
    await expect.poll(async () => (await waiting()).length, SOON).toBe(1);
    expect(await abort()).toEqual({ aborted: true, waiting: 1 });
    expect((await first).events.at(-1)).toMatchObject({ outcome: "aborted" });
    (await model.asked()).finish();
    expect((await second).events.at(-1)).toMatchObject({ outcome: "completed" });
  });

  it("is refused where it, or the settings, say so", async () => {
    const model = await heldModel();
    const { send, read } = await gatewayWith({ ...model.config, session: { whenBusy: "refuse" } });
    const first = read(send({ text: "one" }));
    const reply = await model.asked();
    const refused = await send({ text: "two" });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ error: { code: "SESSION_BUSY" } });
    const second = read(send({ text: "three", whenBusy: "follow" }));
    reply.finish();
    await first;
    (await model.asked()).finish();
    expect((await second).events.at(-1)).toMatchObject({ outcome: "completed" });
  });

  it("is refused for a while where too many wait, in the session or in the gateway", async () => {
    const model = await heldModel();
    const limits = { runningTurns: 1, waitingTurns: 2, waitingMessages: 1 };
    const { send, read, waiting } = await gatewayWith({ ...model.config, gateway: { limits } });
    const first = read(send({ text: "one" }));
    const reply = await model.asked();
    const second = read(send({ text: "two" }));
    await expect.poll(async () => (await waiting()).length, SOON).toBe(1);
    const full = await send({ text: "three" });
    expect([full.status, Number(full.headers.get("retry-after"))]).toEqual([
      429,
      expect.any(Number),
    ]);
    expect(Number(full.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await full.json()).toMatchObject({
      error: { code: "BACKLOG_FULL", message: expect.stringContaining("waitingMessages") },
    });
    // Another session's turn waits for a place, and is stored meanwhile.
    const other = read(send({ text: "elsewhere" }, "other"));
    await expect.poll(async () => (await waiting("other")).length, SOON).toBe(1);
    const over = await send({ text: "more" }, "third");
    expect(over.status).toBe(429);
    expect(await over.json()).toMatchObject({
      error: { message: expect.stringContaining("waitingTurns") },
    });
    for (const held of [Promise.resolve(reply), model.asked(), model.asked()])
      (await held).finish();
    for (const { events } of await Promise.all([first, second, other]))
      expect(events.at(-1)).toMatchObject({ outcome: "completed" });
  });

  it("steers: it stands between a tool's result and the next call, and its sender hears of the turn's end", async () => {
    const server = await createOpenAIEmulator({
      answers: (_, index) =>
        index === 0
          ? { toolCalls: [{ name: "session_search", arguments: { query: "x" } }], pauseMs: 1500 }
          : { text: "Turned." },
    });
    onTestFinished(() => server.close());
    const { send, read, said, waiting } = await gatewayWith(emulatedModel(server.baseUrl));
    const first = read(send({ text: "go" }));
    await expect.poll(() => server.requests.length, SOON).toBe(1);
    const steering = await read(send({ text: "rather left", whenBusy: "steer" }));
    expect(steering.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["queued", "waiting", "accepted", "done"]),
    );
    expect(steering.events.at(-1)).toMatchObject({ outcome: "completed" });
    expect((await first).events.at(-1)).toMatchObject({ outcome: "completed" });
    expect(await said()).toEqual([
      ...["user: go", "assistant", "toolResult", "user: rather left", "assistant"],
    ]);
    expect(server.requests).toHaveLength(2);
    expect(await waiting()).toEqual([]);
  });

  it("has a turn of its own where it steers and no tool runs any more", async () => {
    const model = await heldModel();
    const { send, read, waiting, said } = await gatewayWith(model.config);
    const first = read(send({ text: "one" }));
    const reply = await model.asked();
    const second = read(send({ text: "two", whenBusy: "steer" }));
    await expect.poll(async () => (await waiting()).length, SOON).toBe(1);
    reply.finish();
    await first;
    (await model.asked()).finish();
    await second;
    expect(await said()).toEqual(["user: one", "assistant", "user: two", "assistant"]);
  });

  it("is said once, however often it is sent under one name", async () => {
    const model = await heldModel();
    const { send, read, said, waiting } = await gatewayWith(model.config);
    const first = read(send({ text: "one", idempotencyKey: "k1" }));
    const reply = await model.asked();
    const again = read(send({ text: "one", idempotencyKey: "k1" }));
    const second = read(send({ text: "two", idempotencyKey: "k2" }));
    const twice = read(send({ text: "two", idempotencyKey: "k2" }));
    await expect.poll(async () => (await waiting()).length, SOON).toBe(1);
    reply.finish();
    for (const { events } of [await first, await again])
      expect(events.at(-1)).toMatchObject({ outcome: "completed" });
    (await model.asked()).finish();
    for (const { events } of [await second, await twice])
      expect(events.at(-1)).toMatchObject({ outcome: "completed" });
    const late = await read(send({ text: "two", idempotencyKey: "k2" }));
    expect(late.events.map(({ type }) => type)).toEqual([
      ...["queued", "accepted", "message", "notice", "done"],
    ]);
    expect(await said()).toEqual(["user: one", "assistant", "user: two", "assistant"]);
  });

  it("leaves with its sender where that asked for it, and has its turn otherwise", async () => {
    const model = await heldModel();
    const { url, send, read, waiting, said } = await gatewayWith(model.config);
    const first = read(send({ text: "one" }));
    const reply = await model.asked();
    for (const [text, onDisconnect] of [
      ["leaves", "abort"],
      ["stays", "continue"],
    ]) {
      const gone = new AbortController();
      const init = { ...post({ text, onDisconnect }), signal: gone.signal };
      await readUntil(await fetch(`${url}/api/sessions/main/messages`, init), "waiting");
      gone.abort();
    }
    await expect
      .poll(async () => (await waiting()).map(({ text }) => text), SOON)
      .toEqual(["stays"]);
    reply.finish();
    await first;
    (await model.asked()).finish();
    await expect
      .poll(() => said(), SOON)
      .toEqual([...["user: one", "assistant", "user: stays", "assistant"]]);
  });

  it("is kept when the gateway ends, and has its turn once when it has begun again", async () => {
    const model = await heldModel();
    const home = await temporaryHome();
    const before = await gatewayWith(model.config, home);
    before.read(before.send({ text: "one" })).catch(() => {});
    await model.asked();
    const second = before.read(before.send({ text: "two" }));
    await expect.poll(async () => (await before.waiting()).length, SOON).toBe(1);
    await before.gateway.close();
    expect((await second).events.at(-1)).toMatchObject({
      error: { code: "GATEWAY_STOPPING", message: expect.stringContaining("is kept") },
    });
    await before.stop();
    for (let starts = 0; starts < 2; starts++) {
      const after = await gatewayWith(model.config, home);
      expect(await after.gateway.waiting.takeIn()).toBe(starts === 0 ? 1 : 0);
      await after.gateway.waiting.resume();
      if (starts === 0) (await model.asked()).finish();
      const users = async () => (await after.said()).filter((text) => text.startsWith("user"));
      await expect.poll(users, SOON).toEqual(["user: one", "user: two"]);
      await expect.poll(() => after.gateway.busy().running, SOON).toBe(0);
      await after.stop();
    }
  });

  it("is not lost to messages that come while a gateway starts", async () => {
    const model = await heldModel();
    const home = await temporaryHome();
    const before = await gatewayWith(model.config, home);
    before.read(before.send({ text: "one" })).catch(() => {});
    await model.asked();
    const second = before.read(before.send({ text: "two" }));
    await expect.poll(async () => (await before.waiting()).length, SOON).toBe(1);
    await before.gateway.close();
    await second;
    await before.stop();
    const after = await gatewayWith(model.config, home);
    await after.gateway.waiting.takeIn();
    const told = ["three", "four"].map((text) => after.read(after.send({ text })));
    for (const _ of ["two", "three", "four"]) (await model.asked()).finish();
    await Promise.all(told);
    const users = (await after.said()).filter((text) => text.startsWith("user"));
    expect(users.toSorted()).toEqual(["user: four", "user: one", "user: three", "user: two"]);
    await after.stop();
  });
});
