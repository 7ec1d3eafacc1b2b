// Says things twice to sessions of a gateway, as clients do that did not hear the answer.

import { createOpenAIEmulator, type EmulatorAnswer } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../config/door.ts";
import type { Said } from "../door/testing/conversation.ts";
import type { DoorApi } from "../door/wires/door-wire.ts";
import { ask, person, request, results, type Sent } from "../testing/door-client.ts";
import { emulatedModel, post, startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { type HeldReply, heldModel } from "../testing/held-model.ts";
import { obey } from "../testing/obedient-model.ts";

/** Clients made of the same parts count like this, from the first time on. */
const attempt = (count: number) => ({ headers: { "x-stainless-retry-count": String(count) } });

async function startHeld(settings: Record<string, unknown> = {}) {
  const model = await heldModel();
  const gateway = await startTestGateway({ ...model.config, ...settings });
  return { ...gateway, model };
}

async function startObedient(answers: (request: { body: unknown }) => EmulatorAnswer = obey) {
  const server = await createOpenAIEmulator({ answers });
  onTestFinished(() => server.close());
  const gateway = await startTestGateway(emulatedModel(server.baseUrl));
  return { ...gateway, server };
}

/** Asks, and leaves once the model was asked. */
async function leave<Asked>(
  gateway: Pick<TestGateway, "get">,
  api: DoorApi,
  said: readonly Said[],
  { asked, ...sent }: Sent & { asked: () => Promise<Asked> },
): Promise<Asked> {
  const client = new AbortController();
  const asking = request(gateway, api, said, { ...sent, signal: client.signal });
  const left = asking.then((answer) => answer.text());
  const heard = await asked();
  client.abort();
  await expect(left).rejects.toThrow();
  return heard;
}

const shown = async ({ gateway }: Pick<TestGateway, "gateway">) =>
  (await gateway.messages("work", 100))!.map((message) => {
    const { role, content } = message as { role: string; content: unknown };
    const blocks = typeof content === "string" ? [{ text: content }] : (content as object[]);
    return `${role}: ${blocks.map((block) => ("text" in block ? block.text : "call")).join()}`;
  });

/** The turn that runs there has told this of its reply. */
const hasHeard = ({ gateway }: Pick<TestGateway, "gateway">, text: string) =>
  expect
    .poll(() => JSON.stringify(gateway.streams.running("agent:main:work")?.after(0) ?? ""))
    .toContain(text);

const whole = (reply: HeldReply, text: string) => {
  reply.say(text);
  reply.finish();
};

describe.each(DOOR_APIS)("a message by %s that is sent again", (api) => {
  it("while its client is away for a moment is answered by the reply under way", async () => {
    const gateway = await startHeld();
    const sent = { session: "work", ...attempt(0) };
    const asked = () => gateway.model.asked();
    const reply = await leave(gateway, api, [person("pay")], { ...sent, asked });
    const again = ask(gateway, api, [person("pay")], { ...sent, ...attempt(1) });
    whole(reply, "Paid.");
    expect(await again).toMatchObject({ text: "Paid.", error: null });
    expect(await shown(gateway)).toEqual(["user: pay", "assistant: Paid."]);
  });

  it("after its turn ended with nothing takes that turn's place", async () => {
    const gateway = await startObedient();
    const sent = { session: "work" };
    const asked = () => expect.poll(() => gateway.server.requests.length).toBe(1);
    await leave(gateway, api, [person("HANG")], { ...sent, asked });
    await expect.poll(async () => (await gateway.gateway.session("work"))!.busy).toBe(false);
    const client = new AbortController();
    const again = request(gateway, api, [person("HANG")], { ...sent, signal: client.signal });
    await expect.poll(() => gateway.server.requests.length).toBe(2);
    client.abort();
    await expect(again).rejects.toThrow();
    const heard = JSON.stringify(gateway.server.requests[1]!.body);
    expect(heard.split("HANG")).toHaveLength(2);
    expect(heard).not.toContain("nothing to show");
    expect((await ask(gateway, api, [person("hi")], sent)).text).toBe("heard: hi");
    expect(await shown(gateway)).toEqual([
      ...["user: HANG", "assistant: ", "user: hi", "assistant: heard: hi"],
    ]);
  });
});

describe.each(DOOR_APIS)("a message by %s whose answer its client did not hear whole", (api) => {
  const sent = { session: "work" };
  const notBusy = (gateway: TestGateway) =>
    expect.poll(async () => (await gateway.gateway.session("work"))!.busy, { timeout: 5000 });

  it.each([true, false])(
    "stands once where the client left in the middle and says it again, streamed: %s",
    async (streaming) => {
      const gateway = await startHeld();
      const asked = async () => {
        const reply = await gateway.model.asked();
        reply.say("Pai");
        await hasHeard(gateway, "Pai");
        return reply;
      };
      await leave(gateway, api, [person("pay")], { ...sent, streaming, asked });
      const again = ask(gateway, api, [person("pay")], { ...sent, streaming });
      whole(await gateway.model.asked(), "Paid.");
      expect(await again).toMatchObject({ text: "Paid.", error: null });
      expect(await shown(gateway)).toEqual(["user: pay", "assistant: Paid."]);
      // This time it was heard.
      const more = ask(gateway, api, [person("pay")], { ...sent, streaming });
      whole(await gateway.model.asked(), "Paid twice.");
      expect((await more).text).toBe("Paid twice.");
      expect(await shown(gateway)).toHaveLength(4);
    },
  );

  it.each([true, false])(
    "stands once where the model's server broke it off, streamed: %s",
    async (streaming) => {
      const gateway = await startHeld();
      const cut = ask(gateway, api, [person("pay")], { ...sent, streaming }).catch(() => null);
      const reply = await gateway.model.asked();
      reply.say("Pai");
      await hasHeard(gateway, "Pai");
      reply.breakOff();
      await cut;
      await notBusy(gateway).toBe(false);
      const again = ask(gateway, api, [person("pay")], { ...sent, streaming });
      whole(await gateway.model.asked(), "Paid.");
      expect((await again).text).toBe("Paid.");
      expect(await shown(gateway)).toEqual(["user: pay", "assistant: Paid."]);
    },
  );

  it("is told the answer that is stored, and says it anew once it was told", async () => {
    const gateway = await startHeld();
    const asked = () => gateway.model.asked();
    const reply = await leave(gateway, api, [person("pay")], { ...sent, ...attempt(0), asked });
    whole(reply, "Paid.");
    await notBusy(gateway).toBe(false);
    expect((await ask(gateway, api, [person("pay")], { ...sent, ...attempt(0) })).text).toBe(
      "Paid.",
    );
    expect(await shown(gateway)).toEqual(["user: pay", "assistant: Paid."]);
    const more = ask(gateway, api, [person("pay")], { ...sent, ...attempt(0) });
    whole(await gateway.model.asked(), "Paid twice.");
    expect((await more).text).toBe("Paid twice.");
    expect(await shown(gateway)).toHaveLength(4);
  });

  it("is said anew behind what a person stopped, and behind what its client kept of it", async () => {
    const gateway = await startHeld();
    const stopped = ask(gateway, api, [person("more")], sent);
    (await gateway.model.asked()).say("One");
    await hasHeard(gateway, "One");
    await gateway.get("/api/sessions/work/abort", post({}));
    await stopped;
    const asked = async () => {
      const reply = await gateway.model.asked();
      reply.say("Two");
      await hasHeard(gateway, "Two");
    };
    await leave(gateway, api, [person("more")], { ...sent, asked });
    const heard: Said = { uid: null, by: "model", text: "Two", calls: [] };
    const kept = [person("more"), heard, person("more")];
    const again = ask(gateway, api, kept, sent);
    whole(await gateway.model.asked(), "Three.");
    expect((await again).text).toBe("Three.");
    expect(await shown(gateway)).toEqual([
      ...["user: more", "assistant: One", "user: more", "assistant: Two"],
      ...["user: more", "assistant: Three."],
    ]);
  });
});

describe.each(DOOR_APIS)("a reply by %s in a session of Clew's", (api) => {
  const told = async (gateway: Awaited<ReturnType<typeof startHeld>>, streaming: boolean) => {
    const sent = { session: "work", ...attempt(0), streaming };
    const answer = ask(gateway, api, [person("pay")], sent);
    const reply = await gateway.model.asked();
    reply.say("Pai");
    return answer;
  };

  it.each([true, false])(
    "that a person stops is not asked for again, streamed: %s",
    async (streaming) => {
      const gateway = await startHeld();
      const stopped = ask(gateway, api, [person("pay")], {
        ...{ session: "work", ...attempt(0), streaming },
      });
      await gateway.model.asked();
      await gateway.get("/api/sessions/work/abort", post({}));
      const { answer, error } = await stopped;
      expect(answer.status).toBe(400);
      expect(error).toMatchObject({ kind: "invalid_request" });
    },
  );

  it.each([
    ["counts", attempt(1)],
    ["does not count", {}],
  ])(
    "that the gateway's end cut short gives its place to what a client that %s says again",
    async (_, more) => {
      const gateway = await startHeld();
      const cut = told(gateway, false);
      await hasHeard(gateway, "Pai");
      await gateway.gateway.close({ graceMs: 0 });
      expect((await cut).answer.status).toBe(503);
      await gateway.stop();
      const again = await startTestGateway(gateway.model.config, gateway.home);
      const asked = ask(again, api, [person("pay")], { session: "work", ...more });
      whole(await gateway.model.asked(), "Paid.");
      expect((await asked).text).toBe("Paid.");
      expect(await shown(again)).toEqual(["user: pay", "assistant: Paid."]);
    },
  );

  it("that waits for its turn is stopped there", async () => {
    const gateway = await startHeld({ gateway: { limits: { runningTurns: 1 } } });
    const other = ask(gateway, api, [person("first")], { session: "other" });
    const reply = await gateway.model.asked();
    const waits = ask(gateway, api, [person("pay")], { session: "work", ...attempt(0) });
    const busy = async () =>
      ((await (await gateway.get("/api/health")).json()) as { turns: object }).turns;
    await expect.poll(busy).toEqual({ running: 1, waiting: 1 });
    const stopped = await gateway.get("/api/sessions/work/abort", post({}));
    expect(await stopped.json()).toMatchObject({ aborted: true });
    expect((await waits).answer.status).toBe(400);
    whole(reply, "Done.");
    expect((await other).text).toBe("Done.");
    expect(await gateway.gateway.session("work")).toBe(null);
  });
});

describe("what is sent again", () => {
  const api = "openai-completions";
  const sent = { session: "work", tools: ["look"] };

  it("while the first is answered hears the same answer, by stream or not", async () => {
    const gateway = await startHeld();
    const first = ask(gateway, api, [person("pay")], { ...sent, ...attempt(0), streaming: true });
    const reply = await gateway.model.asked();
    reply.say("Pa");
    const others = [true, false].map((streaming) =>
      ask(gateway, api, [person("pay")], { ...sent, ...attempt(1), streaming }),
    );
    whole(reply, "id.");
    expect((await first).text).toBe("Paid.");
    for (const other of others) expect((await other).text).toBe("Paid.");
    expect(await shown(gateway)).toEqual(["user: pay", "assistant: Paid."]);
  });

  it("is said again where nothing tells that it is the same", async () => {
    const gateway = await startObedient();
    for (const _ of [1, 2]) await ask(gateway, api, [person("more")], sent);
    await ask(gateway, api, [person("more")], { ...sent, ...attempt(1) });
    expect(await shown(gateway)).toHaveLength(6);
  });

  it("may be something else: the answer that nobody hears is given up", async () => {
    const gateway = await startHeld();
    const asked = () => gateway.model.asked();
    await leave(gateway, api, [person("pay")], { ...sent, ...attempt(0), asked });
    const other = ask(gateway, api, [person("wait")], { ...sent, ...attempt(0) });
    whole(await gateway.model.asked(), "Waiting.");
    expect((await other).text).toBe("Waiting.");
    expect(await shown(gateway)).toEqual([
      ...["user: pay", "assistant: ", "user: wait", "assistant: Waiting."],
    ]);
  });

  it("is answered from the transcript where the answer is whole and nobody heard it", async () => {
    const gateway = await startHeld();
    const asked = () => gateway.model.asked();
    const reply = await leave(gateway, api, [person("pay")], { ...sent, ...attempt(0), asked });
    whole(reply, "Paid.");
    const busy = async () => (await gateway.gateway.session("work"))!.busy;
    await expect.poll(busy, { timeout: 5000 }).toBe(false);
    for (const streaming of [true, false]) {
      const again = await ask(gateway, api, [person("pay")], {
        ...{ ...sent, ...attempt(1), streaming },
      });
      expect(again).toMatchObject({ text: "Paid.", error: null });
      expect(await shown(gateway)).toEqual(["user: pay", "assistant: Paid."]);
    }
  });

  it("are results of tools: at once, they have one answer", async () => {
    const gateway = await startHeld();
    const called = ask(gateway, api, [person("look")], sent);
    (await gateway.model.asked()).callTool("look", {});
    const [call] = (await called).calls;
    const given = results({ id: call!.id, name: "look", text: "seen" });
    const both = [1, 2].map(() => ask(gateway, api, [given], sent));
    whole(await gateway.model.asked(), "I see.");
    for (const each of both) expect(await each).toMatchObject({ text: "I see.", error: null });
    const later = await ask(gateway, api, [given], sent);
    expect(later.text).toBe("I see.");
    expect(await shown(gateway)).toEqual([
      ...["user: look", "assistant: call", "toolResult: seen", "assistant: I see."],
    ]);
  });

  it("are results of tools: the answer that was given up is asked for again", async () => {
    const gateway = await startHeld();
    const called = ask(gateway, api, [person("look")], sent);
    (await gateway.model.asked()).callTool("look", {});
    const [call] = (await called).calls;
    const given = results({ id: call!.id, name: "look", text: "seen" });
    await leave(gateway, api, [given], { ...sent, asked: () => gateway.model.asked() });
    await expect.poll(async () => (await gateway.gateway.session("work"))!.busy).toBe(false);
    const again = ask(gateway, api, [given], sent);
    whole(await gateway.model.asked(), "I see.");
    expect((await again).text).toBe("I see.");
    expect(await shown(gateway)).toEqual([
      ...["user: look", "assistant: call", "toolResult: seen"],
      "user: [The client asks again for the answer to this, as it went away before it had it.]",
      "assistant: I see.",
    ]);
  });

  it("goes on from the response that it went on from before", async () => {
    const gateway = await startObedient();
    const responses = "openai-responses";
    const first = await ask(gateway, responses, [person("one")], { session: "work" });
    const more = { previous_response_id: first.id };
    const asked = () => expect.poll(() => gateway.server.requests.length).toBe(2);
    await leave(gateway, responses, [person("HANG")], { more, asked });
    await expect.poll(async () => (await gateway.gateway.session("work"))!.busy).toBe(false);
    const client = new AbortController();
    const again = request(gateway, responses, [person("HANG")], { more, signal: client.signal });
    await expect.poll(() => gateway.server.requests.length).toBe(3);
    client.abort();
    await expect(again).rejects.toThrow();
  });
});
