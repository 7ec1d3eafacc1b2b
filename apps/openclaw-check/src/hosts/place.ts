// Makes what both hosts are given, a port and a workspace with files to read.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { FILES } from "../session-script.ts";

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  const { promise, resolve } = Promise.withResolvers<void>();
  server.on("listening", resolve);
  await promise;
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** About 14 kB each, no line twice. */
export function writeFiles(workspace: string): void {
  mkdirSync(workspace, { recursive: true });
  for (const name of FILES) {
    const lines = Array.from(
      { length: 190 },
      (_, at) =>
        `${name} line ${at}: ${(at * 7919 + name.length * 31).toString(36)} the quick brown fox`,
    );
    writeFileSync(join(workspace, name), lines.join("\n"));
  }
}
