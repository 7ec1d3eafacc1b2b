// A model server on loopback that keeps what it was sent and answers as a test wants.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface UpstreamHeard {
  method: string;
  /** Path and query. */
  url: string;
  /** By names in lower case. */
  headers: IncomingMessage["headers"];
  bytes: Buffer;
}

export interface TestUpstream {
  /** Up to and without a version. */
  url: string;
  heard: UpstreamHeard[];
  close(): Promise<void>;
}

export async function startUpstream(
  answer: (heard: UpstreamHeard, response: ServerResponse) => unknown,
): Promise<TestUpstream> {
  const heard: UpstreamHeard[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const { method = "", url = "", headers } = request;
    const one = { method, url, headers, bytes: Buffer.concat(pieces) };
    heard.push(one);
    await answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
