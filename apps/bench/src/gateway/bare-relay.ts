// Passes requests on to the address it is given, in a process of its own.
import { Agent, createServer, request } from "node:http";
import { fileURLToPath } from "node:url";
import { type BareServer, startBare, tellAddress } from "./bare-server.ts";

const OWN_FILE = fileURLToPath(import.meta.url);

/** What anything costs that stands between a client and its model server. */
export const startRelay = (to: string): Promise<BareServer> => startBare(OWN_FILE, to);

function relayTo(to: string): void {
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (heard, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of heard) pieces.push(piece as Buffer);
    const { method, url, headers } = heard;
    const sent = request(`${to}${url}`, { agent, method, headers }).end(Buffer.concat(pieces));
    sent.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.once("error", () => response.destroy());
  });
  tellAddress(server);
}

if (process.argv[1] === OWN_FILE) relayTo(process.argv[2]!);
