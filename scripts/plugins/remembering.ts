// A server on loopback in the manner of mem0's that remembers what it is given.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface RememberingServer {
  url: string;
  close(): Promise<void>;
}

/** Any other address than these is answered with nothing. */
export async function startRemembering(): Promise<RememberingServer> {
  const kept: string[] = [];
  const answers = (path: string, body: Record<string, unknown>): unknown => {
    if (path.includes("/ping")) return { status: "ok", org_id: "o", project_id: "p" };
    if (path.includes("search")) {
      const words = wordsOf(String(body.query ?? ""));
      const found = kept.filter((text) => wordsOf(text).some((word) => words.includes(word)));
      return { results: found.map((memory, at) => ({ id: `m${at}`, memory, score: 0.9 })) };
    }
    const { messages } = body as { messages?: { role: string; content: string }[] };
    const said = (messages ?? []).filter(({ role }) => role === "user");
    kept.push(...said.map(({ content }) => content));
    return { results: said.map(({ content }) => ({ id: "m", memory: content, event: "ADD" })) };
  };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answers(request.url ?? "", body)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]{4,}/g) ?? [];
