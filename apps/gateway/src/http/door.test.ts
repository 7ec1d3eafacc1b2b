import { once } from "node:events";
import { request } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../config/door.ts";
import { startUpstream, type UpstreamHeard } from "../door/testing/upstream.ts";
import { post, startTestGateway } from "../testing/gateway.ts";

type Answer = Parameters<typeof startUpstream>[0];

/** All four wires go to one server, whose models are "model" and "other". */
async function startDoor(answer: Answer, settings: Record<string, unknown> = {}) {
  const upstream = await startUpstream(answer);
  onTestFinished(upstream.close);
  const provider = (api: string, version: string) => ({
    baseUrl: `${upstream.url}${version}`,
    api,
    apiKey: "own-key",
    models: [{ id: "model", contextWindow: 32_000 }, { id: "other" }],
  });
  const gateway = await startTestGateway({
    models: {
      providers: {
        chat: provider("openai-completions", "/v1"),
        resp: provider("openai-responses", "/v1"),
        claude: provider("anthropic-messages", "/v1"),
        gemini: provider("google-generative-ai", "/v1beta"),
      },
    },
    ...settings,
  });
  return { ...gateway, upstream };
}

const says =
  (body: unknown, status = 200): Answer =>
  (_heard, response) => {
    response.writeHead(status, { "content-type": "application/json", "x-told": "yes" });
    response.end(JSON.stringify(body));
  };

const BODIES: Record<(typeof DOOR_APIS)[number], { path: string; body: unknown }> = {
  "openai-completions": {
    path: "/v1/chat/completions",
    body: { model: "model", messages: [{ role: "user", content: "Hello" }] },
  },
  "openai-responses": { path: "/v1/responses", body: { model: "model", input: "Hello" } },
  "anthropic-messages": {
    path: "/v1/messages?beta=true",
    body: { model: "model", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] },
  },
  "google-generative-ai": {
    path: "/v1beta/models/model:generateContent",
    body: { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
  },
};

const heardBody = ({ bytes }: UpstreamHeard) => JSON.parse(bytes.toString()) as { model?: string };

describe("the door", () => {
  it("has no browser take an answer for something else than it says it is", async () => {
    const { url } = await startDoor(says({ id: "a" }));
    const { path, body } = BODIES["openai-completions"];
    const passed = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
    for (const { headers } of [passed, await fetch(`${url}/v1/models`)])
      expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it.each(DOOR_APIS)("hands a request of %s on as it came, and the answer back", async (api) => {
    const { get, upstream } = await startDoor(says({ odd: "answer", of: api }, 418));
    const { path, body } = BODIES[api];
    const sent = `  ${JSON.stringify(body, null, 3)}\n`;
    const headers = {
      ...{ "content-type": "application/json", "x-client": "some", authorization: "Bearer theirs" },
      ...{ "x-api-key": "theirs", "user-agent": "agent/1", connection: "keep-alive" },
    };
    const answer = await get(path, { method: "POST", headers, body: sent });
    expect(answer.status).toBe(418);
    expect(answer.headers.get("x-told")).toBe("yes");
    expect(await answer.json()).toEqual({ odd: "answer", of: api });
    const [heard] = upstream.heard;
    expect([heard!.url, heard!.bytes.toString()]).toEqual([path, sent]);
    expect(heard!.headers).toMatchObject({ "x-client": "some", "user-agent": "agent/1" });
    expect(JSON.stringify(heard!.headers)).toContain("own-key");
    expect(JSON.stringify(heard!.headers)).not.toContain("theirs");
    expect(heard!.headers.host).toBe(new URL(upstream.url).host);
  });

  it("passes a client's own key on where the settings say so, and never the gateway's token", async () => {
    const token = "a-token-of-the-gateway";
    const settings = {
      gateway: { auth: { token } },
      door: { upstreams: { "anthropic-messages": { key: "client" } } },
    };
    const { get, upstream } = await startDoor(says({}), settings);
    const headers = { "x-api-key": "theirs", authorization: `Bearer ${token}` };
    await get("/v1/messages", { ...post(BODIES["anthropic-messages"].body), headers });
    expect(upstream.heard[0]!.headers["x-api-key"]).toBe("theirs");
    expect(JSON.stringify(upstream.heard[0]!.headers)).not.toContain(token);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ] as const)("passes on what a client sends packed by %s, unpacked", async (packing, pack) => {
    const { get, upstream } = await startDoor(says({ id: "r" }));
    const headers = { "content-type": "application/json", "content-encoding": packing };
    const send = (path: string, body: BodyInit) => get(path, { method: "POST", headers, body });
    for (const { path, body } of Object.values(BODIES)) {
      const answer = await send(path, new Uint8Array(pack(JSON.stringify(body))));
      expect(answer.status).toBe(200);
      const heard = upstream.heard.at(-1)!;
      expect(JSON.parse(heard.bytes.toString())).toMatchObject(body as object);
      expect(heard.headers["content-encoding"]).toBeUndefined();
    }
    for (const { path } of Object.values(BODIES)) {
      const torn = await send(path, "not packed");
      expect(torn.status).toBeGreaterThanOrEqual(400);
      expect(torn.status).toBeLessThan(500);
      expect(await torn.json()).toMatchObject({ error: { message: expect.any(String) } });
    }
    const bomb = new Uint8Array(pack(Buffer.alloc(80 * 2 ** 20, " ")));
    const { path } = BODIES["openai-completions"];
    expect((await send(path, bomb)).status).toBe(413);
    expect(upstream.heard).toHaveLength(Object.keys(BODIES).length);
  });

  it("asks a model it knows where a client names another one", async () => {
    const settings = {
      door: { upstreams: { "openai-completions": { model: "other", models: { small: "model" } } } },
    };
    const { get, upstream } = await startDoor(says({}), settings);
    for (const model of ["small", "gpt-unheard-of", "model"])
      await get("/v1/chat/completions", post({ model, messages: [] }));
    await get("/v1beta/models/gemini-flash:generateContent", post({ contents: [] }));
    const [small, unknown, known, gemini] = upstream.heard;
    expect([small!, unknown!, known!].map((heard) => heardBody(heard).model)).toEqual([
      "model",
      "other",
      "model",
    ]);
    expect(gemini!.url).toBe("/v1beta/models/model:generateContent");
  });

  it("says in the dialect of each wire what is wrong", async () => {
    const { get } = await startDoor(says({}));
    const problems: Record<string, unknown> = {};
    for (const api of DOOR_APIS) {
      const path = BODIES[api].path;
      const answer = await get(path, { method: "POST", body: "[]" });
      expect(answer.status).toBe(400);
      problems[api] = await answer.json();
    }
    const message = "The body is no JSON object.";
    const openai = { error: { message, type: "invalid_request_error", param: null, code: null } };
    expect(problems).toEqual({
      "openai-completions": openai,
      "openai-responses": openai,
      "anthropic-messages": { type: "error", error: { type: "invalid_request_error", message } },
      "google-generative-ai": { error: { code: 400, message, status: "INVALID_ARGUMENT" } },
    });
  });

  it("names models in the form of the wire that asks", async () => {
    const { get } = await startDoor(says({}));
    const openai = (await (await get("/v1/models?limit=1000")).json()) as { data: object[] };
    expect(openai.data).toContainEqual(expect.objectContaining({ id: "model", object: "model" }));
    const headers = { "anthropic-version": "2023-06-01" };
    const anthropic = await (await get("/v1/models", { headers })).json();
    expect(anthropic).toMatchObject({
      data: [{ type: "model", id: "model" }, {}, { id: "clew" }],
      has_more: false,
    });
    const google = await (await get("/v1beta/models")).json();
    expect(google).toMatchObject({ models: [{ name: "models/model" }, {}, {}] });
  });

  it("answers what clients ask beside: counts, sockets, and what is not there", async () => {
    const { get, url, upstream } = await startDoor(says({ input_tokens: 7 }));
    const counted = await get(
      "/v1/messages/count_tokens?beta=true",
      post({ model: "claude-haiku", messages: [] }),
    );
    expect(await counted.json()).toEqual({ input_tokens: 7 });
    expect(upstream.heard.map((heard) => [heard.url, heardBody(heard).model])).toEqual([
      ["/v1/messages/count_tokens?beta=true", "model"],
    ]);
    const upgrade = request(`${url}/v1/responses`, {
      headers: { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
    }).end();
    const [refused] = (await once(upgrade, "response")) as [{ statusCode: number; resume(): void }];
    refused.resume();
    expect(refused.statusCode).toBe(426);
    expect((await get("/api/hello", { method: "HEAD" })).status).toBe(404);
    const unknown = await get("/v1/files", post({}));
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { type: "not_found_error" } });
    expect(upstream.heard).toHaveLength(1);
  });

  it("forwards unknown paths with a client's own key", async () => {
    const settings = { door: { upstreams: { "openai-completions": { key: "client" } } } };
    const { get, upstream } = await startDoor(says({ data: [] }), settings);
    const headers = { authorization: "Bearer theirs" };
    const answer = await get("/v1/embeddings?x=1", { ...post({ input: "a" }), headers });
    expect(answer.status).toBe(200);
    expect(upstream.heard[0]).toMatchObject({ url: "/v1/embeddings?x=1", method: "POST" });
  });

  it("follows no redirect, and says when nobody is there", async () => {
    const { get, upstream } = await startDoor((_heard, response) => {
      response.writeHead(307, { location: "http://127.0.0.1:1/" }).end();
    });
    const { path, body } = BODIES["openai-completions"];
    const redirected = await get(path, post(body));
    expect(redirected.status).toBe(502);
    expect(await redirected.text()).toContain("not followed");
    await upstream.close();
    const away = await get("/v1/responses", post(BODIES["openai-responses"].body));
    expect(away.status).toBe(502);
    expect(await away.text()).toContain("refused the connection");
  });

  it("breaks off where the model server does, and lets it go when the client leaves", async () => {
    let left: () => void = () => {};
    const leaving = new Promise<void>((resolve) => {
      left = resolve;
    });
    const { get, upstream } = await startDoor(async ({ url }, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: {}\n\n");
      if (url.endsWith("responses")) response.once("close", left);
      else setTimeout(() => response.destroy(), 20);
    });
    const { path, body } = BODIES["openai-completions"];
    const broken = await get(path, post(body));
    await expect(broken.text()).rejects.toThrow();
    const client = new AbortController();
    const { path: other, body: asked } = BODIES["openai-responses"];
    await get(other, { ...post(asked), signal: client.signal });
    client.abort();
    await leaving;
    expect(upstream.heard).toHaveLength(2);
  });

  it("is closed where the settings say so", async () => {
    const { get } = await startDoor(says({}), { door: { enabled: false } });
    expect((await get("/v1/models")).status).toBe(404);
  });
});
