// A model server of four wires that replies as planned, and refuses what its window lacks.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { writeReply } from "../../apps/gateway/src/door/testing/write-reply.ts";
import type { DoorApi } from "../../apps/gateway/src/door/wires/door-wire.ts";
import type { Client, Fault } from "./clients.ts";
import { LOOK, type PlannedReply, planReply } from "./plan-reply.ts";
import { seeRequest } from "./see-request.ts";
import type { Task } from "./task.ts";

export interface Taken extends PlannedReply {
  /** Stands in what it was answered, and in no other answer. */
  id: string;
  messages: readonly object[];
  tokens: number;
  /** All of the answer; "" where it was a fault. */
  answer: string;
  fault?: Fault;
}

export interface ModelServer {
  url: string;
  port: number;
  /** Requests it took, in order. */
  taken: Taken[];
  /** Requests that did not fit. */
  refused: number;
  close(): void;
}

export interface ModelServerOptions {
  client: Client;
  task: Task;
  window: number;
  /** By the file that is to be read next; each happens once. */
  faults: ReadonlyMap<number, Fault>;
}

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const { client, task, window } = options;
  const faults = new Map(options.faults);
  const model: ModelServer = { url: "", port: 0, taken: [], refused: 0, close: () => {} };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const url = request.url ?? "";
    const tokens = Math.ceil(bytes.length / 4);
    if (request.method !== "POST") return answerJson(response, 404, {});
    if (url.includes("count_tokens")) return answerJson(response, 200, { input_tokens: tokens });
    if (tokens > window) {
      model.refused++;
      return answerJson(response, 400, OVERFLOWS[client.api](tokens, window));
    }
    const body = JSON.parse(bytes.toString()) as Record<string, unknown>;
    const seen = seeRequest(client.api, body);
    const planned = planReply(seen, client, task);
    const id = `reply_${model.taken.length + 1}_`;
    const fault = planned.part === "main" ? faults.get(planned.file) : undefined;
    if (fault !== undefined) faults.delete(planned.file);
    const taken: Taken = { ...planned, id, messages: seen.messages, tokens, answer: "" };
    if (fault !== undefined) taken.fault = fault;
    model.taken.push(taken);
    const prefix = planned.kind === "look" ? LOOK : id;
    const calls = planned.calls.map(({ name, args }, at) => ({ id: `${prefix}${at}`, name, args }));
    const streaming = body.stream === true || url.includes(":stream");
    const { contentType, pieces: written } = writeReply(
      client.api,
      { text: planned.text, thinking: "", calls },
      { id, usage: { input: tokens, output: 20 }, streaming },
    );
    const namespace = planned.calls[0]?.namespace;
    const all = written.map((piece) => withNamespace(piece, namespace));
    if (fault === undefined) taken.answer = all.join("");
    answerWith(response, { contentType, pieces: all, fault, api: client.api });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  model.port = (server.address() as AddressInfo).port;
  model.url = `http://127.0.0.1:${model.port}${PATHS[client.api]}`;
  model.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return model;
}

const PATHS: Readonly<Record<DoorApi, string>> = {
  "openai-completions": "/v1",
  "openai-responses": "/v1",
  "anthropic-messages": "",
  "google-generative-ai": "/v1beta",
};

/** What stands at the end of a stream, in events. */
const LAST_EVENTS: Readonly<Record<DoorApi, number>> = {
  "openai-completions": 3,
  "openai-responses": 1,
  "anthropic-messages": 1,
  "google-generative-ai": 0,
};

function answerWith(
  response: ServerResponse,
  {
    contentType,
    pieces,
    fault,
    api,
  }: { contentType: string; pieces: readonly string[]; fault: Fault | undefined; api: DoorApi },
): void {
  if (fault === "429" || fault === "500") {
    if (fault === "429") response.setHeader("retry-after", "1");
    answerJson(response, Number(fault), errorOf(api, Number(fault)));
    return;
  }
  response.writeHead(200, { "content-type": contentType });
  if (fault === "broken") {
    // Between two events: Cline glues half of one to what it is answered when it asks again.
    const half = pieces.slice(0, Math.ceil(pieces.length / 2)).join("");
    response.write(half, () => setTimeout(() => response.destroy(), 50));
    return;
  }
  const end = fault === "no-end" ? pieces.length - LAST_EVENTS[api] : pieces.length;
  const sent = pieces.slice(0, end).join("");
  const cut = fault === "no-end" && api === "google-generative-ai";
  response.end(cut ? sent.replace(/"finishReason":"STOP"/, '"index":0') : sent);
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function errorOf(api: DoorApi, status: number): object {
  const message = status === 429 ? "Too many requests." : "The server failed.";
  const type = status === 429 ? "rate_limit_error" : "api_error";
  if (api === "anthropic-messages") return { type: "error", error: { type, message } };
  const google = status === 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL";
  if (api === "google-generative-ai") return { error: { code: status, message, status: google } };
  return { error: { message, type, code: null } };
}

const openAiOverflow = (tokens: number, window: number) => ({
  error: {
    message: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`,
    ...{ type: "invalid_request_error", code: "context_length_exceeded" },
  },
});

const OVERFLOWS: Readonly<Record<DoorApi, (tokens: number, window: number) => object>> = {
  "openai-completions": openAiOverflow,
  "openai-responses": openAiOverflow,
  "anthropic-messages": (tokens, window) => ({
    type: "error",
    error: {
      type: "invalid_request_error",
      message: `prompt is too long: ${tokens} tokens > ${window} maximum`,
    },
  }),
  "google-generative-ai": (tokens, window) => ({
    error: {
      ...{ code: 400, status: "INVALID_ARGUMENT" },
      message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
    },
  }),
};

/** Codex calls tools of a group with the group's name beside. */
const withNamespace = (piece: string, namespace: string | undefined): string =>
  namespace === undefined
    ? piece
    : piece.replaceAll('"type":"function_call",', `$&"namespace":"${namespace}",`);
