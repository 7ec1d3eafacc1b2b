import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { TestClient as Client } from "../testing/client.ts";
import { startUpstream } from "../testing/upstream.ts";

const KEY = "SECRETKEY-1234567890";

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
