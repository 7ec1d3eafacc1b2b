import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(
  `what engines keep beside sessions ${UNLESS_THERE}`,
  () => {
    let url: string;
    let names = 0;
    const opened: PostgresStore<ListLedger>[] = [];
    beforeAll(async () => {
      url = await testDatabase();
    });
    afterEach(() => Promise.all(opened.splice(0).map((store) => store.close().catch(() => {}))));

    async function gateway(): Promise<PostgresStore<ListLedger>> {
      const address = `http://gateway-${opened.length}`;
      const store = await openPostgresStore({ url, ports: SIMPLE_PORTS, address, ttlMs: 60_000 });
      opened.push(store);
      return store;
    }
    const newName = (agentId = "main") => ({ agentId, key: `agent:${agentId}:${names++}` });
    const row = (key: string, body: string | null) => ({ kind: "sum", key, body });

    it("is there for the next gateway, each row as it was written last, without those that went", async () => {
      const [one, two] = [await gateway(), await gateway()];
      const name = newName();
      const log = await one.openLog(name);
      expect(await log.storeRows("e", [row("a", "1"), row("b", "1")])).toBe("stored");
      expect(await log.storeRows("e", [row("a", "2"), row("b", null), row("c", "3")])).toBe(
        "stored",
      );
      expect(await log.storeRows("other", [row("a", "9")])).toBe("stored");
      await log.close();
      const next = await two.openLog(name);
      expect(await one.engineRows(next.session, "e")).toEqual([row("a", "2"), row("c", "3")]);
      expect(await next.storeRows("e", [row("b", "4")])).toBe("stored");
      expect(await one.engineRows(next.session, "e")).toEqual([
        row("a", "2"),
        row("b", "4"),
        row("c", "3"),
      ]);
    });

    it("is refused of whoever lost the session, or closed it", async () => {
      const [one, two] = [await gateway(), await gateway()];
      const name = newName();
      const log = await one.openLog(name);
      await log.storeRows("e", [row("a", "1")]);
      const other = newName();
      const closed = await one.openLog(other);
      await closed.close();
      expect(await closed.storeRows("e", [row("a", "1")])).toBe("lost");
      // Its process did not notice that it counts as dead.
      await (await gatewayThatTakes(two, name)).storeRows("e", [row("a", "2")]);
      expect(await log.storeRows("e", [row("a", "3")])).toBe("lost");
    });

    it("goes with its session, and is nobody else's", async () => {
      const one = await gateway();
      const [name, same] = [newName("mine"), newName("yours")];
      const [mine, yours] = [await one.openLog(name), await one.openLog(same)];
      await mine.storeRows("e", [row("a", "mine")]);
      await yours.storeRows("e", [row("a", "yours")]);
      expect(await one.engineRows(yours.session, "e")).toEqual([row("a", "yours")]);
      await mine.close();
      expect(await one.remove(name)).toBe(true);
      const fresh = await one.openLog(name);
      expect(await one.engineRows(fresh.session, "e")).toEqual([]);
      expect(await one.engineRows(yours.session, "e")).toEqual([row("a", "yours")]);
      expect(await one.engineRows(mine.session, "e")).toEqual([]);
    });

    it("has numbers that nobody gets twice, above those that are in use", async () => {
      const [one, two] = [await gateway(), await gateway()];
      expect(await one.reserveNumbers("n", { count: 10, above: 0 })).toBe(1);
      expect(await two.reserveNumbers("n", { count: 10, above: 0 })).toBe(11);
      expect(await one.reserveNumbers("n", { count: 10, above: 500 })).toBe(501);
      expect(await two.reserveNumbers("n", { count: 10, above: 0 })).toBe(511);
      expect(await two.reserveNumbers("m", { count: 1, above: 0 })).toBe(1);
      const many = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          (at % 2 === 0 ? one : two).reserveNumbers("c", { count: 3, above: 0 }),
        ),
      );
      expect(new Set(many).size).toBe(40);
      expect(many.every((first) => first % 3 === 1)).toBe(true);
    });

    /** Opened by another as if its owner were dead; said to be so by the database. */
    async function gatewayThatTakes(
      store: PostgresStore<ListLedger>,
      name: ReturnType<typeof newName>,
    ) {
      const { openDatabase } = await import("./database.ts");
      const database = openDatabase({ url, connections: 1, timeoutMs: 10_000 });
      const text = "update session set owner = null where key = $1 returning id";
      await database.ask({ name: "lose", text }, [name.key]);
      await database.end();
      const log = await store.openLog(name);
      return log;
    }
  },
);
