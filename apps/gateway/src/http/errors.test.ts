import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { ContextEngineError, ERROR_CODES } from "@clew/plugin-sdk/core";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { describe, expect, it } from "vitest";
import { exitCodeOf } from "../terminal/exit-codes.ts";
import { clew } from "../testing/command.ts";
import { post, startTestGateway } from "../testing/gateway.ts";
import { errorHandler, HTTP_STATUS } from "./errors.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** Sends a body of its own length or none, and reads the answer while it sends. */
function send(
  url: string,
  { headers, bytes }: { headers: Record<string, string>; bytes: number },
): Promise<{ status: number; body: { error: { code: string; message: string } } }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (response) => {
      let text = "";
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => {
        sent.destroy();
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      });
    });
    sent.on("error", reject);
    if (bytes === 0) sent.flushHeaders();
    else sent.end(Buffer.alloc(bytes, "x"));
  });
}

describe("an error over HTTP", () => {
  it.each([
    ["/v1/chat/completions", { error: { message: "full", type: "server_error" } }],
    ["/v1/responses", { error: { message: "full", type: "server_error" } }],
    ["/v1/messages", { type: "error", error: { type: "api_error", message: "full" } }],
    ["/v1beta/models/clew:generateContent", { error: { code: 507, message: "full" } }],
    ["/api/sessions", { error: { code: "STORAGE_FAILED", message: "full" } }],
  ])("that a route throws at %s is told as its clients read errors", async (path, body) => {
    const app = new Hono();
    app.onError(errorHandler({ error() {} }));
    app.post("*", () => {
      throw new ContextEngineError("STORAGE_FAILED", "full");
    });
    const answer = await app.request(path, { method: "POST" });
    expect(answer.status).toBe(507);
    expect(await answer.json()).toMatchObject(body);
  });

  it.each([
    { name: "declared", headers: { "content-length": "5000000000" }, bytes: 0 },
    { name: "sent in pieces", headers: { "transfer-encoding": "chunked" }, bytes: MAX_BYTES + 1 },
  ])(
    "is 413 in the house's form for a body that is too large ($name), and no failure of the gateway",
    async ({ headers, bytes }) => {
      const { url, home } = await startTestGateway();
      const answer = await send(`${url}/api/sessions/main/messages`, {
        headers: { "content-type": "application/json", ...headers },
        bytes,
      });
      expect(answer).toMatchObject({ status: 413, body: { error: { code: "BODY_TOO_LARGE" } } });
      expect(answer.body.error.message).toContain("32 MiB");
      expect(await readFile(join(home, "logs/gateway.log"), "utf8").catch(() => "")).not.toContain(
        "failed",
      );
    },
  );

  it.each([
    ["api/plugins/reload", 200],
    ["api/nothing", 404],
    ["api/approvals/nope/once", 403],
    ["api/sessions/main/abort", 200],
  ])(
    "is what it is with a body, where a POST has none and tells no length: %s",
    async (path, status) => {
      const { url } = await startTestGateway();
      const { port } = new URL(url);
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(
        `POST /${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
      );
      expect(await textOf(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    },
  );

  it("is none for a message whose body comes in pieces", async () => {
    const { url } = await startTestGateway();
    const pieces = Readable.toWeb(Readable.from([Buffer.from('{"text":'), Buffer.from('"hi"}')]));
    const answer = await fetch(`${url}/api/sessions/main/messages`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      ...({ body: pieces, duplex: "half" } as RequestInit),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("done")]);
  });

  it("is never 500 for what the HTTP library refuses, and logged with a text when it is ours", async () => {
    const lines: string[] = [];
    const app = new Hono();
    app.onError(errorHandler({ error: (line) => void lines.push(line) }));
    app.get("/library/:status", (context) => {
      throw new HTTPException(Number(context.req.param("status")) as 400);
    });
    app.get("/stopping", () => {
      throw new ContextEngineError("GATEWAY_STOPPING", "The gateway is stopping; send it again.");
    });
    app.get("/bug", () => {
      throw new TypeError();
    });
    for (const [status, code] of [
      [413, "BODY_TOO_LARGE"],
      [404, "NOT_FOUND"],
      [401, "UNAUTHORIZED"],
      [431, "REQUEST_INVALID"],
    ] as const) {
      const refused = await app.request(`/library/${status}`);
      expect([refused.status, await refused.json()]).toMatchObject([
        HTTP_STATUS[code],
        { error: { code, message: expect.stringMatching(/\w/) } },
      ]);
    }
    expect((await app.request("/stopping")).status).toBe(503);
    expect(lines).toEqual([]);
    const trouble = await app.request("/library/503");
    expect([trouble.status, await trouble.json()]).toMatchObject([
      500,
      { error: { code: "INTERNAL" } },
    ]);
    expect(lines.splice(0)).toEqual(["GET /library/503 failed: Error"]);
    const failed = await app.request("/bug");
    expect([failed.status, await failed.json()]).toMatchObject([
      500,
      { error: { code: "INTERNAL" } },
    ]);
    expect(lines).toEqual(["GET /bug failed: TypeError"]);
  });

  it.each([
    { what: "there is no such session", name: "nobody", code: "SESSION_NOT_FOUND", exit: 1 },
    { what: "that names no session", name: "agent:x", code: "SESSION_NAME_INVALID", exit: 2 },
  ] as const)("has the same code as in the terminal when $what", async ({ name, code, exit }) => {
    const { get, home } = await startTestGateway();
    const answer = await get(`/api/sessions/${encodeURIComponent(name)}`);
    expect([answer.status, await answer.json()]).toMatchObject([
      HTTP_STATUS[code],
      { error: { code } },
    ]);
    for (const command of ["show", "compact"])
      expect(await clew(home, ["sessions", command, name])).toMatchObject({
        code: exit,
        errors: expect.stringContaining(`[${code}]`),
      });
  });

  it("tells a body that is no message from a plugin action that is not there", async () => {
    const { get } = await startTestGateway();
    const codeOf = async (path: string) =>
      ((await (await get(path, post({}))).json()) as { error: { code: string } }).error.code;
    expect(await codeOf("/api/sessions/main/messages")).toBe("REQUEST_INVALID");
    expect(await codeOf("/api/plugins/none/actions/none")).toBe("PLUGIN_NOT_FOUND");
  });

  it.each<[string, string]>([
    ["{", "the body must be a JSON object"],
    ["[]", "the body must be a JSON object"],
    ["{}", "`text` or `content` has to say something"],
    ['{"text":" "}', "`text` or `content` has to say something"],
    ['{"content":[]}', "`text` or `content` has to say something"],
    ['{"content":[{"type":"text","text":" "}]}', "`text` or `content` has to say something"],
    ['{"text":"a","onDisconnect":"x"}', 'onDisconnect: must be "continue" or "abort"'],
    ['{"text":"a","whenBusy":"later"}', 'whenBusy: must be "follow", "steer" or "refuse"'],
    ['{"text":"a","idempotencyKey":7}', "idempotencyKey: must be a text of 1 to 256 characters"],
    ['{"text":"a","idempotencyKey":"k\\ud800"}', "no half of an emoji"],
    ['{"text":"a","idempotencyKey":"k\\u0000"}', "none of them NUL"],
  ])("says in one sentence what is wrong with the body %s", async (body, problem) => {
    const { get } = await startTestGateway();
    const headers = { "content-type": "application/json" };
    const answer = await get("/api/sessions/main/messages", { method: "POST", headers, body });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("REQUEST_INVALID");
    expect(error.message).toMatch(/^The message cannot be sent: [^\n]*\.$/);
    expect(error.message).toContain(problem);
  });

  it("closes a connection on which it did not read all of a body", async () => {
    const { get } = await startTestGateway({ gateway: { limits: { bodyBytes: 65_536 } } });
    const answer = await get("/api/sessions/main/messages", post({ text: "x".repeat(100_000) }));
    expect(answer.status).toBe(413);
    expect(answer.headers.get("connection")).toBe("close");
  });

  it("calls a session that is not there the same at every address", async () => {
    const { get } = await startTestGateway();
    for (const below of ["", "/context", "/context/messages/0"])
      expect(await (await get(`/api/sessions/nope${below}`)).json()).toMatchObject({
        error: { code: "SESSION_NOT_FOUND" },
      });
  });
});

describe("docs/errors.md", () => {
  const text = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8");

  it("tells the HTTP status and the exit code each error really has", () => {
    const documented = [...text.matchAll(/^## (\w+)\n[\s\S]*?^HTTP (\d+) · exit code (\d)$/gm)].map(
      ([, code, status, exit]) => ({ code, status: Number(status), exit: Number(exit) }),
    );
    expect(documented).toEqual(
      ERROR_CODES.map((code) => ({
        code,
        status: HTTP_STATUS[code],
        exit: exitCodeOf(new ContextEngineError(code, "x")),
      })),
    );
  });

  it("tells the codes of the HTTP API alone", () => {
    const documented = [...text.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(documented).toEqual(
      Object.entries(HTTP_STATUS).filter(([code]) => !ERROR_CODES.some((each) => each === code)),
    );
  });
});
