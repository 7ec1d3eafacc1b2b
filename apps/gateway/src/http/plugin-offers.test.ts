// What plugins offer to requests from outside, at a gateway that runs.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { clew } from "../testing/command.ts";
import { post } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { startServedGateway, writePlugin } from "../testing/plugins.ts";

const CODE = `export default (api) => {
  const answer = (text) => async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    response.writeHead(201, { "content-type": "text/plain" });
    response.end(text + " " + request.method + " " + request.url + " " + body);
    return true;
  };
  api.registerHttpRoute({ path: "/tide", auth: "plugin", handler: answer("exact") });
  api.registerHttpRoute({ path: "/tide", auth: "plugin", match: "prefix", handler: answer("second") });
  api.registerHttpRoute({ path: "/pool", match: "prefix", auth: "plugin", handler: answer("below") });
  api.registerHttpRoute({ path: "/pool/deep", match: "prefix", auth: "plugin", handler: answer("deep") });
  api.registerHttpRoute({ path: "/mine", auth: "gateway", handler: answer("mine") });
  api.registerHttpRoute({ path: "/not-mine", auth: "plugin", handler: () => false });
  api.registerHttpRoute({ path: "/broken", auth: "plugin", handler() { throw new Error("low water"); } });
  api.registerGatewayMethod("tide.level", ({ params, respond }) => {
    respond(true, { level: params.base + 1 });
    respond(false, undefined, "too late");
  });
  api.registerGatewayMethod("tide.refuse", async ({ respond }) => respond(false, undefined, { code: "DRY" }));
  api.registerGatewayMethod("tide.silent", () => {});
  api.registerGatewayMethod("tide.null", () => { throw null; });
  api.registerGatewayMethod("tide.big", ({ respond }) => respond(true, 1n));
  api.registerGatewayMethod("tide.circle", ({ respond }) => { const a = {}; respond(true, a.a = a); });
  api.registerGatewayMethod("tide.trap", ({ respond }) => respond(true, { toJSON() { throw "sprung"; } }));
  api.registerGatewayMethod("tide.first", ({ respond }) => { respond(true, 1); throw new Error("late"); });
};`;

async function serve() {
  const home = await temporaryHome();
  const folder = writePlugin(join(home, "sources/tide"), { id: "tide", code: CODE });
  const config = {
    gateway: { auth: { token: "a-token-of-the-person" } },
    plugins: { load: { paths: [folder] } },
  };
  const { server, log } = await startServedGateway(config, home);
  const trusted = { authorization: "Bearer a-token-of-the-person" };
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${server.url}${path}`, init);
    return { status: response.status, text: await response.text() };
  };
  const call = async (name: string, params: object, headers: Record<string, string> = trusted) => {
    const init = post({ params });
    const { status, text } = await ask(`/api/plugins/methods/${name}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), ...headers },
    });
    return { status, body: JSON.parse(text) as unknown };
  };
  return { ask, call, trusted, log };
}

describe("an HTTP route of a plugin", () => {
  it("answers at its path, and below it where it says so; the longest wins", async () => {
    const { ask } = await serve();
    expect(await ask("/tide?x=1", { method: "POST", body: "salt" })).toEqual({
      status: 201,
      text: "exact POST /tide?x=1 salt",
    });
    expect((await ask("/pool/a/b")).text).toBe("below GET /pool/a/b ");
    expect((await ask("/pool/deep/c")).text).toBe("deep GET /pool/deep/c ");
    const headers = { authorization: "Bearer a-token-of-the-person" };
    for (const none of ["/pooling", "/tide/x"])
      expect([(await ask(none)).status, (await ask(none, { headers })).status]).toEqual([401, 404]);
  });

  it("is for the person of the home where it says so, whatever proof a stranger makes up", async () => {
    const { ask, trusted } = await serve();
    expect((await ask("/mine")).status).toBe(401);
    expect((await ask("/mine", { headers: { "x-clew-proof": "made up" } })).status).toBe(403);
    expect(await ask("/mine", { headers: trusted })).toEqual({
      status: 201,
      text: "mine GET /mine ",
    });
  });

  it("may pass a request on, and costs no more than its answer when it throws", async () => {
    const { ask, log } = await serve();
    expect((await ask("/not-mine")).status).toBe(404);
    expect(await ask("/broken")).toEqual({
      status: 500,
      text: JSON.stringify({
        error: {
          code: "INTERNAL",
          message: 'Plugin "tide": HTTP route /broken failed: low water, at index.js:15.',
        },
      }),
    });
    expect(log.lines.join()).not.toContain("an error of the gateway itself");
    expect((await ask("/api/health")).status).toBe(200);
  });
});

describe("a method of a plugin", () => {
  it("answers the person by name, and its first answer counts", async () => {
    const { call } = await serve();
    expect(await call("tide.level", { base: 2 })).toEqual({
      status: 200,
      body: { ok: true, payload: { level: 3 } },
    });
    expect(await call("tide.refuse", {})).toEqual({
      status: 400,
      body: { ok: false, error: { code: "DRY" } },
    });
    expect((await call("tide.silent", {})).body).toEqual({
      ok: false,
      error: "method tide.silent gave no answer",
    });
    expect((await call("tide.level", { base: 2 }, {})).status).toBe(401);
    expect((await call("tide.first", {})).body).toEqual({ ok: true, payload: 1 });
    expect((await call("ebb", {})).body).toMatchObject({
      error: {
        message:
          'No plugin offers the method "ebb"; there is: tide.level, tide.refuse, tide.silent, tide.null, tide.big, tide.circle, tide.trap, tide.first.',
      },
    });
  });
});

describe("the body of a method's request", () => {
  it("is an object with params, or nothing; another one is refused, and not taken for nothing", async () => {
    const { ask, trusted } = await serve();
    const send = async (name: string, body: string) => {
      const headers = { ...trusted, "content-type": "application/json" };
      const sent = await ask(`/api/plugins/methods/${name}`, { method: "POST", headers, body });
      return { status: sent.status, body: JSON.parse(sent.text) as object };
    };
    for (const body of [
      "{",
      "[]",
      '""',
      "null",
      "7",
      '{"a":1}',
      '{"params":{},"a":1}',
      '{"params":[]}',
      '{"params":"text"}',
    ])
      expect(await send("tide.level", body), body).toEqual({
        status: 400,
        body: {
          error: {
            code: "REQUEST_INVALID",
            message: `The body of a method's request is { "params": { … } } with what the method is given, or nothing.`,
          },
        },
      });
    for (const body of ["", "{}", '{"params":{}}'])
      expect((await send("tide.silent", body)).body, body).toMatchObject({
        error: "method tide.silent gave no answer",
      });
  });
});

describe("a method whose answer cannot be sent", () => {
  it("is named with the plugin and why, and costs no more than its answer", async () => {
    const { call, log } = await serve();
    for (const [name, why] of [
      ["big", "BigInt"],
      ["circle", "circular"],
      ["trap", "sprung"],
    ])
      expect(await call(`tide.${name}`, {})).toMatchObject({
        status: 400,
        body: {
          error: expect.stringMatching(
            new RegExp(
              `^plugin "tide": method tide.${name} gave an answer that is no JSON: .*${why}`,
            ),
          ),
        },
      });
    expect((await call("tide.null", {})).body).toEqual({
      ok: false,
      error: 'plugin "tide": method tide.null failed: null',
    });
    expect(log.lines.join()).not.toContain("an error of the gateway itself");
  });
});

describe("the example of the author guide", () => {
  it("counts what is said, and tells it by a route, a method and a command", async () => {
    const home = await temporaryHome();
    const example = join(import.meta.dirname, "../plugins/__fixtures__/tally.ts");
    const folder = writePlugin(join(home, "sources/tally"), {
      id: "tally",
      packageJson: { openclaw: { extensions: ["./tally.ts"] } },
      files: { "tally.ts": readFileSync(example, "utf8") },
    });
    // As npm install would put it there.
    mkdirSync(join(folder, "node_modules/@clew"), { recursive: true });
    const sdk = join(import.meta.dirname, "../../../../packages/plugin-sdk");
    symlinkSync(sdk, join(folder, "node_modules/@clew/plugin-sdk"));
    const config = {
      gateway: { auth: { token: "a-token-of-the-person" } },
      plugins: { load: { paths: [folder] } },
    };
    writeFileSync(join(home, "clew.json"), JSON.stringify(config));
    const { server, say, gateway, log } = await startServedGateway(config, home);
    gateway.plugins!.startServices();
    expect(gateway.plugins!.records()).toMatchObject([{ status: "loaded", diagnostics: [] }]);
    const authorization = "Bearer a-token-of-the-person";
    await say("how many are these", {
      headers: { "content-type": "application/json", authorization },
    });
    const told = () => fetch(`${server.url}/plugins/tally`).then((answer) => answer.text());
    await expect.poll(told).toBe("4 words\n");
    const headers = { authorization };
    const asked = await fetch(`${server.url}/api/plugins/methods/tally.words`, {
      ...{ method: "POST", headers },
    });
    expect(await asked.json()).toEqual({ ok: true, payload: { words: 4 } });
    expect(log.lines.join("\n")).toContain("counting words");

    const printed = vi.spyOn(console, "log").mockImplementation(() => {});
    expect((await clew(home, ["tally", "and these three"])).code).toBe(0);
    expect(printed.mock.calls).toEqual([[3]]);
    printed.mockRestore();
  });
});
