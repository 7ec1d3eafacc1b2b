import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { startTestGateway } from "../../testing/gateway.ts";
import { TestClient } from "../testing/client.ts";
import { startUpstream } from "../testing/upstream.ts";

const KEY = "the-gateways-own-key-1234";

it.each(DOOR_APIS)("a key that a model server repeats by %s goes to no client", async (api) => {
  let isPacked = false;
  const upstream = await startUpstream(({ headers }, response) => {
    const own = String(headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization);
    const text = JSON.stringify({ error: { message: `bad key ${own}`, type: "auth" } });
    response
      .writeHead(401, {
        "content-type": "application/json",
        ...(isPacked && { "content-encoding": "gzip" }),
      })
      .end(isPacked ? gzipSync(text) : text);
  });
  onTestFinished(upstream.close);
  const version = api === "google-generative-ai" ? "/v1beta" : "/v1";
  const house = { baseUrl: `${upstream.url}${version}`, api, apiKey: KEY };
  const models = { providers: { house: { ...house, models: [{ id: "model" }] } } };
  const { url } = await startTestGateway({ models });
  const client = new TestClient(api);
  client.say("Fix the parser.");
  const { path, body } = client.ask().request;
  for (isPacked of [false, true]) {
    const answer = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
    expect(answer.status).toBe(401);
    const told = await answer.text();
    expect(told).toMatch(/"bad key (Bearer )?\(hidden\)"/);
    expect(told).not.toContain(KEY);
  }
  expect(upstream.heard.length).toBeGreaterThanOrEqual(2);
});
