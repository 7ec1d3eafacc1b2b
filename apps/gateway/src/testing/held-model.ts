// A model server for tests whose replies are written by the test, piece by piece.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { emulatedModel } from "./gateway.ts";

export interface HeldReply {
  /** Writes a piece of the reply. */
  say(text: string): void;
  finish(): void;
  /** Ends with a call of a tool. */
  callTool(name: string, args: object): void;
  /** Ends in the middle of it. */
  breakOff(): void;
}

export interface HeldModel {
  config: Record<string, unknown>;
  /** The next request, of which nothing was answered yet. */
  asked(): Promise<HeldReply>;
  /** Answers the next request with this, and nothing else. */
  answer(text: string): Promise<void>;
}

/** `cost`: dollars per million tokens. Absent: nobody knows it. */
export async function heldModel({ cost }: { cost?: object } = {}): Promise<HeldModel> {
  const waiting: HeldReply[] = [];
  const askers: ((reply: HeldReply) => void)[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const reply = replyOn(response);
      const asker = askers.shift();
      if (asker === undefined) waiting.push(reply);
      else asker(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const asked = (): Promise<HeldReply> => {
    const reply = waiting.shift();
    return reply === undefined
      ? new Promise((resolve) => void askers.push(resolve))
      : Promise.resolve(reply);
  };
  return {
    asked,
    async answer(text) {
      const reply = await asked();
      reply.say(text);
      reply.finish();
    },
    config: emulatedModel(`http://127.0.0.1:${port}/v1`, {
      contextWindow: 10_000_000,
      ...(cost !== undefined && { cost }),
    }),
  };
}

function replyOn(response: ServerResponse): HeldReply {
  const write = (delta: object, finish: string | null = null) => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id: "held", object: "chat.completion.chunk", created: 1, model: "emulated" };
    response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`);
  };
  return {
    say: (content) => write({ role: "assistant", content }),
    finish() {
      write({}, "stop");
      response.end("data: [DONE]\n\n");
    },
    callTool(name, args) {
      const call = { name, arguments: JSON.stringify(args) };
      const tool_calls = [{ index: 0, id: "held-1", type: "function", function: call }];
      write({ role: "assistant", tool_calls });
      write({}, "tool_calls");
      response.end("data: [DONE]\n\n");
    },
    breakOff: () => void response.destroy(),
  };
}
