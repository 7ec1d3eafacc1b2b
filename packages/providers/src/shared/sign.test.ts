import { getEventListeners } from "node:events";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { expect, it, onTestFinished } from "vitest";
import { completeModel, type StreamModelOptions } from "../stream.ts";
import { createBedrockEmulator } from "../testing/emulators.ts";
import type { EmulatorAnswer } from "../testing/server/options.ts";

async function ask(
  answers: readonly EmulatorAnswer[],
  sign: NonNullable<StreamModelOptions["sign"]>,
  signal = new AbortController().signal,
) {
  const server = await createBedrockEmulator({ answers });
  onTestFinished(() => server.close());
  const call: ModelCall = {
    model: {
      provider: "amazon-bedrock",
      api: "bedrock-converse-stream",
      id: "us.anthropic.claude-opus-4-6-v1",
      contextWindow: 200_000,
      maxOutputTokens: 1000,
    },
    systemPrompt: "",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal,
  };
  const endpoint = { baseUrl: server.baseUrl };
  return {
    server,
    result: await completeModel({ call, endpoint, sign, retry: { baseDelayMs: 1 } }),
  };
}

it("signs each try anew, over the request as it is sent", async () => {
  const signed: string[] = [];
  const { server, result } = await ask(
    [{ fault: "overloaded" }, { text: "Hello." }],
    async ({ body, url }) => {
      signed.push(`${url} ${body}`);
      return { authorization: `signed ${signed.length}` };
    },
  );
  expect(result.ok).toBe(true);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    "signed 1",
    "signed 2",
  ]);
  expect(server.requests.map(({ path, text }) => `${server.url}${path} ${text}`)).toEqual(signed);
});

it("sends nothing when it cannot be signed, and says why in the signer's words", async () => {
  const { server, result } = await ask([], () => Promise.reject(new Error("No key; log in.")));
  expect(result).toMatchObject({ error: { kind: "auth", message: "No key; log in." } });
  expect(server.requests).toEqual([]);
});

it("does not wait for a signer after an abort, and leaves no listener behind", async () => {
  const controller = new AbortController();
  const never = ask(
    [],
    () => {
      controller.abort();
      return new Promise(() => {});
    },
    controller.signal,
  );
  expect((await never).result).toMatchObject({ error: { kind: "aborted" } });
  const { signal } = new AbortController();
  await ask([{ text: "Hello." }], () => Promise.resolve({ authorization: "x" }), signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("repeats nothing of what it signed with when a server does", async () => {
  const token = "token-of-a-session";
  const body = JSON.stringify({
    message: `The canonical string was x-amz-security-token:${token}`,
  });
  const { result } = await ask([{ fault: "status", status: 403, body }], () =>
    Promise.resolve({ authorization: "AWS4-HMAC-SHA256 x", "x-amz-security-token": token }),
  );
  expect(result).toMatchObject({ error: { kind: "auth" } });
  expect(JSON.stringify(result)).not.toContain(token);
});

it("repeats nothing of it either when an answer that has begun ends in an error", async () => {
  const token = "token-of-a-session";
  const told = `data: ${JSON.stringify({ error: { message: `bad token ${token}` } })}\n\n`;
  const call: ModelCall = {
    model: {
      ...{ provider: "house", api: "openai-completions", id: "m" },
      ...{ contextWindow: 9000, maxOutputTokens: 100 },
    },
    systemPrompt: "",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal: new AbortController().signal,
  };
  const result = await completeModel({
    call,
    endpoint: { baseUrl: "http://h.test/v1" },
    sign: async () => ({ authorization: `Bearer ${token}` }),
    fetch: async () => new Response(told, { headers: { "content-type": "text/event-stream" } }),
  });
  expect(result).toMatchObject({ error: { message: expect.stringContaining("bad token [key]") } });
  expect(JSON.stringify(result)).not.toContain(token);
});
