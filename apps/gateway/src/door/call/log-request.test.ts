// Asks at the door of a gateway and reads what its log says of that.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { expect, it, onTestFinished } from "vitest";
import { ask, person } from "../../testing/door-client.ts";
import { emulatedModel, post, startTestGateway } from "../../testing/gateway.ts";
import { obey } from "../../testing/obedient-model.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { startUpstream } from "../testing/upstream.ts";
import { levelOf } from "./log-request.ts";

it("each request at the door has a line of the log, by client, session, wire and outcome", async () => {
  const server = await createOpenAIEmulator({ answers: obey });
  onTestFinished(() => server.close());
  const { home, gateway, get } = await startTestGateway(emulatedModel(server.baseUrl));
  const headers = { "user-agent": "agent/1 (of some kind)" };
  const api = "openai-completions";
  await ask({ get }, api, [person("one")], { session: "work", headers });
  await ask({ get }, api, [person("two")], { model: "emulated", headers });
  await gateway.door.settled();
  await ask({ get }, api, [person("FAIL")], { session: "work", headers });
  const text = await readFile(join(home, "logs/gateway.log"), "utf8");
  const lines = text
    .split("\n")
    .filter((line) => line.includes("request at the door"))
    .map((line) => JSON.parse(line) as object);
  const by = { client: "agent/1", wire: api, durationMs: expect.any(Number) };
  const tokens = { inputTokens: expect.any(Number), outputTokens: expect.any(Number) };
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ ...by, ...tokens, sessionKey: "agent:main:work", model: "clew", kind: "session" },
      outcome: "completed",
    }),
    expect.objectContaining({
      ...{ ...by, ...tokens, sessionKey: expect.stringMatching(/^agent:main:chat-/) },
      ...{ model: "emulated/emulated", kind: "turn", outcome: "completed" },
    }),
    expect.objectContaining({ ...by, sessionKey: "agent:main:work", outcome: "failed" }),
  ]);
  expect(text).not.toContain("heard: one");
});

const API = "openai-completions";

async function linesOf(home: string) {
  const text = await readFile(join(home, "logs/gateway.log"), "utf8");
  return text
    .split("\n")
    .filter((line) => line.includes("request at the door"))
    .map((line) => JSON.parse(line) as { level: string; msg: string });
}

it("a request that fails has a warning with what its client was told, why, and no key", async () => {
  const upstream = await startUpstream((_heard, response) =>
    response
      .writeHead(500, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: "boom for sk-abcdefghijklmnop1234" } })),
  );
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream, {
    window: 4000,
    settings: { agents: { defaults: { model: "chat/model" } } },
  });
  await ask(door, API, [person("one")], { model: "model" });
  await ask(door, API, [person("one")], { session: "work" });
  await ask(door, API, [person("much ".repeat(9000))], { model: "model" });
  await door.gateway.door.settled();
  const by = { level: "warn", wire: API };
  const boom =
    /^request at the door failed: Model provider "chat" .* answered 500: boom for \[key\]/;
  expect(await linesOf(door.home)).toEqual([
    expect.objectContaining({
      ...{ ...by, status: 500, failure: "unavailable", kind: "turn" },
      msg: expect.stringMatching(boom),
    }),
    expect.objectContaining({
      ...{ ...by, status: 502, failure: "unavailable", kind: "session" },
      msg: expect.stringMatching(boom),
    }),
    expect.objectContaining({
      ...{ ...by, status: 400, failure: "overflow" },
      msg: expect.stringContaining("failed: The request does not fit into the model's window"),
    }),
  ]);
});

it("a request that is refused before it has a session has a line that says why", async () => {
  const upstreams = { [API]: { provider: "nobody" } };
  const { home, get } = await startTestGateway({
    ...{ door: { upstreams }, gateway: { limits: { bodyBytes: 70_000 } } },
  });
  const headers = { "user-agent": "agent/1" };
  await ask({ get }, API, [person("one")], { model: "m", headers });
  await get("/v1/chat/completions", { ...post([]), headers });
  await ask({ get }, API, [], { session: "work", headers });
  await ask({ get }, API, [person("x".repeat(80_000))], { model: "m" });
  const lines = await linesOf(home);
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ level: "warn", sessionKey: null, client: "agent/1", wire: API, model: "m" },
      ...{ status: 404, outcome: "refused" },
      msg: expect.stringMatching(/^request at the door refused: Model "nobody\/m" has an unknown/),
    }),
    expect.objectContaining({
      ...{ level: "info", status: 400 },
      msg: "request at the door refused: The body is no JSON object.",
    }),
    expect.objectContaining({
      ...{ level: "info", status: 400, sessionKey: "agent:main:work" },
      msg: expect.stringContaining("refused: There is nothing new in this request"),
    }),
    expect.objectContaining({
      ...{ level: "warn", status: 413 },
      msg: expect.stringContaining("(gateway.limits.bodyBytes of Clew)"),
    }),
  ]);
});

it("only what whoever runs the gateway may have to see to is a warning", () => {
  const failed = (why: object) => levelOf({ outcome: "failed", why });
  for (const failure of ["overflow", "network", "auth", "COST_CAP_REACHED", "CONFIG_INVALID"])
    expect(failed({ failure, status: 400 })).toBe("warn");
  for (const failure of ["invalid_request", "aborted", "REQUEST_INVALID", "BACKLOG_FULL"])
    expect(failed({ failure, status: 500 })).toBe("info");
  expect([failed({ status: 404 }), failed({ status: 502 }), failed({})]).toEqual([
    ...["info", "warn", "warn"],
  ]);
  expect(levelOf({ outcome: "aborted", why: { failure: "network" } })).toBe("info");
  expect(levelOf({ outcome: "completed" })).toBe("info");
});
