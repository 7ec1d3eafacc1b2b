// Stands between a store and PostgreSQL, and cuts connections where a test says so.
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What becomes of the next statement with a text: it is never run, or its answer is lost. */
export type Cut = "request" | "answer";

export interface CuttingProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  /**
   * Once, at the next request that contains `text`. "silence": the answer is lost, and the
   * connection stays, as behind a firewall that forgot it.
   */
  cutNext(text: string, cut: Cut | "silence"): void;
  /** Once, the answer to the next request that contains `text` waits until it is let go. */
  holdNext(text: string): { held: Promise<void>; letGo(): void };
  /**
   * Once, the next request that contains `text` arrives when it is let go, whether its client is
   * still there or not; then it is known whether anybody took it.
   */
  delayNext(text: string): { letGo(): Promise<"taken" | "refused"> };
  /** Once, when so many more bytes came from that side, over whichever connections. */
  cutAfter(bytes: number, cut: Cut): void;
  /** Connections that begin from now on are to this database. */
  leadTo(database: string): void;
  /** While true nothing gets through, and nobody is told. */
  hold(isHeld: boolean): void;
  close(): Promise<void>;
}

const SOCKET = ".s.PGSQL.5432";

export async function startCuttingProxy(database: string): Promise<CuttingProxy> {
  const hostOf = (url: string) => new URL(url).searchParams.get("host") ?? "";
  let target = hostOf(database);
  const folder = join(tmpdir(), `clew-cut-${randomUUID().slice(0, 8)}`);
  mkdirSync(folder, { mode: 0o700 });
  const sockets = new Set<Socket>();
  let planned: { text: string; cut: Cut | "silence" } | undefined;
  let counted: { left: number; cut: Cut } | undefined;
  let isHeld = false;
  let late: { text: string; keep(upstream: Socket, bytes: Buffer): void } | undefined;
  let held: { text: string; begin(): void; end: Promise<void> } | undefined;

  const server = createServer((client) => {
    const upstream = connect(join(target, SOCKET));
    let losesAnswer = false;
    let isSilent = false;
    let isLate = false;
    let answers = Promise.resolve();
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        sockets.delete(socket);
        if (isLate && socket === client) return;
        end();
      });
    }
    /** Passes on what comes before a cut. */
    const isCut = (bytes: Buffer, from: Cut, to: Socket): boolean => {
      if (counted?.cut !== from) return false;
      const { left } = counted;
      counted = bytes.length < left ? { left: left - bytes.length, cut: from } : undefined;
      if (counted !== undefined) return false;
      to.end(bytes.subarray(0, left), end);
      return true;
    };
    client.on("data", (bytes: Buffer) => {
      if (isHeld || isLate || isCut(bytes, "request", upstream)) return;
      if (late !== undefined && bytes.includes(late.text)) {
        isLate = true;
        late.keep(upstream, bytes);
        late = undefined;
        return;
      }
      if (planned !== undefined && bytes.includes(planned.text)) {
        const { cut } = planned;
        planned = undefined;
        if (cut === "request") return end();
        if (cut === "silence") isSilent = true;
        else losesAnswer = true;
      }
      if (held !== undefined && bytes.includes(held.text)) {
        const { begin, end } = held;
        held = undefined;
        answers = end;
        begin();
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (isHeld || isSilent || isCut(bytes, "answer", client)) return;
      // It comes when the statement is done.
      if (losesAnswer) return end();
      void answers.then(() => client.write(bytes));
    });
  });
  await new Promise<void>((ready) => server.listen(join(folder, SOCKET), ready));

  const url = new URL(database);
  url.searchParams.set("host", folder);
  return {
    url: url.href,
    cutNext(text, cut) {
      planned = { text, cut };
    },
    holdNext(text) {
      const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { text, begin: begun.resolve, end: over.promise };
      return { held: begun.promise, letGo: over.resolve };
    },
    delayNext(text) {
      const kept = Promise.withResolvers<{ upstream: Socket; bytes: Buffer }>();
      late = { text, keep: (upstream, bytes) => kept.resolve({ upstream, bytes }) };
      return {
        async letGo() {
          const { upstream, bytes } = await kept.promise;
          const taken = Promise.withResolvers<"taken" | "refused">();
          upstream.on("data", () => taken.resolve("taken"));
          upstream.on("close", () => taken.resolve("refused"));
          if (upstream.destroyed) taken.resolve("refused");
          upstream.write(bytes);
          return taken.promise;
        },
      };
    },
    cutAfter(bytes, cut) {
      counted = { left: bytes, cut };
    },
    leadTo(other) {
      target = hostOf(other);
    },
    hold(held) {
      isHeld = held;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
