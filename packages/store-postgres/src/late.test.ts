import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "./database.ts";
import { release } from "./lease.ts";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS, said } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`what comes late ${UNLESS_THERE}`, () => {
  let url: string;
  let names = 0;
  const opened: PostgresStore<ListLedger>[] = [];
  beforeAll(async () => {
    url = await testDatabase();
  });
  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close().catch(() => {}))));

  async function gateway(
    address = "http://one",
    ttlMs = 60_000,
  ): Promise<PostgresStore<ListLedger>> {
    const store = await openPostgresStore({ url, ports: SIMPLE_PORTS, address, ttlMs });
    opened.push(store);
    return store;
  }
  const newName = () => ({ agentId: "main", key: `agent:main:${names++}` });
  const declareDead = (address: string) =>
    runSql(url, `update node set seen_at = now() - interval '1 hour' where address = '${address}'`);
  const entry = (id: string) => ({
    ...{ ...said(id), id, parentId: null, timestamp: new Date(0).toISOString() },
  });
  const step = (more: object) => ({ entries: [], deliveries: [], report: null, ...more }) as never;
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      ({ code }) => code,
    );

  it("from a gateway whose session was claimed to be gone on with is refused at once", async () => {
    const [one, two] = [await gateway("http://died-1"), await gateway("http://two")];
    const name = newName();
    const log = await one.openLog(name);
    await log.store(step({ entries: [entry("go")], isOfTurn: true }));
    await declareDead("http://died-1");
    expect((await two.sweep()).sessions.map(({ key }) => key)).toEqual([name.key]);
    expect(await codeOf(log.store(step({ entries: [entry("late")] })))).toBe("SESSION_LOCKED");
    const { turn } = (await runSql(url, `select turn from session where key = '${name.key}'`))[0]!;
    expect([turn, await two.log(log.session, { after: 1, limit: 9 })]).toEqual(["go", []]);
  });

  it("of a report changes nothing in a session that another gateway has", async () => {
    const [one, two] = [await gateway("http://died-2"), await gateway("http://two")];
    const name = newName();
    const log = await one.openLog(name);
    await log.store(step({ report: { report: { turnId: "t", outcome: "completed" }, parts: {} } }));
    await declareDead("http://died-2");
    await two.openLog(name);
    expect(await codeOf(log.amendReport({ turnId: "t", outcome: "late" }))).toBe("SESSION_LOCKED");
    const [stored] = await two.reports(log.session, { limit: 1 });
    expect(stored!.report).toEqual({ turnId: "t", outcome: "completed" });
  });

  it("from a gateway that may no longer act is not even sent", async () => {
    const one = await gateway("http://died-3", 1000);
    const name = newName();
    const log = await one.openLog(name);
    const refused = new Promise<string>((tell) => {
      one.alive.addEventListener("abort", () =>
        tell(codeOf(log.store(step({ entries: [entry("late")] })))),
      );
    });
    await declareDead("http://died-3");
    // Nobody claimed its session meanwhile: the database would store it.
    expect(await refused).toBe("SESSION_LOCKED");
    expect(
      await runSql(url, `select head_seq::int from session where key = '${name.key}'`),
    ).toEqual([{ head_seq: 0 }]);
  });

  it("from the closing before gives up no session that was opened again", async () => {
    const [one, two] = [await gateway(), await gateway("http://two")];
    const name = newName();
    const before = await one.openLog(name);
    await before.close();
    const { session } = await one.openLog(name);
    const database = openDatabase({ url, connections: 1, timeoutMs: 15_000 });
    const lease = { agentId: "main", sessionId: session.sessionId, key: name.key, epoch: 1 };
    await release(database, lease, one.nodeId);
    expect(await two.ownerOf(name)).toBe("http://one");
    await release(database, { ...lease, epoch: 2 }, one.nodeId);
    expect(await two.ownerOf(name)).toBe(null);
    await database.end();
  });

  it("as a message that waits already is seen to by the gateway that was asked last", async () => {
    const [one, two] = [await gateway(), await gateway("http://two")];
    const name = newName();
    const message = { name: "m", id: "m", body: '"m"' };
    await one.keep(name, message);
    await two.keep(name, message);
    const due = async (store: typeof one) =>
      (await store.sweep()).messages.map(({ key }) => key).filter((key) => key === name.key);
    expect([await due(one), await due(two)]).toEqual([[], [name.key]]);
  });
});
