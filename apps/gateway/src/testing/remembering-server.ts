// A server on loopback that remembers texts for plugins, or says nothing.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface RememberingServer {
  url: string;
  /** What it was given to keep, in order. */
  texts(): readonly string[];
  /** From now on nobody gets an answer. */
  hang(): void;
}

/** `/add` keeps a text in a space, `/search` finds those of a space that share a longer word. */
export async function startRememberingServer(): Promise<RememberingServer> {
  const kept: { space: string; text: string }[] = [];
  let hangs = false;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const {
      space = "",
      text,
      query,
    } = JSON.parse(Buffer.concat(pieces).toString()) as {
      space?: string;
      text?: string;
      query?: string;
    };
    if (hangs) return;
    if (text !== undefined) kept.push({ space, text });
    const words = wordsOf(query ?? "");
    const memories = kept
      .filter(
        (each) => each.space === space && wordsOf(each.text).some((word) => words.includes(word)),
      )
      .map((each) => each.text);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ memories }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    texts: () => kept.map(({ text }) => text),
    hang() {
      hangs = true;
    },
  };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]{4,}/g) ?? [];
