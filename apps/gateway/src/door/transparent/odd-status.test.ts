// Model servers that answer with statuses with which no reply comes.
import type { ServerResponse } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { ask, person } from "../../testing/door-client.ts";
import { saidIn } from "../../testing/said-in.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { startUpstream } from "../testing/upstream.ts";
import { writeReply } from "../testing/write-reply.ts";

const WORDS = "The reply that came then.";

/** As a broken server or another kind of server writes it on the connection. */
const raw = (text: string) => (response: ServerResponse) => void response.socket?.write(text);

const ODD: Record<string, (response: ServerResponse) => unknown> = {
  "101": raw("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
  "204": (response) => response.writeHead(204).end(),
  "205": raw("HTTP/1.1 205 Reset Content\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello"),
  "304": raw("HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n"),
  "999": (response) => response.writeHead(999).end("{}"),
  // Its body never ends.
  "600": (response) => response.writeHead(600).write("x".repeat(100_000)),
};

it.each(DOOR_APIS.flatMap((api) => Object.keys(ODD).map((status) => [api, status] as const)))(
  "by %s, a client is told by 502 that a status of %s is no reply, and the next one has its place",
  async (api, status) => {
    let count = 0;
    const upstream = await startUpstream((_heard, response) => {
      if (count++ === 0) return ODD[status]!(response);
      const reply = { text: WORDS, thinking: "", calls: [] };
      const usage = { input: 10, output: 5 };
      const written = writeReply(api, reply, { id: "r", usage, streaming: false });
      return response
        .writeHead(200, { "content-type": written.contentType })
        .end(written.pieces.join(""));
    });
    onTestFinished(upstream.close);
    const limits = { runningTurns: 1 };
    const door = await startTestDoor(upstream, { settings: { gateway: { limits } } });
    const sent = { streaming: false, model: "model" };
    const { answer, body } = await ask(door, api, [person("Why?")], sent);
    expect(answer.status).toBe(502);
    expect(JSON.stringify(JSON.parse(body))).toContain(status);
    expect(JSON.parse(body)).toHaveProperty("error.message");
    const again = await ask(door, api, [person("Why?")], sent);
    expect(again.answer.status).toBe(200);
    await door.gateway.door.settled();
    const session = again.answer.headers.get("x-clew-session")!;
    expect(await saidIn(door, session)).toEqual(["user: Why?", `assistant: ${WORDS}`]);
  },
);

it("what a client asks with its own key beside conversations may be answered without a body", async () => {
  const upstream = await startUpstream((_heard, response) => response.writeHead(204).end());
  onTestFinished(upstream.close);
  const own = { "openai-completions": { provider: "chat", key: "client" } };
  const door = await startTestDoor(upstream, { settings: { door: { upstreams: own } } });
  const answer = await door.get("/v1/files/file-1", {
    method: "DELETE",
    headers: { authorization: "Bearer sk-own" },
  });
  expect(answer.status).toBe(204);
});
