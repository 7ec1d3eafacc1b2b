import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { mapBlobs } from "./testing/map-blobs.ts";
import { holdUncommitted, runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS, said } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`at the same moment ${UNLESS_THERE}`, () => {
  let url: string;
  let names = 0;
  const place = mapBlobs();
  const opened: PostgresStore<ListLedger>[] = [];
  beforeAll(async () => {
    url = await testDatabase();
  });
  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close().catch(() => {}))));

  async function gateway(address = "http://one"): Promise<PostgresStore<ListLedger>> {
    const store = await openPostgresStore({
      ...{ url, ports: SIMPLE_PORTS, address, ttlMs: 60_000, blobs: place.open },
    });
    opened.push(store);
    return store;
  }
  const newName = () => ({ agentId: "main", key: `agent:main:${names++}` });
  const entry = (id: string, text = id) => ({
    ...{ ...said(text), id, parentId: null, timestamp: new Date(0).toISOString() },
  });
  const step = (more: object = {}) =>
    ({ entries: [], deliveries: [], report: null, ...more }) as never;
  const reporting = (turnId: string, parts: Record<string, string>) =>
    step({ report: { report: { turnId }, parts } });

  it("a message is said or taken back, and never both", async () => {
    const store = await gateway();
    const name = newName();
    const log = await store.openLog(name);
    await store.keep(name, { name: "m", id: "m", body: '"m"' });
    const held = await holdUncommitted(
      url,
      `update inbox_row set taken_at = now(), body = '' where key = '${name.key}'`,
    );
    const saying = log.store(step({ entries: [entry("m")], said: ["m"] }));
    const outcome = saying.then(
      () => "said",
      ({ code }) => code,
    );
    await expect.poll(held.waiting).toBe(1);
    await held.commit();
    expect(await outcome).toBe("TRANSCRIPT_MOVED");
    expect(await store.log(log.session, { after: 0, limit: 9 })).toEqual([]);
  });

  it("no session is claimed that another gateway has claimed since it was found", async () => {
    const [one, two] = [await gateway("http://died"), await gateway("http://two")];
    const three = await gateway("http://three");
    const name = newName();
    const log = await one.openLog(name);
    await log.store(step({ entries: [entry("go")], isOfTurn: true }));
    await runSql(
      url,
      "update node set seen_at = now() - interval '1 hour' where address = 'http://died'",
    );
    const held = await holdUncommitted(
      url,
      `update session set owner = '${three.nodeId}', epoch = epoch + 1 where key = '${name.key}'`,
    );
    const looking = two.sweep();
    await expect.poll(held.waiting).toBe(1);
    await held.commit();
    expect((await looking).sessions).toEqual([]);
    expect(await one.ownerOf(name)).toBe("http://three");
  });

  it("two steps that store the same parts wait for each other at the first one alone", async () => {
    const store = await gateway();
    const [one, two] = [await store.openLog(newName()), await store.openLog(newName())];
    const held = await holdUncommitted(
      url,
      "insert into part (agent_id, hash, body) values ('main', 'a', 'A')",
    );
    const both = one.store(reporting("t1", { b: "B", a: "A" }));
    await expect.poll(held.waiting).toBe(1);
    // It would wait for ever if the other one had this part, and that one were waited for.
    await two.store(reporting("t2", { b: "B" }));
    await held.undo();
    await both;
    expect(await store.parts("main", ["a", "b"])).toEqual({ a: "A", b: "B" });
  });

  it("an engine's rows that come late leave those that were written after them", async () => {
    const store = await gateway();
    const log = await store.openLog(newName());
    const row = (key: string, body: string) => ({ kind: "sum", key, body });
    const held = await holdUncommitted(
      url,
      `insert into engine_row (agent_id, session_id, engine, kind, key, epoch, step, body)
       values ('main', '${log.session.sessionId}', 'e', 'sum', 'a', 1, 0, 'never')`,
    );
    const late = log.storeRows("e", [row("a", "1"), row("b", "old")]);
    await expect.poll(held.waiting).toBe(1);
    expect(await log.storeRows("e", [row("b", "new")])).toBe("stored");
    await held.undo();
    expect(await late).toBe("stored");
    expect(await store.engineRows(log.session, "e")).toEqual([row("a", "1"), row("b", "new")]);
  });

  it("no large body is dropped that a step is about to name", async () => {
    const store = await gateway();
    const log = await store.openLog(newName());
    const { sessionId } = log.session;
    // The report of the step waits for another one of its place, which never comes to be.
    const held = await holdUncommitted(
      url,
      `insert into report (agent_id, session_id, step, turn, body)
       values ('main', '${sessionId}', 1, 'never', '{}')`,
    );
    const large = "large ".repeat(20_000);
    const storing = log.store(
      step({ entries: [entry("large", large)], report: { report: { turnId: "t" }, parts: {} } }),
    );
    await expect.poll(held.waiting).toBe(1);
    const sweeping = store.sweepBlobs({ olderThanMs: -60_000 });
    await expect.poll(held.waiting).toBe(2);
    await held.undo();
    await storing;
    expect(await sweeping).toEqual({ dropped: 0, bytes: 0 });
    const [line] = await store.log(log.session, { after: 0, limit: 9 });
    expect(line!.body.length).toBeGreaterThan(large.length);
  });
});
