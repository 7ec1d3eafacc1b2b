// A model server on this machine that fails in the ways providers do.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "./chance.ts";

/** What became of requests, by name. */
export type ModelCounts = Record<"answered" | "tools" | "429" | "500" | "cut" | "slow", number>;

export interface FaultyModel {
  baseUrl: string;
  counts: ModelCounts;
  close(): void;
}

/** Of one, the rest is answered. */
const SHARES = { "429": 0.03, "500": 0.03, cut: 0.03, slow: 0.06, tools: 0.1 } as const;
const SLOW_MS = 2000;

export async function startFaultyModel(chance: Chance): Promise<FaultyModel> {
  const counts: ModelCounts = { answered: 0, tools: 0, "429": 0, "500": 0, cut: 0, slow: 0 };
  const answer = async (response: ServerResponse, body: string) => {
    const kind = kindOf(chance.next());
    counts[kind]++;
    if (kind === "429" || kind === "500") {
      const headers = { "content-type": "application/json", "retry-after": "0" };
      response.writeHead(Number(kind), headers);
      return response.end(JSON.stringify({ error: { message: `a fault: ${kind}` } }));
    }
    if (kind === "slow") await sleep(SLOW_MS);
    response.writeHead(200, { "content-type": "text/event-stream" });
    // A tool is asked for once, and then there is an answer.
    if (kind === "tools" && !lastIsTool(body)) return writeTool(response);
    write(response, { role: "assistant", content: "Noted, " });
    await sleep(5);
    if (kind === "cut") return response.destroy();
    write(response, { content: "and done." });
    write(response, {}, "stop");
    response.end("data: [DONE]\n\n");
  };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => void answer(response, body).catch(() => response.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    counts,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function kindOf(drawn: number): keyof ModelCounts {
  let below = 0;
  for (const [kind, share] of Object.entries(SHARES)) {
    below += share;
    if (drawn < below) return kind as keyof ModelCounts;
  }
  return "answered";
}

function lastIsTool(body: string): boolean {
  const { messages } = JSON.parse(body) as { messages: { role: string }[] };
  const last = messages.findLast(({ role }) => role === "assistant" || role === "tool");
  return last?.role === "tool" && messages.at(-1)?.role !== "user";
}

function write(response: ServerResponse, delta: object, finish: string | null = null): void {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const chunk = { id: "soak", object: "chat.completion.chunk", created: 1, model: "soak" };
  response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`);
}

function writeTool(response: ServerResponse): void {
  const call = { name: "session_search", arguments: '{"query":"note"}' };
  const id = `call_${Math.random().toString(36).slice(2, 12)}`;
  const asked = { index: 0, id, type: "function", function: call };
  write(response, { role: "assistant", tool_calls: [asked] });
  write(response, {}, "tool_calls");
  response.end("data: [DONE]\n\n");
}
