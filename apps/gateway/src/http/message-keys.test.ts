// Sends other messages under the keys of earlier ones.
import { describe, expect, it } from "vitest";
import { parseStream, post, startTestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";

const SOON = { timeout: 60_000 };

async function gatewayWith(config: Record<string, unknown>, home?: string) {
  const gateway = await startTestGateway(config, home);
  const send = async (idempotencyKey: string, body: Record<string, unknown>) => {
    const path = "/api/sessions/main/messages";
    const answer = await gateway.get(path, post({ ...body, idempotencyKey }));
    const text = await answer.text();
    if (answer.status !== 200) return { status: answer.status, ...JSON.parse(text) };
    return { status: 200, last: parseStream(text).events.at(-1) };
  };
  const json = async (path: string) => (await gateway.get(`/api/sessions/main${path}`)).json();
  const said = async () => {
    const { messages } = (await json("/messages")) as {
      messages: { role: string; content: unknown }[];
    };
    return messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
  };
  const waiting = async () => ((await json("/waiting")) as { waiting: unknown[] }).waiting.length;
  return { ...gateway, send, said, waiting };
}

const refused = {
  status: 422,
  error: {
    code: "IDEMPOTENCY_KEY_REUSED",
    message: expect.stringMatching(/^A message that says something else .* a key of its own\.$/),
  },
};

describe("a key under which something was said", () => {
  it("is refused for anything else, while that runs, waits, and is over", async () => {
    const model = await heldModel();
    const { send, said, waiting } = await gatewayWith(model.config);
    const first = send("k1", { text: "one" });
    const reply = await model.asked();
    expect(await send("k1", { text: "uno" })).toEqual(refused);
    const second = send("k2", { text: "two" });
    await expect.poll(waiting, SOON).toBe(1);
    expect(await send("k2", { text: "due" })).toEqual(refused);
    reply.finish();
    expect((await first).last).toMatchObject({ outcome: "completed" });
    (await model.asked()).finish();
    expect((await second).last).toMatchObject({ outcome: "completed" });
    expect(await send("k1", { text: "uno" })).toEqual(refused);
    const blocks = [{ type: "text", text: "one" }];
    for (const same of [{ text: "one" }, { content: blocks }])
      expect((await send("k1", same)).last).toMatchObject({ outcome: "completed" });
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    expect(await send("k1", { content: [...blocks, image] })).toEqual(refused);
    expect(await said()).toEqual(["one", "two"]);
  });

  it("is refused where the session was not open yet, too, by the end of the stream", async () => {
    const model = await heldModel();
    const before = await gatewayWith(model.config);
    const first = before.send("k1", { text: "one" });
    (await model.asked()).finish();
    await first;
    await before.stop();
    const { send, said, waiting } = await gatewayWith(model.config, before.home);
    const { last } = await send("k1", { text: "uno" });
    expect(last).toMatchObject({ type: "error", error: refused.error });
    expect([await said(), await waiting()]).toEqual([["one"], 0]);
    expect((await send("k1", { text: "one" })).last).toMatchObject({ outcome: "completed" });
  });
});
