// Answers each request with its own body, in a process of its own.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { type BareServer, startBare, tellAddress } from "./bare-server.ts";

const OWN_FILE = fileURLToPath(import.meta.url);

/** The least that a server of Node's can do. */
export const startEcho = (): Promise<BareServer> => startBare(OWN_FILE);

function echo(): void {
  const server = createServer((heard, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    heard.pipe(response);
  });
  tellAddress(server);
}

if (process.argv[1] === OWN_FILE) echo();
