// A loopback server that speaks Chat Completions by script.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord } from "@clew/plugin-sdk/host";
import { type ChatReply, replyChunks, replyDocument } from "./chat-reply.ts";
import { checkChatRequest, type Violation } from "./chat-rules/check.ts";
import type { ChatRuleFlavor } from "./chat-rules/rule.ts";

/** What goes wrong instead of a reply. */
export type EmulatorFault =
  /** An HTTP error. The default body is an error object in OpenAI's shape. */
  | { fault: "status"; status: number; headers?: Readonly<Record<string, string>>; body?: string }
  /** 400 with code context_length_exceeded. */
  | { fault: "overflow"; window: number; observedTokens?: number }
  /** Streams `text`, then breaks the connection. */
  | { fault: "cut"; text?: string }
  /** Streams `text`, then ends cleanly without saying why. */
  | { fault: "unfinished"; text?: string }
  /** Streams `text` (without it, not even headers), then nothing more. */
  | { fault: "hang"; text?: string };

/** What the server answers one request with. */
export type EmulatorAnswer = ChatReply | EmulatorFault;

/** A request as it arrived. */
export interface ReceivedRequest {
  /** As in the request line, e.g. "/v1/chat/completions". */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as sent. */
  text: string;
  /** The parsed body; null when it was no JSON or is not read (`check: false`). */
  body: Readonly<Record<string, unknown>> | null;
  /** Rules it breaks. */
  violations: readonly Violation[];
}

/** What the server answers, and whose rules it checks. */
export interface EmulatorOptions {
  /**
   * In this order, the last one again and again; or chosen by the request and the number of answers
   * before. Default: `{ text: "ok" }`.
   */
  answers?:
    | readonly EmulatorAnswer[]
    | ((request: ReceivedRequest, index: number) => EmulatorAnswer);
  /** Whose rules count. Default "compatible": those all servers share. */
  flavor?: ChatRuleFlavor;
  /**
   * False: requests are neither parsed nor checked, for benchmarks. Default: a request that breaks
   * a rule gets its 400.
   */
  check?: boolean;
  /** Names for GET /v1/models. Default: none. */
  models?: readonly string[];
}

/** A running server. */
export interface OpenAIEmulator {
  /** E.g. "http://127.0.0.1:40123/v1". */
  readonly baseUrl: string;
  /** Every chat request so far, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Rules broken so far. */
  readonly violations: readonly Violation[];
  /** Ends all connections and the server. */
  close(): Promise<void>;
}

/**
 * Starts the server on a free loopback port.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { completeModel } from "@clew/providers";
 * import { createOpenAIEmulator } from "@clew/providers/testing";
 *
 * const server = await createOpenAIEmulator({ answers: [{ text: "Hello." }] });
 * const result = await completeModel({
 *   call: {
 *     model: {
 *       provider: "test",
 *       api: "openai-completions",
 *       id: "m",
 *       contextWindow: 8000,
 *       maxOutputTokens: 100,
 *     },
 *     systemPrompt: "Be brief.",
 *     messages: [{ role: "user", content: "Hi" }],
 *     tools: [],
 *     signal: new AbortController().signal,
 *   },
 *   endpoint: { baseUrl: server.baseUrl },
 * });
 * assert.equal(result.ok, true);
 * assert.deepEqual(server.violations, []);
 * await server.close();
 * ```
 */
export async function createOpenAIEmulator(options: EmulatorOptions = {}): Promise<OpenAIEmulator> {
  const {
    answers = [{ text: "ok" }],
    check = true,
    flavor = "compatible",
    models = ["emulated"],
  } = options;
  const requests: ReceivedRequest[] = [];
  let answered = 0;
  const choose = (request: ReceivedRequest, index: number): EmulatorAnswer =>
    (typeof answers === "function"
      ? answers(request, index)
      : answers[Math.min(index, answers.length - 1)]) ?? { text: "ok" };

  const server = createServer((incoming, response) => {
    const path = incoming.url ?? "";
    if (incoming.method === "GET" && path === "/v1/models")
      return sendJson(response, 200, {
        object: "list",
        data: models.map((id) => ({ id, object: "model" })),
      });
    if (incoming.method !== "POST" || path !== "/v1/chat/completions")
      return sendJson(
        response,
        404,
        errorBody(`Unknown request URL: ${incoming.method} ${path}.`, "unknown_url"),
      );
    readBody(incoming).then(
      (text) => {
        const body = check ? parseObject(text) : null;
        const violations = check ? checkChatRequest(body, flavor) : [];
        const request = { path, headers: incoming.headers, text, body, violations };
        requests.push(request);
        const [broken] = violations;
        if (broken !== undefined)
          return sendJson(response, 400, errorBody(broken.text, null, broken.rule));
        const index = answered++;
        answer(response, choose(request, index), request, index);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen(0, "127.0.0.1", resolve),
  );
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    get violations() {
      return requests.flatMap(({ violations }) => violations);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(
  response: ServerResponse,
  chosen: EmulatorAnswer,
  { body }: ReceivedRequest,
  index: number,
): void {
  if (!("fault" in chosen)) {
    // An unread request counts as one for a stream.
    if (body?.stream === false) sendJson(response, 200, replyDocument(chosen, body.model, index));
    else void sendStream(response, chosen, replyChunks(chosen, body?.model, index));
    return;
  }
  switch (chosen.fault) {
    case "status":
      response.writeHead(chosen.status, { "content-type": "application/json", ...chosen.headers });
      response.end(
        chosen.body ?? JSON.stringify(errorBody(`scripted failure ${chosen.status}`, null)),
      );
      return;
    case "overflow": {
      const { window, observedTokens = window + 1 } = chosen;
      const words = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${observedTokens} tokens. Please reduce the length of the messages.`;
      sendJson(response, 400, errorBody(words, "context_length_exceeded"));
      return;
    }
    case "cut":
      beginText(response, chosen.text, () => response.destroy());
      return;
    case "unfinished":
      beginText(response, chosen.text, () => response.end());
      return;
    case "hang":
      if (chosen.text !== undefined) beginText(response, chosen.text, () => {});
  }
}

async function sendStream(
  response: ServerResponse,
  reply: ChatReply,
  chunks: readonly object[],
): Promise<void> {
  const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  // At once unless a pause is asked for: one write, so that a benchmark measures its subject and
  // not this server.
  if (reply.pauseMs !== undefined) {
    for (const event of events.splice(0)) {
      if (response.destroyed) return;
      response.write(event);
      await new Promise((resolve) => setTimeout(resolve, reply.pauseMs));
    }
  }
  response.end(`${events.join("")}data: [DONE]\n\n`);
}

function beginText(response: ServerResponse, text: string | undefined, then: () => void): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunks = text === undefined ? [] : replyChunks({ text }, "emulated").slice(0, 2);
  // A comment at least: the answer has begun.
  response.write(
    `: begun\n\n${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}`,
    then,
  );
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const errorBody = (message: string, code: string | null, param: string | null = null) => ({
  error: { message, type: "invalid_request_error", param, code },
});

async function readBody(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
