import { getEventListeners } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { gzipSync } from "node:zlib";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { RetryNotice } from "./shared/retry.ts";
import { completeModel, type StreamModelOptions, streamModel } from "./stream.ts";
import { createOpenAIEmulator } from "./testing/emulators.ts";
import type { Emulator, EmulatorOptions } from "./testing/server/options.ts";

const servers: Pick<Emulator, "close">[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function emulator(options: EmulatorOptions<never> = {}): Promise<Emulator> {
  const server = await createOpenAIEmulator(options);
  servers.push(server);
  return server;
}

function call(options: Partial<ModelCall> = {}): ModelCall {
  return {
    model: {
      provider: "local",
      api: "openai-completions",
      id: "m",
      contextWindow: 8000,
      maxOutputTokens: 1000,
    },
    systemPrompt: "Be brief.",
    messages: [{ role: "user", content: "hi" }],
    tools: [],
    signal: new AbortController().signal,
    ...options,
  };
}

type Settings = Partial<StreamModelOptions> & {
  baseUrl: string;
  onEvent?: (event: StreamEvent) => void;
};
const quick = { baseDelayMs: 1 };

async function gather({ baseUrl, onEvent, ...settings }: Settings): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of streamModel({
    call: call(),
    endpoint: { baseUrl },
    retry: quick,
    ...settings,
  })) {
    events.push(event);
    onEvent?.(event);
  }
  const finals = events.filter(({ type }) => type === "done" || type === "error");
  expect(finals).toEqual([events.at(-1)]);
  return events;
}

/** Base URL of a server that answers by hand. */
async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push({
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const HALF = 'data: {"choices":[{"delta":{"content":"Half"}}]}\n\n';

/** A fetch whose answer's body holds `text` and never ends. */
const openBody = (text: string) => async () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    }),
  );

describe("streamModel over a real connection", () => {
  it("streams text, thinking and calls, and ends with the message", async () => {
    const server = await emulator({
      answers: [
        {
          thinking: "hm",
          text: "Hello there",
          toolCalls: [{ id: "c1", name: "read", arguments: { path: "a" } }],
          chunkChars: 4,
          usage: { prompt: 10, completion: 5 },
        },
      ],
    });
    const events = await gather(server);
    expect(events.filter(({ type }) => type === "text")).toEqual(
      ["Hell", "o th", "ere"].map((delta) => ({ type: "text", delta })),
    );
    expect(events.at(-1)).toMatchObject({
      type: "done",
      message: {
        stopReason: "toolUse",
        content: [
          { thinking: "hm" },
          { text: "Hello there" },
          { id: "c1", name: "read", arguments: { path: "a" } },
        ],
        usage: { input: 10, output: 5 },
      },
    });
    expect(server.violations).toEqual([]);
  });

  it("completes the same call in one go", async () => {
    const server = await emulator({ answers: [{ text: "ok" }, { fault: "status", status: 401 }] });
    const complete = () => completeModel({ call: call(), endpoint: server });
    expect(await complete()).toMatchObject({ ok: true, message: { content: [{ text: "ok" }] } });
    expect(await complete()).toMatchObject({
      ok: false,
      error: { kind: "auth", status: 401 },
      partial: { stopReason: "error", content: [] },
    });
  });

  it("tries again after 500 and 429, and tells of each wait", async () => {
    const server = await emulator({
      answers: [
        { fault: "status", status: 500 },
        { fault: "status", status: 429, headers: { "retry-after": "0" } },
        { text: "ok" },
      ],
    });
    const notices: RetryNotice[] = [];
    const events = await gather({ ...server, onRetry: (notice) => notices.push(notice) });
    expect(events.at(-1)?.type).toBe("done");
    expect(notices).toMatchObject([
      { retry: 1, error: { kind: "unavailable", status: 500 } },
      { retry: 2, delayMs: 0, error: { kind: "rate_limited", retryAfterMs: 0 } },
    ]);
  });

  it("does not try again where the call is told why not, and says so", async () => {
    const server = await emulator({ answers: [{ fault: "status", status: 503 }] });
    const told: object[] = [];
    const onRetry = async (retry: object) => {
      told.push(retry);
      return told.length === 2 ? "Enough was paid." : undefined;
    };
    expect((await gather({ ...server, call: call({ onRetry }) })).at(-1)).toMatchObject({
      type: "error",
      error: {
        kind: "overloaded",
        message: expect.stringMatching(/ It was not tried again: Enough was paid\.$/),
      },
    });
    expect(told).toMatchObject([
      { error: { kind: "overloaded" }, delayMs: expect.any(Number) },
      { error: { kind: "overloaded" }, delayMs: expect.any(Number) },
    ]);
    expect(server.requests).toHaveLength(2);
  });

  it("gives up after two retries", async () => {
    const server = await emulator({ answers: [{ fault: "status", status: 503 }] });
    expect((await gather(server)).at(-1)).toMatchObject({
      type: "error",
      error: { kind: "overloaded", status: 503 },
    });
    expect(server.requests).toHaveLength(3);
  });

  it("is as patient as the call says", async () => {
    const server = await emulator({ answers: [{ fault: "status", status: 503 }] });
    await gather({ ...server, call: { ...call(), maxRetries: 0 } });
    expect(server.requests).toHaveLength(1);
  });

  it("does not wait for a provider that asks for too long", async () => {
    const server = await emulator({
      answers: [{ fault: "status", status: 429, headers: { "retry-after": "3600" } }],
    });
    expect((await gather(server)).at(-1)).toMatchObject({
      error: { kind: "rate_limited", retryAfterMs: 3_600_000 },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("tells an overflow with the provider's count, by code and by 413", async () => {
    const server = await emulator({
      answers: [
        { fault: "overflow", window: 4096, observedTokens: 5000 },
        { fault: "status", status: 413, body: "" },
      ],
    });
    expect((await gather(server)).at(-1)).toMatchObject({
      error: { kind: "overflow", status: 400, observedTokens: 5000 },
    });
    expect((await gather(server)).at(-1)).toMatchObject({
      error: { kind: "overflow", status: 413 },
    });
    expect(server.requests).toHaveLength(2);
  });

  it("takes a reply for an overflow when its usage says that the prompt did not fit", async () => {
    const server = await emulator({
      answers: [
        { text: "sure", usage: { prompt: 8001, completion: 2 } },
        { text: "", finishReason: "length", usage: { prompt: 7990, completion: 0 } },
        { text: "sure", usage: { prompt: 8000, completion: 2 } },
      ],
    });
    expect((await gather(server)).at(-1)).toMatchObject({
      error: { kind: "overflow", observedTokens: 8001 },
      partial: { stopReason: "error", content: [{ text: "sure" }] },
    });
    expect((await gather(server)).at(-1)).toMatchObject({
      error: { kind: "overflow", observedTokens: 7990 },
    });
    expect((await gather(server)).at(-1)).toMatchObject({ type: "done" });
  });

  it("keeps what had arrived when the connection breaks, and does not try again", async () => {
    const server = await emulator({ answers: [{ fault: "cut", text: "Half" }] });
    expect((await gather(server)).at(-1)).toMatchObject({
      error: { kind: "network" },
      partial: {
        stopReason: "error",
        content: [{ text: "Half" }],
        errorMessage: expect.stringContaining("broke off"),
      },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("counts a clean end without a final event as a failed turn", async () => {
    const server = await emulator({ answers: [{ fault: "unfinished", text: "Half" }] });
    expect((await gather(server)).at(-1)).toMatchObject({
      error: { kind: "invalid_response" },
      partial: { content: [{ text: "Half" }] },
    });
  });

  it("gives up on a silent provider, before and within the answer", async () => {
    const server = await emulator({ answers: [{ fault: "hang" }] });
    expect((await gather({ ...server, idleTimeoutMs: 50 })).at(-1)).toMatchObject({
      error: { kind: "timeout" },
      partial: { content: [] },
    });
    // Not tried again; on a busy machine it had not even arrived.
    expect(server.requests.length).toBeLessThanOrEqual(1);
    const silent = { baseUrl: "http://silent/v1", fetch: openBody(HALF) };
    expect((await gather({ ...silent, idleTimeoutMs: 50 })).at(-1)).toMatchObject({
      error: { kind: "timeout" },
      partial: { content: [{ text: "Half" }] },
    });
  });

  it("reads no more of an answer than is allowed, whatever it says, and keeps what had arrived", async () => {
    let cancelled = false;
    const comments = new TextEncoder().encode(`: ${"x".repeat(1000)}\n\n`);
    const endless = async () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode(HALF)),
          pull: (controller) => controller.enqueue(comments),
          cancel: () => {
            cancelled = true;
          },
        }),
      );
    const answerLimit = { bytes: 64 * 1024, setting: "the limit" };
    const events = await gather({ baseUrl: "http://endless/v1", fetch: endless, answerLimit });
    expect(events.at(-1)).toMatchObject({
      error: {
        kind: "invalid_response",
        message: expect.stringContaining(
          "sent more than 64 KiB in one answer, so it was not read on; see what that server sends, or raise the limit.",
        ),
      },
      partial: { content: [{ text: "Half" }], stopReason: "error" },
    });
    expect(cancelled).toBe(true);
  });

  it("stops at once when aborted within the answer, with what had arrived", async () => {
    const server = await emulator({ answers: [{ fault: "hang", text: "Half" }] });
    const controller = new AbortController();
    const events: StreamEvent[] = [];
    for await (const event of streamModel({
      call: call({ signal: controller.signal }),
      endpoint: server,
    })) {
      events.push(event);
      if (event.type === "text") controller.abort();
    }
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { kind: "aborted" },
      partial: { stopReason: "aborted", content: [{ text: "Half" }] },
    });
  });

  it("stops at once when aborted before the answer, during a retry's wait, and before the call", async () => {
    const waiting = new AbortController();
    const server = await emulator({
      answers: (_request, index) => {
        if (index > 0) return { fault: "status", status: 500 };
        setImmediate(() => waiting.abort());
        return { fault: "hang" };
      },
    });
    expect(await gather({ ...server, call: call({ signal: waiting.signal }) })).toMatchObject([
      { error: { kind: "aborted" } },
    ]);
    const retrying = new AbortController();
    const slow = {
      ...server,
      retry: { baseDelayMs: 60_000, maxDelayMs: 60_000 },
      onRetry: () => retrying.abort(),
    };
    expect(await gather({ ...slow, call: call({ signal: retrying.signal }) })).toMatchObject([
      { error: { kind: "aborted", unsent: true } },
    ]);
    expect(await gather({ ...server, call: call({ signal: AbortSignal.abort() }) })).toMatchObject([
      { error: { kind: "aborted", unsent: true } },
    ]);
    expect(server.requests).toHaveLength(2);
  });

  it("waits for no more of an error than says what it is, however slowly it comes", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(503, { "content-type": "application/json" });
      response.flushHeaders();
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const retry = { maxRetries: 0 };
    const asked = { baseUrl: `http://127.0.0.1:${port}/v1`, idleTimeoutMs: 300, retry };
    expect((await gather(asked)).at(-1)).toMatchObject({
      error: { kind: "overloaded", status: 503 },
    });
  });

  it("does not hang on a fetch that ignores its signal", async () => {
    const controller = new AbortController();
    const stuck = () => {
      setImmediate(() => controller.abort());
      return new Promise<Response>(() => {});
    };
    expect(
      await gather({
        baseUrl: "http://stuck/v1",
        fetch: stuck,
        call: call({ signal: controller.signal }),
      }),
    ).toMatchObject([{ error: { kind: "aborted" } }]);
  });

  it("does not hang on a body that ignores the signal, nor on one that stays open after its end", async () => {
    const controller = new AbortController();
    const aborted = await gather({
      baseUrl: "http://stuck/v1",
      fetch: openBody(HALF),
      call: call({ signal: controller.signal }),
      onEvent: ({ type }) => type === "text" && controller.abort(),
    });
    expect(aborted.at(-1)).toMatchObject({
      error: { kind: "aborted" },
      partial: { content: [{ text: "Half" }] },
    });
    const whole = `${HALF}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
    expect((await gather({ baseUrl: "http://open/v1", fetch: openBody(whole) })).at(-1)?.type).toBe(
      "done",
    );
  });

  it("leaves nothing on the caller's signal, which may live as long as a session", async () => {
    const server = await emulator({
      answers: [{ text: "ok" }, { fault: "status", status: 401 }, { fault: "cut", text: "Half" }],
    });
    const { signal } = new AbortController();
    for (let index = 0; index < 3; index++) await gather({ ...server, call: call({ signal }) });
    await gather({ baseUrl: "nonsense", call: call({ signal }) });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("lets the connection go when the caller stops reading", async () => {
    let closed: (() => void) | undefined;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) =>
        controller.enqueue(
          new TextEncoder().encode('data: {"choices":[{"delta":{"content":"x"}}]}\n\n'),
        ),
      cancel: () => closed?.(),
    });
    const fetch = async () =>
      new Response(body, { headers: { "content-type": "text/event-stream" } });
    for await (const event of streamModel({
      call: call(),
      endpoint: { baseUrl: "http://endless/v1" },
      fetch,
    }))
      if (event.type === "text") break;
    await gone;
  });

  it("goes by the same connection as the call before, whose answer ended after its last event", async () => {
    const ports: (number | undefined)[] = [];
    const server = await listening((request, response) => {
      ports.push(request.socket.remotePort);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`${HALF}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`);
      response.write("data: [DONE]\n\n", () => setTimeout(() => response.end("\n"), 20));
    });
    const goneTwice = async () => {
      expect((await gather({ baseUrl: server })).at(-1)).toMatchObject({ type: "done" });
      return ports.length - new Set(ports).size;
    };
    await expect.poll(goneTwice, { timeout: 5000 }).toBeGreaterThan(0);
  });

  it("waits for no end that does not come", async () => {
    let gone = 0;
    const server = await listening((request, response) => {
      request.socket.once("close", () => gone++);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`${HALF}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`);
      response.write("data: [DONE]\n\n");
    });
    expect((await gather({ baseUrl: server })).at(-1)).toMatchObject({ type: "done" });
    await expect.poll(() => gone, { timeout: 10_000 }).toBe(1);
  });

  it("says in one sentence where nothing listens and what to do", async () => {
    const probe = createTcpServer();
    const port = await new Promise<number>((resolve) =>
      probe.listen(0, "127.0.0.1", () => {
        const address = probe.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      }),
    );
    await new Promise((resolve) => probe.close(resolve));
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const events = await gather({ baseUrl });
    expect(events).toMatchObject([
      {
        error: {
          kind: "network",
          message: `${baseUrl} refused the connection (ECONNREFUSED); start the model server there or correct the base URL.`,
        },
      },
    ]);
  });

  it("answers an address that is none, and an unknown api, with an error event", async () => {
    expect(await gather({ baseUrl: "nonsense" })).toMatchObject([
      { type: "error", error: { kind: "not_found" } },
    ]);
    const model = { ...call().model, api: "telepathy" };
    expect(await gather({ baseUrl: "", call: call({ model }) })).toMatchObject([
      {
        error: { kind: "invalid_request", message: expect.stringContaining("openai-completions") },
      },
    ]);
  });

  it("says where a redirect led, with its path and without its query", async () => {
    const server = await listening((_request, response) => {
      response.writeHead(302, { location: "/login?token=sk-secret-key-1" }).end();
    });
    const [event] = await gather({ baseUrl: server });
    expect(event).toMatchObject({
      error: { message: expect.stringContaining(`sent the request on to ${server}/login (302)`) },
    });
    expect(JSON.stringify(event)).not.toContain("secret");
  });

  it("says that an answer cannot be unpacked, and does not ask again", async () => {
    let asked = 0;
    const server = await listening((_request, response) => {
      asked++;
      response.writeHead(200, { "content-encoding": "gzip" }).end("data: {}");
    });
    expect((await gather({ baseUrl: server })).at(-1)).toMatchObject({
      type: "error",
      error: {
        kind: "invalid_response",
        message: expect.stringContaining("an answer that cannot be unpacked"),
      },
    });
    expect(asked).toBe(1);
  });

  it("names the setting that allows a silent server more time", async () => {
    const server = await listening(() => {});
    const options = { idleTimeoutMs: 50, idleSetting: "the setting" };
    expect((await gather({ baseUrl: server, ...options })).at(-1)).toMatchObject({
      error: { kind: "timeout", message: expect.stringContaining("more time with the setting.") },
    });
  });

  it("never follows a redirect, which would hand the key to somebody else", async () => {
    const seen: unknown[] = [];
    const thief = await listening((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const server = await listening((_request, response) => {
      response.writeHead(307, { location: `${thief}/v1/steal` }).end();
    });
    const [event] = await gather({
      baseUrl: server,
      endpoint: { baseUrl: server, apiKey: "sk-secret-key-1" },
    });
    expect(event).toMatchObject({
      type: "error",
      error: { kind: "not_found", status: 307, message: expect.stringContaining(thief) },
    });
    expect(JSON.stringify(event)).not.toContain("secret");
    expect(seen).toEqual([]);
  });

  it("stops reading an answer that is too large, however small it was packed", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "data: {}\n\n"));
    const server = await listening((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    const answerLimit = { bytes: 1_000_000, setting: "the limit" };
    expect((await gather({ baseUrl: server, answerLimit })).at(-1)).toMatchObject({
      type: "error",
      error: { kind: "invalid_response", message: expect.stringContaining("976 KiB") },
    });
  });

  it("ends an answer that goes on and on, though it is never silent", async () => {
    const server = await listening((_request, response) => {
      const drip = setInterval(() => response.write(": still here\n\n"), 2);
      response.on("close", () => clearInterval(drip));
    });
    const events = await gather({ baseUrl: server, idleTimeoutMs: 5000, maxDurationMs: 60 });
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { kind: "timeout", message: expect.stringContaining("0.06 s") },
    });
  });

  it("tells of a request that breaks the wire's rules as the server does", async () => {
    const server = await emulator();
    const messages = [
      {
        role: "toolResult" as const,
        toolCallId: "x",
        toolName: "read",
        content: [],
        isError: false,
      },
    ];
    expect((await gather({ ...server, call: call({ messages }) })).at(-1)).toMatchObject({
      error: { kind: "pairing", status: 400 },
    });
    expect(server.violations).toMatchObject([{ rule: "tool.orphan" }]);
  });
});
