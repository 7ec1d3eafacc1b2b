import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RoundTrip } from "./database.ts";
import { openPostgresStore } from "./store.ts";
import { findPooler, poolerKeepsNames, startPooler, type TestPooler } from "./testing/pooler.ts";
import { testDatabase, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS, said, textsOf } from "./testing/simple-ports.ts";

const CANNOT = whyNoPostgres() !== null || findPooler() === null;

/** What there is to be tried, of a pooler of any version. */
const POOLERS = [
  { keepsNames: false, which: "a pooler of transactions (needs PostgreSQL and pgbouncer)" },
  { keepsNames: true, which: "one that keeps prepared statements (needs pgbouncer 1.21)" },
];

describe.each(POOLERS)("$which", ({ keepsNames }) => {
  const isThere = !CANNOT && (!keepsNames || poolerKeepsNames());
  let pooler: TestPooler;
  beforeAll(async () => {
    if (!isThere) return;
    const folder = join(tmpdir(), `clew-pooler-${randomUUID().slice(0, 8)}`);
    pooler = await startPooler(await testDatabase(), { folder, connections: 3, keepsNames });
  });
  afterAll(() => pooler?.stop());

  it.skipIf(!isThere)(
    "stands between: nothing is lost or doubled, and it need not know names of statements",
    async () => {
      const trips: RoundTrip[] = [];
      const gateways = await Promise.all(
        [1, 2].map((number) =>
          openPostgresStore({
            ...{ url: pooler.url, address: `http://pooled-${number}`, ports: SIMPLE_PORTS },
            ...{ ttlMs: 60_000, onRoundTrip: (trip: RoundTrip) => trips.push(trip) },
          }),
        ),
      );
      const sessions = Array.from({ length: 8 }, (_, index) => ({
        ...{ store: gateways[index % 2]!, name: { agentId: "main", key: `pooled ${index}` } },
      }));
      const texts = Array.from({ length: 20 }, (_, index) => `m${index}`);
      await Promise.all(
        sessions.map(async ({ store, name }) => {
          const transcript = await store.open(name);
          for (const text of texts) {
            await transcript.append([said(text)]);
            await store.keep(name, { name: text, id: text, body: "1" });
            await store.sweep();
          }
          await transcript.close();
          const again = await store.open(name);
          expect(textsOf(await again.read({ after: null }))).toBe(texts.join(" "));
          expect(await store.waiting(name)).toHaveLength(texts.length);
        }),
      );
      await Promise.all(gateways.map((store) => store.close()));
      const failed = trips.filter(({ failed }) => failed !== null);
      // Found out once by each connection that was there then, and never where names are kept.
      if (keepsNames) expect(failed).toEqual([]);
      expect(failed.length).toBeLessThan(sessions.length * 4);
      expect(failed.every(({ failed }) => failed === "conflict")).toBe(true);
    },
  );

  it.skipIf(!isThere)(
    "stands between gateways and what they hand out, each piece of which is done once",
    async () => {
      const done: string[] = [];
      const open = async (address: string) => {
        const store = await openPostgresStore({
          ...{ url: pooler.url, address, ports: SIMPLE_PORTS, ttlMs: 60_000 },
        });
        const queue = await store.openQueue({ onTrouble() {}, pollSeconds: 0.5 });
        await queue.work("look", async ({ key }) => void done.push(key));
        return { store, queue };
      };
      const gateways = await Promise.all([open("http://one"), open("http://two")]);
      const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
      for (const [index, key] of keys.entries())
        await gateways[index % 2]!.queue.send("look", { key, data: null });
      await expect.poll(() => done.length, { timeout: 30_000 }).toBe(keys.length);
      for (const { store, queue } of gateways) {
        await queue.stop();
        await store.close();
      }
      expect(done.toSorted()).toEqual(keys.toSorted());
    },
  );
});
