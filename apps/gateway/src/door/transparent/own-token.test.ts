// Shows the gateway's own token in other places of a request than the one where it belongs.
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { person, request } from "../../testing/door-client.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { startUpstream } from "../testing/upstream.ts";
import type { DoorApi } from "../wires/door-wire.ts";

const TOKEN = "the-token+of/this-home";
const NAMED = "another-token-of-this-home";

const PROVIDERS: Record<DoorApi, string> = {
  "openai-completions": "chat",
  "openai-responses": "resp",
  "anthropic-messages": "claude",
  "google-generative-ai": "gemini",
};

async function start(key: "client" | undefined) {
  const upstream = await startUpstream((_heard, response) =>
    response.writeHead(400, { "content-type": "application/json" }).end("{}"),
  );
  onTestFinished(upstream.close);
  const auth = { token: TOKEN, tokens: [{ name: "other", token: NAMED, scope: "chat" }] };
  const upstreams = Object.fromEntries(
    DOOR_APIS.map((api) => [api, { provider: PROVIDERS[api], ...(key && { key }) }]),
  );
  const door = await startTestDoor(upstream, {
    settings: { gateway: { auth }, door: { upstreams } },
  });
  return { upstream, door };
}

/** Each with the token in another writing. */
const places = (token: string): Record<string, string> => ({
  "x-extra": `Bearer ${token}`,
  "x-in-base64": Buffer.from(`user:${token}`).toString("base64"),
  "x-in-hex": Buffer.from(token).toString("hex"),
  referer: `http://127.0.0.1/?key=${encodeURIComponent(token)}`,
  cookie: `a=${token}`,
  "x-api-key": token,
});

it.each(
  [TOKEN, NAMED].flatMap((token) =>
    [undefined, "client" as const].flatMap((key) =>
      DOOR_APIS.map((api) => [api, token, key] as const),
    ),
  ),
)("by %s, a model server never sees the token %s, with key: %s", async (api, token, key) => {
  const { upstream, door } = await start(key);
  const headers = { ...places(token), "x-other": "stays", authorization: `Bearer ${token}` };
  const get: typeof door.get = (path, init) =>
    door.get(
      `${path}${path.includes("?") ? "&" : "?"}api_key=${encodeURIComponent(token)}&a=1`,
      init,
    );
  await request({ get }, api, [person("Why?")], { model: "model", headers });
  const { url, headers: heard } = upstream.heard.at(-1)!;
  for (const name of Object.keys(places(token)))
    if (name !== "x-api-key") expect(heard).not.toHaveProperty(name);
  const told = url + JSON.stringify(heard);
  expect(told).not.toContain(token);
  expect(told).not.toContain(encodeURIComponent(token));
  expect(heard["x-other"]).toBe("stays");
  expect(new URL(url, "http://x").searchParams.get("a")).toBe("1");
});
