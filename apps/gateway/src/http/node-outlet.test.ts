import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { relay } from "../door/upstream/relay.ts";
import { nodeOutlet } from "./node-outlet.ts";
import { portsOf, untakenByPorts } from "./untaken-bytes.ts";

const PIECE = Buffer.alloc(65_536, "a");
const PIECES = 256;

/** A model server whose answer of 16 MB is passed on to a client that reads when it is told to. */
async function passOn(options: { stalledMs?: number } = {}) {
  let taken = 0;
  async function* answer() {
    for (; taken < PIECES; taken++) {
      yield PIECE;
      await sleep(0);
    }
  }
  const ended = Promise.withResolvers<string>();
  const server = createServer((_: IncomingMessage, outgoing) => {
    const outlet = nodeOutlet(outgoing, options);
    void relay({ status: 200, headers: [], bytes: answer() }, outlet).then((end) => {
      if (end === "whole") outlet.end();
      ended.resolve(end);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
  client.write("GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
  return { client, ended: ended.promise, takenBytes: () => taken * PIECE.length, server };
}

/** Resolves when nothing more is taken. */
async function standstill(takenBytes: () => number): Promise<number> {
  for (let before = -1; ; await sleep(300)) {
    const now = takenBytes();
    if (now === before && now > 0) return now;
    before = now;
  }
}

async function bytesRead(client: Socket): Promise<number> {
  let bytes = 0;
  for await (const piece of client as AsyncIterable<Buffer>) bytes += piece.length;
  return bytes;
}

it.runIf(process.platform === "linux")(
  "less than 1 MB is taken from a model server for a client that has read nothing, and all once it reads",
  async () => {
    const { client, ended, takenBytes, server } = await passOn();
    expect(await standstill(takenBytes)).toBeLessThan(1e6);
    expect(await bytesRead(client)).toBeGreaterThan(PIECES * PIECE.length);
    expect(await ended).toBe("whole");
    server.close();
  },
);

it("a client that leaves without having read anything ends what is passed on", async () => {
  const { client, ended, takenBytes, server } = await passOn();
  await standstill(takenBytes);
  client.destroy();
  expect(await ended).toBe("gone");
  server.close();
});

it("a client that takes nothing for too long is let go", async () => {
  const { client, ended, takenBytes, server } = await passOn({ stalledMs: 600 });
  expect(await ended).toBe("gone");
  expect(takenBytes()).toBeLessThan(PIECES * PIECE.length);
  client.destroy();
  server.close();
});

it("what is on its way is told by both ports of a connection", () => {
  const tables = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:B31F 0100007F:8DC0 01 003A8800:00000000 01:00000014 00000000     0        0 1 1 0",
    "   1: 0100007F:8DC0 0100007F:B31F 01 00000000:0001F845 00:00000000 00000000     0        0 2 1 0",
    "   2: 0200000A:B31F 0900000A:8DC2 01 00000010:00000000 00:00000000 00000000     0        0 3 1 0",
    "   3: 0200000A:B31F 0800000A:8DC2 01 00001000:00000000 00:00000000 00000000     0        0 4 1 0",
  ].join("\n");
  const untaken = untakenByPorts(tables);
  const by = (local: number, remote: number) => untaken.get(portsOf(local, remote));
  expect(by(0xb31f, 0x8dc0)).toBe(0x3a8800);
  expect(by(0x8dc0, 0xb31f)).toBe(0);
  expect(by(0xb31f, 0x8dc2)).toBe(0x10);
  expect(by(1, 2)).toBeUndefined();
});
