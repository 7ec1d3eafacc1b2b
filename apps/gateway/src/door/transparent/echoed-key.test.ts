import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { TestClient as Client } from "../testing/client.ts";
import { startUpstream } from "../testing/upstream.ts";

const KEY = "SECRET/KEY+1234567890";

const provider = (url: string, api: string, version: string) => ({
  ...{ baseUrl: `${url}${version}`, api, apiKey: KEY },
  models: [{ id: "model", contextWindow: 32_000 }],
});

/** Says its client's key in an error. */
async function startEchoing(isPacked: boolean) {
  const upstream = await startUpstream((heard, response) => {
    const { authorization, "x-api-key": own, "x-goog-api-key": google } = heard.headers;
    const shown = authorization ?? own ?? google;
    const body = Buffer.from(JSON.stringify({ error: { message: `bad key ${String(shown)}` } }));
    response.writeHead(401, {
      "content-type": "application/json",
      ...(isPacked && { "content-encoding": "gzip" }),
    });
    response.end(isPacked ? gzipSync(body) : body);
  });
  onTestFinished(upstream.close);
  const providers = {
    chat: provider(upstream.url, "openai-completions", "/v1"),
    resp: provider(upstream.url, "openai-responses", "/v1"),
    claude: provider(upstream.url, "anthropic-messages", "/v1"),
    gemini: provider(upstream.url, "google-generative-ai", "/v1beta"),
  };
  const door = await startTestDoor(upstream, {
    settings: { models: { providers }, agents: { defaults: { model: "chat/model" } } },
  });
  return { upstream, door };
}

it.each(DOOR_APIS.flatMap((api) => [false, true].map((isPacked) => [api, isPacked] as const)))(
  "the gateway's key is hidden where a model server says it in an error by %s (packed: %s)",
  async (api, isPacked) => {
    const { upstream, door } = await startEchoing(isPacked);
    const client = new Client(api);
    client.say("Fix the parser.");
    const { path, body } = client.ask().request;
    for (const model of ["model", "clew"]) {
      const named = path.replace("/models/model:", `/models/${model}:`);
      const answer = await fetch(`${door.url}${named}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, model }),
      });
      const text = await answer.text();
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(text).toContain("bad key");
      expect(text).not.toContain(KEY);
    }
    expect(upstream.heard.length).toBeGreaterThan(1);
  },
);

const byNumber = (text: string, which: RegExp) =>
  text.replaceAll(which, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
const WAYS: Record<string, string> = {
  "as it is": KEY,
  "as JSON of others": JSON.stringify(KEY).slice(1, -1).replaceAll("/", "\\/"),
  "as an address": encodeURIComponent(KEY),
  "with signs by their numbers": byNumber(KEY, /\W/g),
  "by the numbers of its letters": byNumber(KEY, /./g),
  "as base64": Buffer.from(`Bearer ${KEY}`).toString("base64"),
  "as hex": Buffer.from(KEY).toString("hex"),
};

it.each(Object.keys(WAYS))(
  "the gateway's key is hidden in an error %s, and in headers",
  async (way) => {
    const upstream = await startUpstream((heard, response) => {
      const isError = heard.bytes.includes("FAIL");
      const name = way.includes("numbers") || way.includes("others") ? "as it is" : way;
      response.writeHead(isError ? 400 : 200, {
        ...{ "content-type": "application/json", "x-debug": WAYS[name]! },
        ...{ "set-cookie": "a=b", "x-clew-session": "evil", "access-control-allow-origin": "*" },
      });
      response.end(isError ? `{"error":{"message":"bad key ${WAYS[way]}"}}` : "{}");
    });
    onTestFinished(upstream.close);
    const providers = { chat: provider(upstream.url, "openai-completions", "/v1") };
    const door = await startTestDoor(upstream, { settings: { models: { providers } } });
    for (const words of ["FAIL", "hello"]) {
      const answer = await fetch(`${door.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "model", messages: [{ role: "user", content: words }] }),
      });
      const told = `${await answer.text()} ${JSON.stringify([...answer.headers])}`;
      expect(told).toContain(words === "FAIL" ? "bad key" : "x-debug");
      const secret =
        way === "as base64" ? Buffer.from(KEY).toString("base64").slice(4, 20) : WAYS[way]!;
      expect(told).not.toContain(secret);
      expect(told).not.toContain(KEY);
      for (const name of ["set-cookie", "evil", "access-control"]) expect(told).not.toContain(name);
    }
  },
);
