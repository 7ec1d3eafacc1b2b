// Answers each request with its own body, in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const OWN_FILE = fileURLToPath(import.meta.url);

export interface BareEcho {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** The least that a server of Node's can do. */
export async function startEcho(): Promise<BareEcho> {
  const child = spawn(process.execPath, [OWN_FILE], { stdio: ["ignore", "pipe", "inherit"] });
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

function echo(): void {
  const server = createServer((heard, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    heard.pipe(response);
  });
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}\n`);
  });
}

if (process.argv[1] === OWN_FILE) echo();
