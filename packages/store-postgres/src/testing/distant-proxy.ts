// Stands between a store and PostgreSQL, as far apart as two machines of one data centre.
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface DistantProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  close(): Promise<void>;
}

const SOCKET = ".s.PGSQL.5432";

/** Whatever is sent, either way, arrives `delayMs` later, or up to a millisecond more. */
export async function startDistantProxy(database: string, delayMs: number): Promise<DistantProxy> {
  const target = new URL(database).searchParams.get("host") ?? "";
  const folder = join(tmpdir(), `clew-far-${randomUUID().slice(0, 8)}`);
  mkdirSync(folder, { mode: 0o700 });
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(join(target, SOCKET));
    pass(client, upstream);
    pass(upstream, client);
  });
  function pass(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on("data", (bytes) => void setTimeout(() => to.writable && to.write(bytes), delayMs));
    from.on("error", () => from.destroy());
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  }
  await new Promise<void>((ready) => server.listen(join(folder, SOCKET), ready));
  const url = new URL(database);
  url.searchParams.set("host", folder);
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
