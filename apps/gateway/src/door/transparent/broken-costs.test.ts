// Breaks replies off in every way, and asks what they cost.
import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { clew } from "../../testing/command.ts";
import { ask, person, request } from "../../testing/door-client.ts";
import type { TestGateway } from "../../testing/gateway.ts";
import { asKilled } from "../../testing/killed-home.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { LAST_WORDS, startHeldUpstream } from "../testing/held-upstream.ts";

const sent = { streaming: true, model: "model" };
const QUESTION = `Why? ${"The parser is slow. ".repeat(200)}`;

async function spent({ gateway }: TestGateway, session: string) {
  await gateway.door.settled();
  const { total } = await gateway.usage(session);
  return { calls: total.modelCalls, dollars: total.cost?.total, estimated: total.estimated };
}

describe.each(DOOR_APIS)("a call by %s that breaks off", (api) => {
  // By Messages the prompt is counted at the beginning.
  const least = api === "anthropic-messages" ? 0.0001 : 0.0005;
  it.each(["client", "server", "person"])(
    "by its %s is estimated, and caps see it",
    async (who) => {
      const upstream = await startHeldUpstream();
      const door = await startTestDoor(upstream, {
        settings: { gateway: { costCaps: { dayDollars: 0.0001 } } },
      });
      const leaving = new AbortController();
      const answer = await request(door, api, [person(QUESTION)], {
        ...sent,
        signal: leaving.signal,
      });
      const session = answer.headers.get("x-clew-session")!;
      const stream = await upstream.asked();
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes(LAST_WORDS)) text += (await reader.read()).value ?? "";
      if (who === "client") leaving.abort();
      else if (who === "server") stream.breakOff();
      else door.gateway.cancel(session);
      await stream.closed;
      await expect.poll(async () => (await spent(door, session)).calls).toBe(1);
      const { dollars } = await spent(door, session);
      expect(dollars).toBeGreaterThan(least);
      const { calls } = (await (await door.gateway.inspect(session)).calls({ limit: 1 }))!;
      expect(calls[0]!.cost?.total ?? calls[0]!.cost).toBeGreaterThan(least);
      const next = await ask(door, api, [person("And now?")], sent);
      expect(next.answer.status).toBe(402);
      const raised = Number(/dayDollars ([\d.]+)"/.exec(next.body.replaceAll("\\", ""))![1]);
      expect(raised).toBeGreaterThan(dollars!);
    },
  );
});

it.each(DOOR_APIS.flatMap((api) => [true, false].map((streaming) => [api, streaming] as const)))(
  "a call by %s in which the gateway is killed is told as one that began, streamed: %s",
  async (api, streaming) => {
    const upstream = await startHeldUpstream();
    const door = await startTestDoor(upstream);
    const told = ask(door, api, [person(QUESTION)], { ...sent, streaming });
    const stream = await upstream.asked();
    const killed = await asKilled(door.home);
    stream.finish();
    await told;
    const usage = await clew(killed, ["usage", "--json"]);
    expect(JSON.parse(usage.output)).toMatchObject({ total: { modelCalls: 0, unended: 1 } });
    await door.gateway.door.settled();
    const { total } = await door.gateway.usage();
    expect(total).toMatchObject({ modelCalls: 1, unended: 0 });
  },
);

it("a call that reached no server costs nothing", async () => {
  const upstream = await startHeldUpstream();
  const door = await startTestDoor(upstream);
  await upstream.close();
  const { answer } = await ask(door, "openai-completions", [person(QUESTION)], sent);
  expect(answer.status).toBe(502);
  const session = answer.headers.get("x-clew-session")!;
  expect(await spent(door, session)).toMatchObject({ dollars: 0 });
});
