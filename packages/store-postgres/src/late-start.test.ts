import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS } from "./testing/simple-ports.ts";

const TTL_MS = 3000;

/** As work does that leaves no time for anything else. */
function blockFor(ms: number): void {
  for (const began = performance.now(); performance.now() - began < ms; );
}

describe.skipIf(whyNoPostgres() !== null)(`a gateway that starts ${UNLESS_THERE}`, () => {
  let url: string;
  let store: PostgresStore<ListLedger>;
  beforeAll(async () => {
    url = await testDatabase();
  });
  afterEach(() => store.close().catch(() => {}));
  const name = { agentId: "main", key: "agent:main:start" };
  const start = () =>
    openPostgresStore({ url, address: "http://starts", ports: SIMPLE_PORTS, ttlMs: TTL_MS });
  const isDead = () => store.alive.aborted;

  it("and works for so long that others count it as dead goes on, as it has taken nothing", async () => {
    store = await start();
    blockFor(TTL_MS);
    await runSql(url, "update node set seen_at = now() - interval '1 minute'");
    await store.settle();
    expect(isDead()).toBe(false);
    const transcript = await store.open(name);
    await transcript.close();
    // Others count it as alive again.
    const rows = await runSql(
      url,
      "select 1 from node where seen_at > now() - interval '20 seconds'",
    );
    expect(rows).toHaveLength(1);
  });

  it("ends by that once it is done with its start", async () => {
    store = await start();
    await store.settle();
    blockFor(TTL_MS);
    await expect.poll(isDead).toBe(true);
  });

  it("ends by that once it has opened a session", async () => {
    store = await start();
    await store.open(name);
    blockFor(TTL_MS);
    await expect.poll(isDead).toBe(true);
    await expect(store.settle()).rejects.toMatchObject({ code: "SESSION_LOCKED" });
  });

  it("is ended by who starts in its place", async () => {
    store = await start();
    await runSql(url, "delete from node");
    await expect(store.settle()).rejects.toMatchObject({ code: "SESSION_LOCKED" });
  });
});
