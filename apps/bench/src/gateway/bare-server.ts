// Runs a bare server in a process of its own, and tells where it listens.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface BareServer {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** `file`: a module that calls `tellAddress` once it is run. */
export async function startBare(file: string, ...args: readonly string[]): Promise<BareServer> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = (await once(child.stdout!, "data")) as [Buffer];
  return {
    url: String(printed).trim(),
    process: child,
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

/** Of the process that was started. */
export function tellAddress(server: Server): void {
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}\n`);
  });
}
