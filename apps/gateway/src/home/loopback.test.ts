import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { askLoopback } from "./loopback.ts";

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const ask = (port: number, maxBytes = 100) =>
  askLoopback({ port, path: "/", timeoutMs: 5000, maxBytes });

describe("an answer from this machine", () => {
  it.each([
    [9, "answer"],
    [10, "answer"],
    [11, "garbage"],
    [1_000_000, "garbage"],
  ])("of %i bytes, where 10 are allowed, is taken for an %s", async (bytes, kind) => {
    const port = await portOf(createServer((_, response) => void response.end("x".repeat(bytes))));
    const answer = await ask(port, 10);
    expect(answer).toMatchObject(kind === "answer" ? { kind, text: "x".repeat(bytes) } : { kind });
  });

  it("that breaks off is garbage", async () => {
    const head = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{";
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.write(head, () => socket.destroy());
    });
    expect(await ask(await portOf(server))).toEqual({ kind: "garbage" });
  });

  it("that never ends in time is silence", async () => {
    const server = createServer((_, response) => void response.write("{"));
    onTestFinished(() => server.closeAllConnections());
    const port = await portOf(server);
    const answer = await askLoopback({ port, path: "/", timeoutMs: 50, maxBytes: 100 });
    expect(answer).toEqual({ kind: "silent" });
  });

  it("is none where nobody listens", async () => {
    const server = createServer();
    const port = await portOf(server);
    await new Promise((resolve) => void server.close(resolve));
    expect(await ask(port)).toEqual({ kind: "closed" });
  });
});
