// The official clients, unchanged, pointed at a gateway, whoever has the history.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { createEmulator, type EmulatorAnswer } from "../../../packages/providers/src/testing.ts";
import type { DoorApi } from "../../gateway/src/door/wires/door-wire.ts";
import { startTestGateway } from "../../gateway/src/testing/gateway.ts";
import { TALKS } from "./door-clients.ts";
import { open, TOOL_LOOP } from "./servers.ts";

const MODELS: Record<DoorApi, string> = {
  "openai-completions": "deepseek-reasoner",
  "openai-responses": "gpt-5.6",
  "anthropic-messages": "claude-opus-5-5",
  "google-generative-ai": "gemini-3-pro-preview",
};
const APIS = Object.keys(MODELS) as DoorApi[];

/** A gateway before an emulated server that speaks `api`. */
async function start(api: DoorApi, answers: readonly EmulatorAnswer[]) {
  const flavor = api === "openai-completions" ? { flavor: "deepseek" } : {};
  const server = await open(createEmulator(api, { answers, ...flavor }));
  const model = MODELS[api];
  const gateway = await startTestGateway({
    agents: { defaults: { model: `far/${model}` } },
    models: {
      providers: {
        far: {
          ...{ baseUrl: server.baseUrl, api, apiKey: "key", ...flavor },
          models: [{ id: model, contextWindow: 100_000, maxTokens: 4000, reasoning: true }],
        },
      },
    },
  });
  return { server, url: gateway.url, gateway: gateway.gateway, model };
}

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The model's own wire where the client has the history; any where Clew has it. */
const cases = APIS.flatMap((client) => [
  { client, upstream: client, session: undefined },
  { client, upstream: client, session: "work" },
  { client, upstream: "anthropic-messages" as const, session: "work" },
]).flatMap((one) => [
  { ...one, streamed: false },
  { ...one, streamed: true },
]);

describe("an official client at the door", () => {
  it.each(cases)(
    "goes through a loop of tools by $client, model by $upstream (session: $session, stream: $streamed)",
    async ({ client, upstream, session, streamed }) => {
      const { server, url, model, gateway } = await start(upstream, TOOL_LOOP);
      const named = session === undefined ? model : "clew";
      const talk = TALKS[client]({ url, model: named, streamed, session });
      const png = upstream === "openai-completions" ? undefined : PNG;
      const first = await talk.say({ text: "Look at a and b.", ...(png && { png }) });
      expect(first.text).toBe("Let me look.");
      expect(first.thinking).toBe("Both, I think.");
      expect(first.calls.map(({ name, args }) => ({ name, args }))).toEqual([
        { name: "read", args: { path: "a" } },
        { name: "read", args: { path: "b" } },
      ]);
      expect(first.tokens).toBeGreaterThan(0);
      const second = await talk.say({ results: ["nothing in a", "nothing in b"] });
      expect(second).toMatchObject({ text: "Both are empty.", thinking: "Enough.", calls: [] });
      expect(server.violations).toEqual([]);
      const body = JSON.stringify(server.requests[1]!.body);
      for (const words of ["Look at a and b.", "nothing in a", "nothing in b"])
        expect(body).toContain(words);
      if (png !== undefined) expect(body).toContain(PNG);
      if (session === undefined) return;
      const messages = (await gateway.messages(session, 20))!;
      expect(messages.map(({ role }) => role)).toEqual([
        ...["user", "assistant", "toolResult", "toolResult", "assistant"],
      ]);
    },
  );

  it.each([undefined, "work"])(
    "is told of failures as it knows them (session: %s)",
    async (session) => {
      const faults: EmulatorAnswer[] = Array.from({ length: 20 }, () => ({
        ...{ fault: "rate-limit", retryAfterMs: 60_000 },
      }));
      for (const api of APIS) {
        const { url, model } = await start(api, faults);
        const talk = TALKS[api]({ url, model, streamed: false, session });
        const failed = await talk.say({ text: "Hi." }).catch((error: unknown) => error);
        expect(failed).toMatchObject({ status: 429 });
        if (api.startsWith("openai")) expect(failed).toBeInstanceOf(OpenAI.RateLimitError);
        if (api.startsWith("anthropic")) expect(failed).toBeInstanceOf(Anthropic.RateLimitError);
      }
    },
  );
});

describe("a conversation of Responses at the door", () => {
  it("goes on from the response before", async () => {
    const { server, url, model } = await start("openai-responses", [
      { text: "One." },
      { text: "Two." },
    ]);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 });
    const headers = { "x-clew-session": "chain" };
    const first = await client.responses.create({ model, input: "First." }, { headers });
    const second = await client.responses.create({
      ...{ model, input: "Second.", previous_response_id: first.id },
    });
    expect(second.output_text).toBe("Two.");
    expect(JSON.stringify(server.requests[1]!.body)).toContain("First.");
    const again = client.responses.create({
      ...{ model, input: "Third.", previous_response_id: first.id },
    });
    await expect(again).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });
});

describe("what official clients ask beside", () => {
  it("is which models there are", async () => {
    const { url, model } = await start("anthropic-messages", []);
    const anthropic = new Anthropic({ baseURL: url, apiKey: "key" });
    const { data } = await anthropic.models.list();
    expect(data.map(({ id }) => id)).toEqual([model, "clew"]);
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "key" });
    expect((await openai.models.list()).data.map(({ id }) => id)).toContain("clew");
    const google = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: url } });
    const names: (string | undefined)[] = [];
    for await (const { name } of await google.models.list()) names.push(name);
    expect(names).toContain("models/clew");
  });

  it("is how many tokens a prompt has", async () => {
    const { url } = await start("anthropic-messages", []);
    const defaultHeaders = { "x-clew-session": "work" };
    const anthropic = new Anthropic({ baseURL: url, apiKey: "key", defaultHeaders });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "How many words?" }];
    const counted = await anthropic.messages.countTokens({ model: "clew", messages });
    expect(counted.input_tokens).toBeGreaterThan(3);
    const google = new GoogleGenAI({
      apiKey: "key",
      httpOptions: { baseUrl: url, headers: defaultHeaders },
    });
    const { totalTokens } = await google.models.countTokens({
      ...{ model: "clew", contents: "How many words?" },
    });
    expect(totalTokens).toBeGreaterThan(3);
  });
});
