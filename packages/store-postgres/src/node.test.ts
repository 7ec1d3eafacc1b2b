import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { type ClusterNode, joinCluster } from "./node.ts";
import { openPostgresStore } from "./store.ts";
import { holdUncommitted } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS } from "./testing/simple-ports.ts";

const TTL_MS = 60_000;

describe.skipIf(whyNoPostgres() !== null)(`the life of a gateway ${UNLESS_THERE}`, () => {
  let url: string;
  let database: Database;
  const beats: Promise<unknown>[] = [];
  beforeAll(async () => {
    url = await testDatabase();
    const ports = SIMPLE_PORTS;
    await (await openPostgresStore({ url, ports, address: "http://makes-tables" })).close();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await database.end();
  });

  /** Its clock stands still but for what a test says. */
  async function joined(): Promise<ClusterNode> {
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    database = openDatabase({ url, connections: 1, timeoutMs: 600_000 });
    beats.length = 0;
    const askOnce: Database["askOnce"] = (statement, values) => {
      const answer = database.askOnce(statement, values);
      beats.push(answer);
      return answer;
    };
    const node = await joinCluster({
      ...{
        database: { ...database, askOnce },
        id: crypto.randomUUID(),
        address: "http://one",
        version: "",
      },
      ...{ ttlMs: TTL_MS, place: null, publicKey: null },
    });
    await node.settle();
    return node;
  }
  const holdBeats = (id: string) =>
    holdUncommitted(url, `select 1 from node where id = '${id}' for update`);
  const pass = (part: number) => vi.advanceTimersByTime(TTL_MS * part);

  it("ends by its own clock a third of its time before others count it as dead", async () => {
    const node = await joined();
    const held = await holdBeats(node.id);
    pass(0.65);
    expect([node.alive.aborted, node.lives()]).toEqual([false, true]);
    pass(0.02);
    expect([node.alive.aborted, node.lives()]).toEqual([true, false]);
    await held.undo();
  });

  it("goes on from when it said so, not from when it was heard", async () => {
    const node = await joined();
    const held = await holdBeats(node.id);
    pass(0.1);
    await expect.poll(held.waiting).toBe(1);
    pass(0.5);
    // Its next beat waits behind this one.
    const next = holdBeats(node.id);
    await expect.poll(held.waiting).toBe(2);
    await held.undo();
    const later = await next;
    await beats[0];
    await new Promise(setImmediate);
    pass(0.1);
    expect(node.lives()).toBe(true);
    await expect.poll(later.waiting).toBe(1);
    pass(0.07);
    expect(node.lives()).toBe(false);
    await later.undo();
  });
});
