// Passes requests on to the address it is given, in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const OWN_FILE = fileURLToPath(import.meta.url);

export interface BareRelay {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** What anything costs that stands between a client and its model server. */
export async function startRelay(to: string): Promise<BareRelay> {
  const child = spawn(process.execPath, [OWN_FILE, to], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = (await once(child.stdout, "data")) as [Buffer];
  return {
    url: String(printed).trim(),
    process: child,
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

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
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}\n`);
  });
}

if (process.argv[1] === OWN_FILE) relayTo(process.argv[2]!);
