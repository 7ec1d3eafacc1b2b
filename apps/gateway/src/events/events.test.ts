import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { CallPage } from "../inspect/shapes/calls.ts";
import { follow } from "../testing/follower.ts";
import { post, startTestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";

const MAIN = "agent:main:main";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function heldGateway() {
  const model = await heldModel();
  const gateway = await startTestGateway(model.config);
  return { ...gateway, asked: model.asked };
}

describe("who follows the events of a gateway", () => {
  it("has the request before the model has answered anything", async () => {
    const { url, say, asked } = await heldGateway();
    const tab = await follow(url);
    expect(tab.events).toMatchObject([]);
    const turn = say("My cat is called Minka.");
    const reply = await asked();
    const { call, session } = await tab.on("call");
    expect(session).toBe(MAIN);
    expect(call).toMatchObject({
      id: "1.1",
      number: 1,
      model: "emulated/emulated",
      messages: { kept: 0 },
    });
    expect(call.messages.items).toMatchObject([{ role: "user", source: { kind: "entry" } }]);
    const { total, ...bySource } = call.tokens;
    expect(Object.values(bySource).reduce((sum, each) => sum + each, 0)).toBe(total);
    expect(bySource.messages).toBeGreaterThan(0);
    expect(call.budget.promptBudget).toBeGreaterThan(total);
    reply.say("Noted");
    reply.say(".");
    reply.finish();
    const { events } = await turn;
    await tab.on("done");
    expect(tab.events.map(({ type }) => type)).toEqual([
      ...["hello", "started", "session", "accepted", "call", "text"],
      ...(tab.text() === "Noted." && tab.events.filter(({ type }) => type === "text").length === 2
        ? ["text"]
        : []),
      ...["call_end", "message", "done"],
    ]);
    expect(tab.text()).toBe("Noted.");
    const accepted = await tab.on("accepted");
    expect(accepted).toMatchObject({
      entryId: events.find(({ type }) => type === "accepted")!.entryId,
      message: { role: "user", content: "My cat is called Minka." },
    });
    expect(await tab.on("done")).toMatchObject({ outcome: "completed", stopReason: "stop" });
    // The sender's own stream stays as it was.
    expect(events.map(({ type }) => type)).not.toContain("call");
  });

  it("joins a reply that is being written: the text so far, then the rest", async () => {
    const { url, say, asked } = await heldGateway();
    const turn = say("Tell me a story.");
    const reply = await asked();
    const first = await follow(url);
    reply.say("Once upon ");
    await first.on("text");
    const second = await follow(url);
    const { running } = await second.on("hello");
    expect(running).toMatchObject([
      {
        ...{ session: MAIN, kind: "user", text: "Once upon " },
        prompt: { message: { content: "Tell me a story." } },
        call: { number: 1, messages: { kept: 0, items: [{ role: "user" }] } },
      },
    ]);
    reply.say("a time.");
    reply.finish();
    await Promise.all([turn, first.on("done"), second.on("done")]);
    expect([first.text(), second.text()]).toEqual(["Once upon a time.", "Once upon a time."]);
    expect((await (await follow(url)).on("hello")).running).toEqual([]);
  });

  it("goes on behind the event that it names, and misses and doubles nothing", async () => {
    const { url, say, asked } = await heldGateway();
    const watcher = await follow(url);
    let tab = await follow(url);
    const seen: string[] = [];
    const pieces = Array.from({ length: 60 }, (_, index) => `${index} `);
    const turn = say("Count.");
    const reply = await asked();
    for (const [index, piece] of pieces.entries()) {
      reply.say(piece);
      if (index % 10 !== 5) continue;
      await pause(30);
      seen.push(...tab.events.map(({ id }) => id));
      const since = tab.lastId();
      await tab.leave();
      await pause(index);
      tab =
        index % 20 === 5
          ? await follow(url, { query: `?since=${since}` })
          : await follow(url, { query: "?since=older.1", lastEventId: since });
    }
    reply.finish();
    await turn;
    await Promise.all([tab.on("done"), watcher.on("done")]);
    seen.push(...tab.events.map(({ id }) => id));
    const all = watcher.events.map(({ id }) => id);
    expect(seen.slice(seen[0] === all[0] ? 0 : 1)).toEqual(all.slice(seen[0] === all[0] ? 0 : 1));
    expect(watcher.text()).toBe(pieces.join(""));
  });

  it("is told to read anew when what it names is not known", async () => {
    const { url, say, asked } = await heldGateway();
    const turn = say("hi");
    const reply = await asked();
    for (const since of ["nonsense", "ffff.3", "12"]) {
      const tab = await follow(url, { query: `?since=${since}` });
      const { why, running } = await tab.on("reset");
      expect([why, running.length]).toEqual([
        "The gateway was started anew, or never told of this event.",
        1,
      ]);
      await tab.leave();
    }
    reply.finish();
    await turn;
  });

  it("of one session is told of no other one", async () => {
    const { config } = await obedientModel();
    const { url, say, get } = await startTestGateway(config);
    const all = await follow(url);
    const one = await follow(url, { query: "?session=work" });
    await say("private", { session: "home" });
    await say("shared", { session: "work" });
    await one.on("done");
    expect(JSON.stringify(one.events)).not.toContain("private");
    expect(
      new Set(one.events.flatMap((event) => ("session" in event ? [event.session] : []))),
    ).toEqual(new Set(["agent:main:work"]));
    expect(all.events.filter(({ type }) => type === "done")).toHaveLength(2);
    expect((await get("/api/events?session=agent:x")).status).toBe(400);
  });

  it("sees tools, further calls as what is new in them, and commands", async () => {
    const { config } = await obedientModel();
    const { url, say } = await startTestGateway(config);
    const tab = await follow(url);
    await say(run("session_search", { query: "x" }));
    const second = await tab.on("call", ({ call }) => call.number === 2);
    const first = await tab.on("call");
    expect(second.call.messages.kept).toBe(first.call.messages.items!.length);
    expect(second.call.messages.items!.map(({ role }) => role)).toEqual([
      "assistant",
      "toolResult",
    ]);
    expect(second.call.tokens.total).toBeGreaterThan(first.call.tokens.total);
    expect((await tab.on("tool_start")).call.name).toBe("session_search");
    expect(await tab.on("tool_end")).toMatchObject({ name: "session_search" });
    await say("/new");
    expect(await tab.on("command")).toMatchObject({ command: "new", ok: true });
    expect(await tab.on("session", ({ change }) => change === "renewed")).toMatchObject({
      session: MAIN,
    });
    await say("FAIL");
    const failed = await tab.on("call_end", ({ call }) => call.error !== null);
    expect(failed.call.stopReason).toBeNull();
    expect(await tab.on("done", ({ outcome }) => outcome === "failed")).toMatchObject({
      error: { kind: "invalid_request" },
    });
  });

  it("is told calls by the names that the inspector will give them, also after a restart", async () => {
    const { config } = await obedientModel();
    const first = await startTestGateway(config);
    await first.say(run("session_search", { query: "x" }));
    await first.stop();
    const { url, say, get } = await startTestGateway(config, first.home);
    const tab = await follow(url);
    await say(run("session_search", { query: "y" }));
    await say("thank you");
    const told = tab.events.flatMap((event) => (event.type === "call" ? [event.call] : []));
    const { calls } = (await (await get("/api/sessions/main/calls")).json()) as CallPage;
    expect(calls.map(({ id }) => id)).toEqual(["1.1", "1.2", "2.1", "2.2", "3.1"]);
    expect(told.map(({ id, requestHash }) => [id, requestHash])).toEqual(
      calls.slice(2).map(({ id, requestHash }) => [id, requestHash]),
    );
  });

  it("is told of a fork as soon as it is there", async () => {
    const { config } = await obedientModel();
    const { url, say } = await startTestGateway(config);
    const tab = await follow(url);
    await say("The key hangs behind the barometer.");
    await say(run("sessions_spawn", { task: "where?", contextMode: "fork", wait: true }));
    const isOfChild = (event: { session: string | null }) => event.session !== MAIN;
    const created = await tab.on("session", isOfChild);
    expect(created).toMatchObject({ change: "created" });
    const started = await tab.on("started", isOfChild);
    expect(started.session).toBe(created.session);
    expect(tab.events.indexOf(created)).toBeLessThan(tab.events.indexOf(started));
  });

  it("hears that the gateway stops, and its stream ends", async () => {
    const { url, stop } = await startTestGateway();
    const tab = await follow(url);
    await tab.on("hello");
    await stop();
    await tab.ended;
    expect(tab.events.at(-1)).toMatchObject({ type: "stopping" });
  });

  it("are a hundred, and each has all of it", async () => {
    const { url, say, asked, gateway } = await heldGateway();
    const tabs = await Promise.all(Array.from({ length: 100 }, () => follow(url)));
    expect(gateway.events.followers()).toBe(100);
    const turn = say("hi");
    const reply = await asked();
    for (let piece = 0; piece < 200; piece++) reply.say(`${piece} `);
    reply.finish();
    await turn;
    await Promise.all(tabs.map((tab) => tab.on("done")));
    const [first, ...others] = tabs.map(({ events }) =>
      events.filter(({ type }) => type !== "hello"),
    );
    for (const events of others) expect(events).toEqual(first);
    // Pieces that come together are told together.
    expect(first!.filter(({ type }) => type === "text").length).toBeLessThan(100);
    await Promise.all(tabs.map((tab) => tab.leave()));
    while (gateway.events.followers() > 0) await pause(10);
  });

  it("that reads nothing costs the others nothing", async () => {
    const { url, say, asked, gateway } = await heldGateway();
    const { port } = new URL(url);
    const stuck = connect(Number(port), "127.0.0.1");
    stuck.pause();
    stuck.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    const tab = await follow(url);
    while (gateway.events.followers() < 2) await pause(10);
    const turn = say("hi");
    const reply = await asked();
    const long = "x".repeat(100_000);
    for (let piece = 0; piece < 30; piece++) reply.say(long);
    reply.finish();
    await turn;
    await tab.on("done");
    expect(tab.text()).toHaveLength(3_000_000);
    stuck.destroy();
    while (gateway.events.followers() > 1) await pause(10);
  });
});

describe("a follower's request", () => {
  it("is answered with an event stream that nothing may keep", async () => {
    const { get, url } = await startTestGateway();
    const leaving = new AbortController();
    const { headers, status } = await get("/api/events", { signal: leaving.signal });
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      ...[200, "text/event-stream; charset=utf-8", "no-store"],
    ]);
    leaving.abort();
    const foreign = await fetch(`${url}/api/events`, {
      headers: { origin: "http://evil.example" },
    });
    expect(foreign.status).toBe(403);
    expect((await fetch(`${url}/api/sessions/main/messages`, post({}))).status).toBe(400);
  });
});
