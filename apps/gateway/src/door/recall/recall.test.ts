import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import {
  calling,
  FACT,
  lastReport,
  namesIn,
  OURS,
  Played,
  recall,
  startCut,
  startScript,
} from "../../testing/recall-world.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { readReply } from "../testing/read-reply.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { wireAt } from "../wires/find-wire.ts";
import { NO_ROOM } from "./plan-recall.ts";

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

  it("has an answer to each of many calls at once, with the best that was found", async () => {
    const { upstream, client } = await startCut(api);
    const reply = client.reply();
    upstream.next.push(calling(...Array.from({ length: 10 }, () => "session_search")), reply);
    await client.send(reply);
    const told = JSON.stringify(upstream.bodies.at(-1));
    expect(told.split(FACT).length - 1).toBeGreaterThanOrEqual(10);
    expect(told).not.toContain(NO_ROOM);
  });

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
