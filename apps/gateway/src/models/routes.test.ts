// Each way to a provider that needs more than a key, as docs/providers.md sets it up.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { findProvider, PROVIDERS } from "@clew/plugin-sdk/host";
import { completeModel } from "@clew/providers";
import { expect, it, onTestFinished } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ConfigSchema } from "../config/schema.ts";
import { modelRequest } from "./model-request.ts";
import { resolveModel } from "./resolve.ts";

interface Sent {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** Remembers the one request, and refuses it. */
async function listen(): Promise<{ url: string; sent: Promise<Sent> }> {
  let take: (sent: Sent) => void = () => {};
  const sent = new Promise<Sent>((resolve) => {
    take = resolve;
  });
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    response.writeHead(400).end("{}");
    const body = JSON.parse(text) as Record<string, unknown>;
    take({ path: request.url ?? "", headers: request.headers, body });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
}

interface Route {
  model: string;
  /** Behind the host of the base URL. */
  base: string;
  /** Of the provider, besides the base URL. */
  settings?: object;
  variables: Record<string, string>;
  path: string;
  headers: Record<string, string>;
  without?: readonly string[];
  body: object;
}

const ROUTES: readonly Route[] = [
  {
    model: "azure-openai/my-deployment",
    base: "/openai/v1",
    variables: { AZURE_OPENAI_API_KEY: "azure-key" },
    path: "/openai/v1/responses",
    headers: { "api-key": "azure-key" },
    without: ["authorization"],
    body: { model: "my-deployment", store: false, input: expect.any(Array) },
  },
  {
    model: "azure-openai/my-deployment",
    base: "/openai/v1",
    settings: { api: "openai-completions", apiKey: "eyJhbGciOi.eyJhIjoxfQ.sig" },
    variables: {},
    path: "/openai/v1/chat/completions",
    headers: { authorization: "Bearer eyJhbGciOi.eyJhIjoxfQ.sig" },
    without: ["api-key"],
    body: { model: "my-deployment", messages: expect.any(Array) },
  },
  {
    model: "azure/my-deployment",
    base: "/openai/v1?api-version=preview",
    settings: { api: "azure-openai-responses" },
    variables: { AZURE_OPENAI_API_KEY: "azure-key" },
    path: "/openai/v1/responses?api-version=preview",
    headers: { "api-key": "azure-key" },
    body: { model: "my-deployment", store: false },
  },
  {
    model: "github-copilot/claude-opus-4-6",
    base: "",
    settings: {
      api: "anthropic-messages",
      headers: { "Editor-Version": "clew/1", "Copilot-Integration-Id": "clew" },
    },
    variables: { GITHUB_COPILOT_TOKEN: "copilot-token" },
    path: "/messages",
    headers: {
      authorization: "Bearer copilot-token",
      "editor-version": "clew/1",
      "copilot-integration-id": "clew",
    },
    without: ["x-api-key"],
    body: { model: "claude-opus-4-6" },
  },
  {
    model: "cloudflare-ai-gateway/claude-opus-4-6",
    base: "/v1/acct/gw/anthropic/v1",
    settings: { api: "anthropic-messages", headers: { "cf-aig-authorization": "Bearer cf" } },
    variables: { CLOUDFLARE_AI_GATEWAY_API_KEY: "maker-key" },
    path: "/v1/acct/gw/anthropic/v1/messages",
    headers: { "x-api-key": "maker-key", "cf-aig-authorization": "Bearer cf" },
    body: { model: "claude-opus-4-6" },
  },
  {
    model: "cf-openai/gpt-5.6",
    base: "/v1/acct/gw/openai",
    settings: { api: "openai-responses", flavor: "openai", apiKey: "maker-key" },
    variables: {},
    path: "/v1/acct/gw/openai/responses",
    headers: { authorization: "Bearer maker-key" },
    body: { model: "gpt-5.6", store: false },
  },
  {
    model: "kimi/kimi-k2-thinking",
    base: "/v1",
    variables: { MOONSHOT_API_KEY: "kimi-key" },
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer kimi-key" },
    body: { model: "kimi-k2-thinking" },
  },
  {
    model: "qwen/qwen3-max",
    base: "/compatible-mode/v1",
    variables: { DASHSCOPE_API_KEY: "qwen-key" },
    path: "/compatible-mode/v1/chat/completions",
    headers: { authorization: "Bearer qwen-key" },
    body: { model: "qwen3-max" },
  },
  {
    model: "openai-codex/gpt-5.6-codex",
    base: "/backend-api/codex",
    variables: { OPENAI_CODEX_TOKEN: "subscription" },
    path: "/backend-api/codex/responses",
    headers: { authorization: "Bearer subscription", "openai-beta": "responses=experimental" },
    body: { model: "gpt-5.6-codex", instructions: expect.any(String) },
  },
  {
    model: "google-vertex/gemini-3-pro",
    base: "/v1/projects/p/locations/global",
    settings: { apiKey: "google-token" },
    variables: {},
    path: "/v1/projects/p/locations/global/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
    headers: { authorization: "Bearer google-token" },
    without: ["x-goog-api-key"],
    body: { contents: expect.any(Array) },
  },
  {
    model: "anthropic-vertex/claude-opus-4-6@20260205",
    base: "/v1/projects/p/locations/europe-west4",
    settings: { apiKey: "google-token" },
    variables: {},
    path: "/v1/projects/p/locations/europe-west4/publishers/anthropic/models/claude-opus-4-6@20260205:streamRawPredict",
    headers: { authorization: "Bearer google-token" },
    without: ["x-api-key", "anthropic-version"],
    body: { anthropic_version: "vertex-2023-10-16", stream: true },
  },
];

/** What each api is asked at, behind a provider's address, and where its key stands by default. */
const WAYS: Readonly<Record<string, { model: string; path: string; keyIn: string; body: string }>> =
  {
    "anthropic-messages": {
      ...{ model: "claude-opus-4-6", path: "/messages" },
      ...{ keyIn: "x-api-key", body: "messages" },
    },
    "openai-completions": {
      ...{ model: "m", path: "/chat/completions" },
      ...{ keyIn: "authorization", body: "messages" },
    },
    "openai-responses": {
      ...{ model: "gpt-5.5", path: "/responses" },
      ...{ keyIn: "authorization", body: "input" },
    },
    "azure-openai-responses": {
      ...{ model: "gpt-5.5", path: "/responses" },
      ...{ keyIn: "authorization", body: "input" },
    },
    "openai-chatgpt-responses": {
      ...{ model: "gpt-5.5", path: "/responses" },
      ...{ keyIn: "authorization", body: "input" },
    },
    "google-generative-ai": {
      ...{ model: "gemini-3-pro", path: "/models/gemini-3-pro:streamGenerateContent?alt=sse" },
      ...{ keyIn: "x-goog-api-key", body: "contents" },
    },
    "google-gemini-cli": {
      ...{ model: "gemini-3-pro", path: "/v1internal:streamGenerateContent?alt=sse" },
      ...{ keyIn: "authorization", body: "request" },
    },
    "bedrock-converse-stream": {
      ...{ model: "amazon.nova-pro-v1:0", path: "/model/amazon.nova-pro-v1%3A0/converse-stream" },
      ...{ keyIn: "authorization", body: "messages" },
    },
    "mistral-conversations": {
      ...{ model: "mistral-large-latest", path: "/chat/completions" },
      ...{ keyIn: "authorization", body: "messages" },
    },
  };

/** Ways of the table above: their address says more than the api. */
const VERTEX = new Set(["google-vertex", "anthropic-vertex"]);

const PLAIN: readonly Route[] = PROVIDERS.filter(
  ({ id, apis }) => !VERTEX.has(id) && apis[0] !== "offline",
).flatMap(({ id, apis, baseUrl = "https://host/v1", needsKey: [variable] = [], keyIn }) =>
  apis
    .filter((api) => Object.hasOwn(WAYS, api))
    .map((api): Route => {
      const { model, path, body, keyIn: usually } = WAYS[api]!;
      const header = keyIn === undefined ? usually : keyIn === "bearer" ? "authorization" : keyIn;
      const key = header === "authorization" ? "Bearer key-for-tests" : "key-for-tests";
      const base = new URL(baseUrl).pathname.replace(/\/$/, "");
      return {
        model: `${id}/${model}`,
        base,
        settings: { api, ...(variable === undefined && { apiKey: "key-for-tests" }) },
        variables: variable === undefined ? {} : { [variable]: "key-for-tests" },
        path: `${base}${path}`,
        headers: { [header]: key },
        without: ["authorization", "x-api-key", "x-goog-api-key", "api-key"].filter(
          (name) => name !== header,
        ),
        body: { [body]: expect.anything() },
      };
    }),
);

it("every api of every provider is a route of these tests", () => {
  const tried = new Set([...PLAIN, ...ROUTES].map(({ model }) => model.split("/")[0]));
  const remote = PROVIDERS.filter(({ apis }) => apis[0] !== "offline");
  const untried = remote.filter(({ id }) => !tried.has(id)).map(({ id }) => id);
  expect(untried).toEqual([]);
  const environment = readEnvironment({ CLEW_HOME: "/nowhere", HOME: "/nowhere" });
  const { apis: spoken } = modelRequest(ConfigSchema.parse({}), environment);
  expect(spoken.filter((api) => !Object.hasOwn(WAYS, api))).toEqual(["offline"]);
  expect(PLAIN.length).toBeGreaterThan(35);
});

it.each([...ROUTES, ...PLAIN].map((route) => [route.model, route.path, route] as const))(
  "%s is asked at %s, with its key where it wants it",
  async (name, _path, { base, settings, variables, path, headers, without = [], body }) => {
    const { url, sent } = await listen();
    const provider = name.slice(0, name.indexOf("/"));
    const record = findProvider(provider);
    const config = ConfigSchema.parse({
      models: {
        providers: {
          [provider]: {
            // A stand-in would be asked in the commonest way.
            ...(record !== undefined && { api: record.apis[0] }),
            ...{ baseUrl: `${url}${base}`, ...settings },
          },
        },
      },
    });
    const environment = readEnvironment({ CLEW_HOME: "/nowhere", HOME: "/nowhere", ...variables });
    const { model, endpoint } = resolveModel({ ...modelRequest(config, environment), name });
    await completeModel({
      call: {
        model,
        systemPrompt: "Be brief.",
        messages: [{ role: "user", content: "Hi" }],
        tools: [],
        signal: new AbortController().signal,
        maxRetries: 0,
      },
      endpoint,
    });
    const request = await sent;
    expect(request.path).toBe(path);
    expect(request.headers).toMatchObject(headers);
    for (const header of without) expect(request.headers).not.toHaveProperty(header);
    expect(request.body).toMatchObject(body);
    if (provider === "anthropic-vertex") expect(request.body).not.toHaveProperty("model");
  },
);
