import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type EmulatorOptions } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { startIssuer } from "../testing/issuer.ts";
import { keyHeaders } from "./sign-in.ts";

const OPUS = "eu.anthropic.claude-opus-5-5-v1:0";

async function talk(
  { api, model, ...settings }: Record<string, unknown> & { api: string; model: string },
  options: EmulatorOptions,
  variables: (home: string) => Promise<Record<string, string>> = async () => ({}),
) {
  const server = await createEmulator(api, { answers: [{ text: "Hello." }], ...options });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const gateway = await startTestGateway(
    {
      agents: { defaults: { model: `house/${model}` } },
      models: {
        providers: {
          house: { api, baseUrl: server.baseUrl, models: [{ id: model }], ...settings },
        },
      },
    },
    home,
    await variables(home),
  );
  return { server, gateway };
}

/** A gateway whose model is at Vertex. */
async function vertex(google: object, keys: readonly string[]) {
  const api = "google-generative-ai";
  const server = await createEmulator(api, { answers: [{ text: "Hello." }], keys });
  onTestFinished(() => server.close());
  const baseUrl = `${new URL(server.baseUrl).origin}/v1/projects/p/locations/global`;
  const { say } = await startTestGateway({
    agents: { defaults: { model: "google-vertex/gemini-3-pro-preview" } },
    models: { providers: { "google-vertex": { baseUrl, google } } },
  });
  return { server, say };
}

/** A home in which somebody logged in to a profile called "work". */
async function loggedIn(home: string): Promise<Record<string, string>> {
  const cache = join(home, ".aws", "sso", "cache");
  await mkdir(cache, { recursive: true });
  const lines = [
    ...["[profile work]", "sso_session = house", "sso_account_id = 1", "sso_role_name = R"],
    ...["[sso-session house]", "sso_start_url = https://x.test", "sso_region = eu-west-1"],
  ];
  await writeFile(join(home, ".aws", "config"), lines.join("\n"));
  const name = createHash("sha1").update("house").digest("hex");
  const token = { accessToken: "sso-token", expiresAt: "2100-01-01T00:00:00Z" };
  await writeFile(join(cache, `${name}.json`), JSON.stringify(token));
  return { HOME: home };
}

describe("a gateway", () => {
  it("signs what it sends to Bedrock with keys bought by an SSO login, once for several calls", async () => {
    const portal = await startIssuer(() => ({
      body: {
        roleCredentials: {
          accessKeyId: "ASIASSO",
          secretAccessKey: "secret-of-sso",
          sessionToken: "session-of-sso",
          expiration: Date.now() + 3_600_000,
        },
      },
    }));
    const aws = { profile: "work", region: "eu-west-1", ssoEndpoint: portal.url };
    const { server, gateway } = await talk(
      { api: "bedrock-converse-stream", model: OPUS, aws },
      { keys: ["ASIASSO"] },
      loggedIn,
    );
    expect((await gateway.say("Hi")).text).toBe("Hello.");
    expect((await gateway.say("Again")).text).toBe("Hello.");
    expect(portal.requests).toHaveLength(1);
    expect(server.requests.map(({ headers }) => headers)).toMatchObject(
      Array.from({ length: 2 }, () => ({
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=ASIASSO\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
        ) as string,
        "x-amz-security-token": "session-of-sso",
      })),
    );
  });

  it("asks Gemini at Vertex with a token bought by a person's Google login, once for several calls", async () => {
    const issuer = await startIssuer(() => ({
      body: { access_token: "ya29.of-the-login", expires_in: 3599 },
    }));
    const home = await temporaryHome();
    const file = join(home, "login.json");
    const login = { type: "authorized_user", client_id: "c", client_secret: "s" };
    await writeFile(file, JSON.stringify({ ...login, refresh_token: "refresh-secret" }));
    const google = { credentialsFile: file, project: "p", tokenEndpoint: issuer.url };
    const { server, say } = await vertex(google, ["ya29.of-the-login"]);
    expect((await say("Hi")).text).toBe("Hello.");
    expect((await say("Again")).text).toBe("Hello.");
    expect(issuer.requests).toHaveLength(1);
    expect(server.violations).toEqual([]);
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual(
      Array.from({ length: 2 }, () => [
        "/v1/projects/p/locations/global/publishers/google/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
        "Bearer ya29.of-the-login",
      ]),
    );
  });

  it("asks a program for a key, and asks again when that was refused", async () => {
    const home = await temporaryHome();
    const counter = join(home, "asked");
    const script = `const fs = require("node:fs"); fs.appendFileSync(${JSON.stringify(counter)}, "x"); console.log("key-" + fs.readFileSync(${JSON.stringify(counter)}).length)`;
    const { server, gateway } = await talk(
      {
        api: "anthropic-messages",
        model: "claude-opus-4-6",
        apiKeyCommand: [process.execPath, "-e", script],
      },
      { keys: ["key-2"] },
    );
    const [refused, taken] = [await gateway.say("Hi"), await gateway.say("Hi")];
    expect(refused.text).not.toBe("Hello.");
    expect(taken.text).toBe("Hello.");
    expect(JSON.stringify([refused, taken])).not.toMatch(/key-[12]/);
    expect(await readFile(counter, "utf8")).toBe("xx");
    // A request with a wrong key is turned away before it is looked at.
    expect(server.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["key-2"]);
  });

  it("says in a turn why it cannot sign in, and what to run", async () => {
    const { server, gateway } = await talk(
      {
        api: "bedrock-converse-stream",
        model: OPUS,
        aws: { profile: "work", region: "eu-west-1", ssoEndpoint: "http://127.0.0.1:1" },
      },
      {},
      async (home) => {
        const variables = await loggedIn(home);
        const name = createHash("sha1").update("house").digest("hex");
        await writeFile(join(home, ".aws", "sso", "cache", `${name}.json`), "{}");
        return variables;
      },
    );
    const { events } = await gateway.say("Hi");
    expect(JSON.stringify(events)).toContain(
      'Provider \\"house\\" cannot sign in: nobody is logged in to AWS profile \\"work\\"; run: aws sso login --profile work.',
    );
    expect(server.requests).toEqual([]);
  });
});

it.each([
  ["anthropic-messages", { "x-api-key": "k" }],
  ["openai-completions", { authorization: "Bearer k" }],
  ["bedrock-converse-stream", { authorization: "Bearer k" }],
])("a key of %s goes into the header of that api, and nothing else changes", (api, headers) => {
  const model = { provider: "house", api, id: "m", contextWindow: 1000, maxOutputTokens: 100 };
  const { signal } = new AbortController();
  const call = { model, systemPrompt: "x", messages: [], tools: [], signal };
  const endpoint = { baseUrl: "http://127.0.0.1:1", headers: { "x-mine": "1" } };
  expect(keyHeaders(call, endpoint, "k")).toEqual(headers);
});
