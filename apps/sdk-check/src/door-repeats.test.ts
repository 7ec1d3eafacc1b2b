// The official clients, which give up waiting and try again, in a session of a gateway.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { startTestGateway } from "../../gateway/src/testing/gateway.ts";
import { heldModel } from "../../gateway/src/testing/held-model.ts";

const headers = { "x-clew-session": "work" };
const WAIT_MS = 400;

/** Says "pay" and gives up after a moment, as often as it likes; `fetch` sees each try. */
type Pay = (url: string, fetch: typeof globalThis.fetch) => Promise<string | null | undefined>;

const PAYS: Readonly<Record<string, Pay>> = {
  "openai, Chat Completions": async (url, fetch) => {
    const client = new OpenAI({ ...ours(fetch), baseURL: `${url}/v1` });
    const messages = [{ role: "user" as const, content: "pay" }];
    const { choices } = await client.chat.completions.create({ model: "clew", messages });
    return choices[0]!.message.content;
  },
  "openai, Responses": async (url, fetch) => {
    const client = new OpenAI({ ...ours(fetch), baseURL: `${url}/v1` });
    return (await client.responses.create({ model: "clew", input: "pay" })).output_text;
  },
  "@anthropic-ai/sdk": async (url, fetch) => {
    const client = new Anthropic({ ...ours(fetch), baseURL: url });
    const messages = [{ role: "user" as const, content: "pay" }];
    const said = await client.messages.create({ model: "clew", max_tokens: 99, messages });
    return said.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  },
};

const ours = (fetch: typeof globalThis.fetch) => ({
  ...{ apiKey: "key", timeout: WAIT_MS, defaultHeaders: headers, fetch },
});

async function start() {
  const model = await heldModel();
  const { url, gateway } = await startTestGateway(model.config);
  const said = async () => (await gateway.messages("work", 10))!.map((message) => ({ ...message }));
  return { model, url, said };
}

const PAID = [
  { role: "user", content: "pay" },
  { role: "assistant", content: [{ type: "text", text: "Paid." }] },
];

describe("an official client that does not wait", () => {
  it.each(Object.keys(PAYS))("is heard once when it tries again (%s)", async (name) => {
    const { model, url, said } = await start();
    const again = Promise.withResolvers<void>();
    let tries = 0;
    const fetch: typeof globalThis.fetch = (...request) => {
      if (++tries === 2) again.resolve();
      return globalThis.fetch(...request);
    };
    const paid = PAYS[name]!(url, fetch);
    const reply = await model.asked();
    await again.promise;
    reply.say("Paid.");
    reply.finish();
    expect(await paid).toBe("Paid.");
    expect(await said()).toMatchObject(PAID);
  });

  it("is heard once when it is told to try again (@google/genai)", async () => {
    const { model, url, said } = await start();
    const pay = (timeout: number) =>
      new GoogleGenAI({
        apiKey: "key",
        httpOptions: { baseUrl: url, headers, timeout },
      }).models.generateContent({ model: "clew", contents: "pay" });
    await expect(pay(WAIT_MS)).rejects.toThrow();
    await model.asked();
    const paid = pay(60_000);
    const reply = await model.asked();
    reply.say("Paid.");
    reply.finish();
    expect((await paid).text).toBe("Paid.");
    expect(await said()).toMatchObject(PAID);
  });

  it("is heard once when it tries again what broke off (@google/genai)", async () => {
    const { model, url, said } = await start();
    const client = new GoogleGenAI({
      apiKey: "key",
      httpOptions: { baseUrl: url, headers, retryOptions: { attempts: 3 } },
    });
    const paid = client.models.generateContent({ model: "clew", contents: "pay" });
    const cut = await model.asked();
    cut.say("Pai");
    cut.breakOff();
    const reply = await model.asked();
    reply.say("Paid.");
    reply.finish();
    expect((await paid).text).toBe("Paid.");
    expect(await said()).toMatchObject(PAID);
  });

  it("is heard once when its person cancels and says the same (openai)", async () => {
    const { model, url, said } = await start();
    const client = new OpenAI({ apiKey: "key", baseURL: `${url}/v1`, defaultHeaders: headers });
    const messages = [{ role: "user" as const, content: "pay" }];
    const pay = (signal?: AbortSignal) =>
      client.chat.completions.create({ model: "clew", messages }, { signal });
    const cancelled = new AbortController();
    const given = pay(cancelled.signal);
    const cut = await model.asked();
    cut.say("Paid.");
    cancelled.abort();
    await expect(given).rejects.toThrow();
    cut.finish();
    const { choices } = await pay();
    expect(choices[0]!.message.content).toBe("Paid.");
    expect(await said()).toMatchObject(PAID);
  });
});
