// A server of the Messages wire for programs that ask their models themselves.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { ModelAnswer } from "./responses-model.ts";

type Json = Record<string, unknown>;

export interface MessagesModel {
  /** What each request held, one text per line as "user: text", in the order in which they came. */
  asked: { said: string[]; body: Json }[];
  /** Answers in turn; what is asked beyond them is told "ok". */
  answers: ModelAnswer[];
  /** Settings with it as the model of every agent. */
  config(): Json;
}

export async function messagesModel(): Promise<MessagesModel> {
  let calls = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST" || !/\/v1\/messages(\?|$)/.test(request.url ?? "")) {
        response.writeHead(404).end("{}");
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Json;
      model.asked.push({ said: saidIn(body), body });
      answer(response, model.answers.shift() ?? { text: "ok" }, calls++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model: MessagesModel = {
    ...{ asked: [], answers: [] },
    config: () => ({
      models: {
        providers: {
          loop: {
            ...{ baseUrl, api: "anthropic-messages", apiKey: "key" },
            models: [{ id: "claude-sonnet-4-5", contextWindow: 100_000 }],
          },
        },
      },
    }),
  };
  return model;
}

function answer(response: ServerResponse, given: ModelAnswer, index: number): void {
  if (given === "never") return;
  if ("status" in given) {
    response.writeHead(given.status, { "content-type": "application/json" });
    const error = { type: given.code ?? "api_error", message: `status ${given.status}` };
    response.end(JSON.stringify({ type: "error", error }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, rest: Json = {}) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  const usage = { input_tokens: 100, cache_read_input_tokens: 7, cache_creation_input_tokens: 3 };
  send("message_start", {
    message: {
      ...{ id: `msg_${index}`, type: "message", role: "assistant", model: "m", content: [] },
      ...{ stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
    },
  });
  if ("call" in given) {
    const { name, args = {}, id = `toolu_${index}` } = given.call;
    send("content_block_start", {
      ...{ index: 0, content_block: { type: "tool_use", id, name, input: {} } },
    });
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(args) };
    send("content_block_delta", { index: 0, delta });
  } else {
    const text = "cut" in given ? given.cut : given.text;
    send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
    send("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  }
  send("content_block_stop", { index: 0 });
  const reason = "call" in given ? "tool_use" : "end_turn";
  const delta = { stop_reason: reason, stop_sequence: null };
  send("message_delta", { delta, usage: { output_tokens: 20 } });
  send("message_stop");
  response.end();
}

function saidIn({ messages }: Json): string[] {
  type Block = { type?: string; text?: string };
  return (messages as { role: string; content: string | Block[] }[])
    .filter(({ role }) => role === "user" || role === "assistant")
    .flatMap(({ role, content }) =>
      (typeof content === "string" ? [{ text: content }] : content).flatMap(
        ({ text, type }: Block) =>
          text === undefined
            ? type === "image"
              ? [`${role}: [image]`]
              : []
            : [`${role}: ${text}`],
      ),
    );
}
