import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew } from "../../testing/command.ts";
import { post, startTestGateway } from "../../testing/gateway.ts";
import { admit } from "./admit.ts";
import type { Caller } from "./caller.ts";
import { createRates } from "./rates.ts";
import { neededScope } from "./scope.ts";
import { knownTokens, shownTokens } from "./tokens.ts";

const OWN = "the-own-token-of-the-home";
const TOKENS = {
  read: "a-token-that-only-looks",
  chat: "a-token-that-also-talks",
  admin: "a-token-that-may-do-all",
};
const AUTH = {
  token: OWN,
  tokens: Object.entries(TOKENS).map(([scope, token]) => ({ name: `for-${scope}`, token, scope })),
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const ROUTES: [string, string, number, string][] = [
  // Method, path, status with enough, least scope.
  ["GET", "/", 200, "read"],
  ["GET", "/metrics", 200, "read"],
  ["GET", "/api/sessions", 200, "read"],
  ["GET", "/api/sessions/main", 404, "read"],
  ["GET", "/api/sessions/main/messages", 404, "read"],
  ["GET", "/api/sessions/main/transcript", 404, "read"],
  ["GET", "/api/sessions/main/calls", 404, "read"],
  ["GET", "/api/usage", 200, "read"],
  ["GET", "/api/engine", 200, "read"],
  ["GET", "/api/plugins", 200, "read"],
  ["GET", "/api/approvals", 200, "read"],
  ["GET", "/api/openapi.json", 200, "read"],
  ["GET", "/nothing", 404, "read"],
  ["POST", "/api/sessions/main/abort", 200, "chat"],
  ["POST", "/api/sessions/main/messages", 400, "chat"],
  ["POST", "/v1/nothing", 404, "chat"],
  ["POST", "/v1beta/models/m:nothing", 404, "chat"],
  ["GET", "/api/approvals/link", 200, "admin"],
  ["POST", "/api/approvals/1/once", 404, "admin"],
  ["POST", "/api/plugins/reload", 200, "admin"],
  ["POST", "/api/plugins/small/actions/a", 404, "admin"],
  ["DELETE", "/api/nothing", 404, "admin"],
];

describe("a gateway with tokens", () => {
  it("answers each address to those whose token is enough for it, and to nobody else", async () => {
    const { get } = await startTestGateway({ gateway: { auth: AUTH } });
    const scopes = ["read", "chat", "admin"] as const;
    for (const [method, path, status, least] of ROUTES) {
      const say = `${method} ${path}`;
      const without = await get(path, { method });
      expect([say, without.status]).toEqual([say, 401]);
      expect(without.headers.get("www-authenticate")).toBe('Bearer realm="clew"');
      for (const scope of scopes) {
        const answer = await get(path, { method, headers: bearer(TOKENS[scope]) });
        const isEnough = scopes.indexOf(scope) >= scopes.indexOf(least as "read");
        expect([say, scope, answer.status]).toEqual([say, scope, isEnough ? status : 403]);
      }
      const own = await get(path, { method, headers: bearer(OWN) });
      expect([say, own.status]).toEqual([say, status]);
    }
  });

  it("tells strangers its state and nothing else", async () => {
    const { get } = await startTestGateway({ gateway: { auth: AUTH } });
    expect(await (await get("/healthz")).json()).toEqual({ status: "ok" });
    expect(await (await get("/readyz")).json()).toEqual({ status: "ready" });
    const told = (await (await get("/api/health")).json()) as object;
    expect(Object.keys(told).sort()).toEqual(["home", "proof", "status", "version"]);
    const whole = await get("/api/health", { headers: bearer(TOKENS.read) });
    expect(await whole.json()).toMatchObject({ pid: process.pid, model: "offline/offline" });
  });

  it("takes a token where clients of model apis put their key, and refuses in their dialect", async () => {
    const { get } = await startTestGateway({ gateway: { auth: AUTH } });
    for (const name of ["x-api-key", "x-goog-api-key", "x-clew-token"])
      expect((await get("/api/sessions", { headers: { [name]: TOKENS.read } })).status).toBe(200);
    const both = { ...bearer("a key for the model server"), "x-clew-token": TOKENS.chat };
    expect((await get("/v1/nothing", { method: "POST", headers: both })).status).toBe(404);
    const dialect = async (path: string) =>
      (await (await get(path, { method: "POST" })).json()) as Record<string, unknown>;
    expect(await dialect("/v1/chat/completions")).toMatchObject({
      error: { type: "authentication_error", message: expect.stringContaining("gateway.auth") },
    });
    expect(await dialect("/v1/messages")).toMatchObject({
      ...{ type: "error", error: { type: "authentication_error" } },
    });
    expect(await dialect("/v1beta/models/m:generateContent")).toMatchObject({
      error: { code: 401, status: "UNAUTHENTICATED" },
    });
  });

  it("lets a browser in that opened the link, and its commands without a token", async () => {
    const { get, home } = await startTestGateway({ gateway: { auth: AUTH } });
    const { output: link } = await clew(home, ["approvals", "link"]);
    const opened = await fetch(link);
    expect(await opened.text()).toContain('content="0;url=/"');
    const cookie = opened.headers.get("set-cookie")!;
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
    const headers = { cookie: cookie.split(";")[0]! };
    expect((await get("/", { headers })).status).toBe(200);
    expect((await get("/api/sessions", { headers })).status).toBe(200);
    expect((await get("/open/0123456789")).status).toBe(403);
    const looking = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    for (const [path, status, said] of [
      ["/", 401, "open the link that clew start printed"],
      ["/open/0123456789", 403, "clew approvals link prints"],
    ] as const) {
      const shown = await get(path, { headers: looking });
      expect([shown.status, shown.headers.get("content-type")]).toEqual([
        ...[status, "text/html; charset=UTF-8"],
      ]);
      expect(await shown.text()).toContain(said);
    }
    expect((await clew(home, ["plugins", "reload"])).code).toBe(0);
  });

  it("lets tools run unasked for those alone who may do all", async () => {
    const { get } = await startTestGateway({ gateway: { auth: AUTH } });
    const say = async (token: string) => {
      const init = post({ text: "hi", allowTools: ["*"] });
      const headers = { ...(init.headers as Record<string, string>), ...bearer(token) };
      const answer = await get("/api/sessions/main/messages", { ...init, headers });
      await answer.text();
      return answer.status;
    };
    expect([await say(TOKENS.chat), await say(TOKENS.admin), await say(OWN)]).toEqual([
      ...[403, 200, 200],
    ]);
  });

  it("does not look at the eleventh wrong token within a minute, and at right ones all the same", async () => {
    const { get } = await startTestGateway({ gateway: { auth: AUTH } });
    const first = await get("/api/sessions", { headers: bearer("guess") });
    expect(await first.text()).toContain("The token that came is none of this gateway's: send one");
    const statuses: number[] = [first.status];
    for (let count = 1; count < 12; count++)
      statuses.push((await get("/api/sessions", { headers: bearer(`guess-${count}`) })).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    const refused = await get("/api/sessions", { headers: bearer("once-more") });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await get("/api/sessions", { headers: bearer(TOKENS.read) })).status).toBe(200);
    expect((await get("/api/sessions")).status).toBe(401);
  });

  it("takes tokens from variables, and does not start when one is not set or too short", async () => {
    const auth = { token: `\${${"THE_TOKEN"}}` };
    const set = await startTestGateway({ gateway: { auth } }, undefined, { THE_TOKEN: OWN });
    expect((await set.get("/api/sessions", { headers: bearer(OWN) })).status).toBe(200);
    await expect(startTestGateway({ gateway: { auth } })).rejects.toThrow(
      "gateway.auth.token names THE_TOKEN, which is not set",
    );
    const short = startTestGateway({ gateway: { auth } }, undefined, { THE_TOKEN: "short" });
    await expect(short).rejects.toThrow("must have at least 16 characters");
  });
});

describe("a token in an address", () => {
  it("is one where clients of Google's API have their key, and is passed on to nobody", async () => {
    const heard: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      heard.push(url);
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const google = {
      ...{ baseUrl: `http://127.0.0.1:${port}/v1beta`, api: "google-generative-ai" },
      models: [{ id: "model", contextWindow: 32_000 }],
    };
    const { get } = await startTestGateway({
      gateway: { auth: { token: OWN } },
      models: { providers: { google } },
      door: { upstreams: { "google-generative-ai": { key: "client" } } },
    });
    const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }] });
    const ask = async (query: string) =>
      (await get(`/v1beta/models/model:generateContent${query}`, { method: "POST", body })).status;
    expect(await ask("?key=another-word-of-16")).toBe(401);
    expect(await ask(`?key=${OWN}&alt=sse`)).toBe(200);
    expect((await get(`/v1beta/models?key=${OWN}`)).status).toBe(200);
    expect((await get(`/api/sessions?key=${OWN}`)).status).toBe(401);
    expect(heard.join()).not.toContain(OWN);
    expect(heard).toEqual([expect.stringContaining("alt=sse")]);
  });
});

describe("a gateway without tokens", () => {
  it("answers whatever key a client shows, so that one of another api works as it is", async () => {
    const { get } = await startTestGateway();
    for (const headers of [bearer("sk-of-some-api"), { "x-api-key": "sk-ant" }])
      for (let count = 0; count < 15; count++)
        expect((await get("/api/sessions", { headers })).status).toBe(200);
  });

  it("is stopped by nobody but the person of its home", async () => {
    const { get } = await startTestGateway({ gateway: { auth: { token: OWN } } });
    const anybody = await startTestGateway();
    expect((await anybody.get("/api/stop", { method: "POST" })).status).toBe(403);
    const stop = (query: string) =>
      get(`/api/stop${query}`, { method: "POST", headers: bearer(OWN) });
    expect((await stop("?grace=soon")).status).toBe(400);
    expect((await stop("?grace=-1")).status).toBe(400);
    // This one ends with the test.
    expect((await stop("?grace=1")).status).toBe(404);
  });

  it("refuses more requests of one address than the settings allow, and says for how long", async () => {
    const { get, home } = await startTestGateway({ gateway: { limits: { requestsPerMinute: 3 } } });
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await get("/api/sessions"));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const { error } = (await answers[3]!.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("RATE_LIMITED");
    expect(error.message).toContain("gateway.limits.requestsPerMinute");
    expect((await clew(home, ["plugins", "reload"])).code).toBe(0);
  });

  it("has every answer taken for what it says it is, and shown to no other site", async () => {
    const { get } = await startTestGateway();
    for (const path of ["/", "/api/sessions", "/api/nothing", "/nothing"]) {
      const { headers } = await get(path);
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
      expect(headers.get("cross-origin-resource-policy"), path).toBe("same-origin");
      expect(headers.get("referrer-policy"), path).toBe("no-referrer");
      expect(headers.get("cache-control"), path).toMatch(/no-store|no-cache/);
    }
  });
});

describe("a gateway that is open to its networks", () => {
  it("has a token, or is not configured that way", async () => {
    await expect(startTestGateway({ gateway: { bind: "lan" } })).rejects.toThrow(
      'must be "loopback" as long as gateway.auth has no token',
    );
    const { url } = await startTestGateway({ gateway: { bind: "lan", auth: AUTH } });
    expect((await fetch(`${url}/api/sessions`)).status).toBe(401);
    const port = Number(new URL(url).port);
    const headers = { ...bearer(OWN), host: `192.0.2.7:${port}` };
    expect(await statusOf({ port, headers })).toBe(200);
    expect(await statusOf({ port, headers: { ...headers, host: `evil.example:${port}` } })).toBe(
      403,
    );
  });
});

/** With headers that fetch does not let one set. */
function statusOf({ port, headers }: { port: number; headers: Record<string, string> }) {
  return new Promise<number>((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path: "/api/sessions", headers, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

describe("an address elsewhere", () => {
  const wrong: Caller = { as: "anybody", hasFailed: true };
  const right: Caller = {
    as: "token",
    token: { name: "own", text: OWN, scope: "admin", isOwn: true },
  };
  const asked = { method: "GET", path: "/api/sessions", isPublic: false };

  it("that showed ten wrong tokens in a minute is not heard, whatever it shows, until that is over", () => {
    let time = 0;
    const now = () => time;
    const options = {
      needsToken: true,
      requests: createRates({ perMinute: 0, now }),
      failures: createRates({ perMinute: 10, now }),
    };
    const from = (caller: Caller, address: string) =>
      admit(caller, { ...asked, address }, options).kind;
    for (let count = 0; count < 10; count++) expect(from(wrong, "192.0.2.7")).toBe("unknown");
    expect(from(right, "192.0.2.7")).toBe("too-often");
    expect(from(right, "192.0.2.8")).toBe("heard");
    time = 60_000;
    expect(from(right, "192.0.2.7")).toBe("heard");
  });

  it("is forgotten when ten thousand others came since, so that nobody fills the memory", () => {
    const rates = createRates({ perMinute: 1 });
    for (let count = 0; count < 20_000; count++) rates.add(String(count));
    expect(rates.waitOf("0")).toBe(0);
    expect(rates.waitOf("19999")).toBeGreaterThan(0);
  });
});

describe("a token", () => {
  it("is read from the headers that may hold one, and compared as a whole", () => {
    const headers: Record<string, string> = {
      ...{ authorization: "bearer  one", "x-api-key": "two", "x-goog-api-key": "", cookie: "no" },
    };
    expect(shownTokens((name) => headers[name])).toEqual(["one", "two"]);
    expect(shownTokens(() => undefined)).toEqual([]);
    const { find } = knownTokens([{ name: "own", text: OWN, scope: "admin", isOwn: true }]);
    for (const wrong of ["", OWN.slice(1), `${OWN} `, OWN.toUpperCase(), "x".repeat(100_000)])
      expect(find([wrong])).toBeUndefined();
    expect(find(["no", OWN])?.name).toBe("own");
    expect(find(["1", "2", "3", "4", "5", OWN])).toBeUndefined();
  });

  it("for the person is needed for whatever nobody thought of", () => {
    const asked: [string, string][] = [
      ...(["PUT", "PATCH", "DELETE", "POST", "OPTIONS"] as const).map(
        (method): [string, string] => [method, "/api/something"],
      ),
      ["POST", "/api/sessions/main"],
      ["POST", "/v10/messages"],
      ["DELETE", "/api/sessions/main"],
    ];
    for (const [method, path] of asked) expect(neededScope({ method, path })).toBe("admin");
  });
});
