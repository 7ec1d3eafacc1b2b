import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { post, startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import { sendRaw } from "./raw-http.ts";

const SOON = { timeout: 120_000 };

const portOf = ({ url }: TestGateway) => Number(new URL(url).port);

/** Connections that stay open, each after some bytes. */
async function openMany(port: number, count: number, bytes: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ host: "127.0.0.1", port }));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on("error", () => resolve());
          socket.on("connect", () => socket.write(bytes, () => resolve()));
        }),
    ),
  );
  return sockets;
}

const isGone = (socket: Socket) => socket.destroyed || socket.readableEnded || socket.closed;

describe("a gateway answers all others", () => {
  it.each([
    ["500 connections say nothing", 500, ""],
    ["300 requests are never finished", 300, "GET /api/sessions HTTP/1.1\r\nHost: x"],
    [
      ...(["200 bodies never come", 200] as const),
      "POST /api/sessions/main/messages HTTP/1.1\r\nHost: PLACE\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    ],
  ])("while %s", async (_, count, bytes) => {
    const gateway = await startTestGateway();
    await openMany(portOf(gateway), count, bytes.replace("PLACE", `127.0.0.1:${portOf(gateway)}`));
    expect((await gateway.get("/api/health")).status).toBe(200);
    expect((await gateway.say("My cat is called Minka.")).text).toBe("Noted.");
  });

  it("while clients follow everything and read nothing of it", async () => {
    const gateway = await startTestGateway();
    const host = `127.0.0.1:${portOf(gateway)}`;
    const sockets = await openMany(
      ...([portOf(gateway), 30, `GET /api/events HTTP/1.1\r\nHost: ${host}\r\n\r\n`] as const),
    );
    for (const socket of sockets) socket.pause();
    await expect.poll(() => gateway.gateway.events.followers(), SOON).toBe(30);
    for (let count = 0; count < 5; count++)
      expect((await gateway.say(`Number ${count}. ${"a".repeat(20_000)}`)).events.length).toBe(5);
  });

  it("while clients leave in the middle of what they are told", async () => {
    const gateway = await startTestGateway();
    const { url } = gateway;
    for (let count = 0; count < 40; count++) {
      const gone = new AbortController();
      const init = { ...post({ text: `hi ${count}` }), signal: gone.signal };
      const response = await fetch(`${url}/api/sessions/s${count % 8}/messages`, init);
      expect(response.status).toBe(200);
      gone.abort();
    }
    await expect.poll(() => gateway.gateway.busy().running, SOON).toBe(0);
    const { sessions } = (await (await gateway.get("/api/sessions")).json()) as {
      sessions: { key: string }[];
    };
    const told = await Promise.all(
      sessions.map(async ({ key }) => {
        const answer = await gateway.get(`/api/sessions/${encodeURIComponent(key)}/messages`);
        return ((await answer.json()) as { messages: unknown[] }).messages.length;
      }),
    );
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(80);
  });

  it("while replies are stopped faster than they are written", async () => {
    const gateway = await startTestGateway();
    const turns = Array.from({ length: 20 }, (_, at) =>
      gateway.say(`hi ${at}`, { session: "one" }),
    );
    for (let count = 0; count < 50; count++)
      expect((await gateway.get("/api/sessions/one/abort", { method: "POST" })).status).toBe(200);
    for (const { events } of await Promise.all(turns))
      expect(["done", "error"]).toContain(events.at(-1)!.type);
    expect((await gateway.say("My cat is called Minka.", { session: "one" })).text).toBe("Noted.");
  });

  it("while hundreds guess at its token", async () => {
    const token = "the-own-token-of-the-home";
    const gateway = await startTestGateway({ gateway: { auth: { token } } });
    const guess = (at: number) =>
      gateway.get("/api/sessions", { headers: { authorization: `Bearer guess-${at}` } });
    const answers = await Promise.all(Array.from({ length: 300 }, (_, at) => guess(at)));
    const counts = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    // A machine that is very busy may take more than the minute that is counted.
    expect(counts(401)).toBeGreaterThanOrEqual(10);
    expect([counts(401) + counts(429), counts(429) > 0]).toEqual([300, true]);
    const right = await gateway.get("/api/sessions", {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(right.status).toBe(200);
  });
});

describe("of many messages at once each is answered and stored once", () => {
  it.each([
    ["200 in 25 sessions", 200, 25],
    ["60 in one", 60, 1],
  ])("%s", async (_, count, places) => {
    const gateway = await startTestGateway();
    const turns = Array.from({ length: count }, (__, at) =>
      gateway.say(`This is number ${at}.`, { session: `s${at % places}` }),
    );
    const ends = (await Promise.all(turns)).map(({ events }) => events.at(-1));
    expect(ends.filter((end) => end?.outcome === "completed")).toHaveLength(count);
    const said = new Map<string, number>();
    for (let place = 0; place < places; place++) {
      const answer = await gateway.get(`/api/sessions/s${place}/messages?limit=1000`);
      for (const found of (await answer.text()).matchAll(/This is number \d+\./g))
        said.set(found[0], (said.get(found[0]) ?? 0) + 1);
    }
    for (let at = 0; at < count; at++) expect(said.has(`This is number ${at}.`)).toBe(true);
  });
});

describe("a client", () => {
  it("that is too slow with its headers or its body is cut off", async () => {
    const gateway = await startTestGateway(
      {},
      undefined,
      {},
      {
        patience: { headersTimeout: 200, requestTimeout: 400 },
      },
    );
    const host = `127.0.0.1:${portOf(gateway)}`;
    const slow = await openMany(
      ...([
        portOf(gateway),
        20,
        `POST /api/sessions/main/messages HTTP/1.1\r\nHost: ${host}\r\n`,
      ] as const),
    );
    const half = await openMany(
      portOf(gateway),
      20,
      `POST /api/sessions/main/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    for (const socket of [...slow, ...half]) socket.resume();
    await expect.poll(() => [...slow, ...half].every(isGone), SOON).toBe(true);
  });

  it("that never reads a reply is dropped, and the reply is finished and stored", async () => {
    const model = await heldModel();
    const gateway = await startTestGateway(model.config);
    const body = JSON.stringify({ text: "a long one" });
    const host = `127.0.0.1:${portOf(gateway)}`;
    const [socket] = await openMany(
      portOf(gateway),
      1,
      `POST /api/sessions/main/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket!.pause();
    const reply = await model.asked();
    for (let count = 0; count < 60; count++) {
      reply.say("a".repeat(65_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    reply.finish();
    await expect.poll(() => gateway.gateway.busy().running, SOON).toBe(0);
    const stored = await gateway.get("/api/sessions/main/messages");
    expect((await stored.text()).length).toBeGreaterThan(3_500_000);
  });
});

it("an answer to a client that asked twice on one connection is one for each", async () => {
  const gateway = await startTestGateway();
  const host = `127.0.0.1:${portOf(gateway)}`;
  const line = `GET /api/sessions HTTP/1.1\r\nHost: ${host}\r\n`;
  const { statuses } = await sendRaw(
    portOf(gateway),
    `${line}\r\n${line}Connection: close\r\n\r\n`,
  );
  expect(statuses).toEqual([200, 200]);
});
