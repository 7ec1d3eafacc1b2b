import { describe, expect, it } from "vitest";
import { openPostgresStore } from "./store.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`a duty of one gateway ${UNLESS_THERE}`, () => {
  it("is of whoever took it first, as long as that one lives, and of one at a time", async () => {
    const url = await testDatabase();
    const start = (address: string, ttlMs = 10_000) =>
      openPostgresStore({ url, address, ports: SIMPLE_PORTS, ttlMs });
    const stores = await Promise.all(["http://a", "http://b", "http://c"].map((one) => start(one)));
    const taken = await Promise.all(stores.map((store) => store.takeDuty("door")));
    expect(taken.filter(({ kind }) => kind === "own")).toHaveLength(1);
    const first = taken.findIndex(({ kind }) => kind === "own");
    const owner = await stores[first]!.dutyOwner("door");
    for (const [at, store] of stores.entries()) {
      const expected = at === first ? { kind: "own" } : { kind: "other", address: owner };
      expect(await store.takeDuty("door")).toEqual(expected);
    }
    expect((await stores[(first + 1) % 3]!.takeDuty("another")).kind).toBe("own");
    await stores[first]!.close();
    const [second, third] = stores.filter((_, at) => at !== first);
    expect(await second!.dutyOwner("door")).toBeNull();
    expect(await second!.takeDuty("door")).toEqual({ kind: "own" });
    expect((await third!.takeDuty("door")).kind).toBe("other");
    await Promise.all([second!.close(), third!.close()]);
  });

  it("is anybody's once its gateway counts as dead, which may not take it again", async () => {
    const url = await testDatabase();
    const diesAfterMs = 600;
    const start = (address: string, ttlMs: number) =>
      openPostgresStore({ url, address, ports: SIMPLE_PORTS, ttlMs });
    const one = await start("http://a", diesAfterMs);
    expect(await one.takeDuty("door")).toEqual({ kind: "own" });
    // As if frozen: nothing of this process runs, so nobody says that they live.
    const until = performance.now() + 2 * diesAfterMs;
    while (performance.now() < until);
    const two = await start("http://b", 30_000);
    await expect.poll(() => two.takeDuty("door")).toEqual({ kind: "own" });
    await expect(one.takeDuty("door")).rejects.toMatchObject({ code: "SESSION_LOCKED" });
    await Promise.all([one, two].map((store) => store.close().catch(() => {})));
  });
});
