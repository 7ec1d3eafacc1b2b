// Tells how much of what was written to a client its system has not taken yet.
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Linux takes up to 4 MB for a client that reads nothing before it says that a connection is full,
 * and tells what it holds of each connection in these tables only.
 */
const TABLES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
/** All look at the same time in the end, and the tables are read once for them. */
const AGAIN_MS = 200;

/**
 * Resolves when at most `mostBytes` are on their way to the client, or the connection is closed.
 * On systems that do not tell it resolves at once.
 */
export async function untilTaken(socket: Socket, mostBytes: number): Promise<void> {
  const { localPort, remotePort } = socket;
  if (localPort === undefined || remotePort === undefined) return;
  for (let waitMs = 1; !socket.destroyed; waitMs *= 2) {
    const untaken = (await look()).get(portsOf(localPort, remotePort)) ?? 0;
    if (untaken <= mostBytes) return;
    await sleep(waitMs < AGAIN_MS ? waitMs : AGAIN_MS - (Date.now() % AGAIN_MS));
  }
}

/** As the tables write them. */
export const portsOf = (local: number, remote: number): string => `${hex(local)} ${hex(remote)}`;

const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");

const ROW = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/gm;

/**
 * Pure. What is on its way, by the ports of a connection. They are the same for two connections
 * from two addresses: then it is the smaller number, so that nobody waits for somebody else.
 */
export function untakenByPorts(tables: string): Map<string, number> {
  const untaken = new Map<string, number>();
  for (const [, local, remote, count] of tables.matchAll(ROW)) {
    const ports = `${local} ${remote}`;
    const bytes = Number.parseInt(count!, 16);
    untaken.set(ports, Math.min(bytes, untaken.get(ports) ?? Number.POSITIVE_INFINITY));
  }
  return untaken;
}

async function readTables(): Promise<Map<string, number>> {
  const read = (table: string) => readFile(table, "latin1").catch(() => "");
  return untakenByPorts((await Promise.all(TABLES.map(read))).join(""));
}

let running: ReturnType<typeof readTables> | undefined;
let next: ReturnType<typeof readTables> | undefined;

/** As it is after the call: who asks while it is read shares the next reading with others. */
function look(): ReturnType<typeof readTables> {
  if (running === undefined) {
    running = readTables().finally(() => {
      running = undefined;
    });
    return running;
  }
  next ??= running.then(() => {
    next = undefined;
    return look();
  });
  return next;
}
