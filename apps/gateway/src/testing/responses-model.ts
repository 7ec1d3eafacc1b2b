// A server of the Responses wire for programs that ask their models themselves.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

type Json = Record<string, unknown>;

export interface AskedModel {
  /** One item per line, as "user: text", "call look {…}", "result: text". */
  said: string[];
  body: Json;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What one request is answered with. */
export type ModelAnswer =
  | { text: string; input?: number; thinking?: string }
  | { call: { name: string; args?: Json; id?: string }; text?: string; input?: number }
  /** An HTTP status, with the code of the error. */
  | { status: number; code?: string }
  /** No answer, ever. */
  | "never"
  /** A beginning without an end. */
  | { cut: string };

export interface ResponsesModel {
  baseUrl: string;
  /** In the order in which they came. */
  asked: AskedModel[];
  /** Answers in turn; what is asked beyond them is told "ok". */
  answers: ModelAnswer[];
  /** Resolves when so many requests have come. */
  untilAsked(count: number): Promise<void>;
  /** Settings with it as the model of every agent. */
  config(model?: Json): Json;
}

export async function responsesModel(): Promise<ResponsesModel> {
  const asked: AskedModel[] = [];
  const waiting: { count: number; resolve(): void }[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Json;
      asked.push({ said: saidIn(body), body, headers: request.headers });
      for (const wait of waiting.filter(({ count }) => asked.length >= count)) wait.resolve();
      answer(response, model.answers.shift() ?? { text: "ok" }, calls++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model: ResponsesModel = {
    ...{ baseUrl, asked, answers: [] },
    untilAsked: (count) =>
      asked.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push({ count, resolve })),
    config: (given = {}) => ({
      models: {
        providers: {
          loop: {
            ...{ baseUrl, api: "openai-responses", apiKey: "key" },
            models: [{ id: "gpt-5.2", contextWindow: 100_000, ...given }],
          },
        },
      },
    }),
  };
  return model;
}

function answer(response: ServerResponse, given: ModelAnswer, index: number): void {
  if (given === "never") return;
  if (typeof given === "object" && "status" in given) {
    response.writeHead(given.status, { "content-type": "application/json" });
    const error = { message: `status ${given.status}`, code: given.code ?? null, type: given.code };
    response.end(JSON.stringify({ error }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, rest: Json) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  send("response.created", { response: { id: `resp_${index}` } });
  const text = "cut" in given ? given.cut : given.text;
  if (text !== undefined) {
    const item = { type: "message", id: `msg_${index}`, role: "assistant" };
    send("response.output_item.added", { output_index: 0, item: { ...item, content: [] } });
    const at = { item_id: item.id, output_index: 0, content_index: 0 };
    send("response.output_text.delta", { ...at, delta: text });
    if ("cut" in given) return void response.destroy();
    const content = [{ type: "output_text", text }];
    send("response.output_item.done", { output_index: 0, item: { ...item, content } });
  }
  if ("call" in given) {
    const { name, args = {}, id = `call_${index}` } = given.call;
    const call = { type: "function_call", id: `fc_${index}`, call_id: id, name };
    const item = { ...call, arguments: JSON.stringify(args) };
    send("response.output_item.done", { output_index: 1, item });
  }
  const input = ("input" in given ? given.input : undefined) ?? 100;
  const usage = {
    ...{ input_tokens: input, output_tokens: 10, total_tokens: input + 10 },
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  send("response.completed", { response: { id: `resp_${index}`, usage } });
  response.end();
}

function saidIn({ instructions, input }: Json): string[] {
  const items = Array.isArray(input) ? (input as Json[]) : [];
  const first =
    typeof instructions === "string" && instructions !== "" ? [`developer: ${instructions}`] : [];
  return [...first, ...items.map(lineOf)];
}

function lineOf(item: Json): string {
  if (item.type === "function_call") return `call ${String(item.name)} ${String(item.arguments)}`;
  if (item.type === "function_call_output") return `result: ${textOf(item.output)}`;
  return `${String(item.role)}: ${textOf(item.content)}`;
}

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : (content as Json[])
        .map((part) => (typeof part.text === "string" ? part.text : `[${String(part.type)}]`))
        .join("");
