import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresCopy } from "./copy/open-copy.ts";
import { openDatabase } from "./database.ts";
import { PART_USES } from "./migrations/0017-part-uses.ts";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { mapBlobs } from "./testing/map-blobs.ts";
import { holdUncommitted, runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`parts of requests ${UNLESS_THERE}`, () => {
  let url: string;
  let store: PostgresStore<ListLedger>;
  let names = 0;
  const place = mapBlobs();
  beforeAll(async () => {
    url = await testDatabase();
    store = await gateway(url);
  });
  afterAll(() => store.close());

  const gateway = (at: string) =>
    openPostgresStore({
      ...{ url: at, ports: SIMPLE_PORTS, address: "http://one", ttlMs: 60_000, blobs: place.open },
    });
  const newName = (agentId = "main") => ({ agentId, key: `agent:${agentId}:${names++}` });
  const reporting = (turnId: string, parts: Record<string, string>) => ({
    ...{ entries: [], deliveries: [], report: { report: { turnId }, parts } },
  });
  async function session(parts: Record<string, string>, name = newName()) {
    const log = await store.openLog(name);
    await log.store(reporting("t1", parts));
    await log.close();
    return { ...name, sessionId: log.session.sessionId };
  }
  const left = async () =>
    (await runSql(url, "select hash from part order by hash")).map(({ hash }) => hash);
  const clean = () => runSql(url, "delete from session; delete from part; delete from part_use");

  it("go with the last session that names them, and what they have elsewhere with them", async () => {
    const large = "large ".repeat(20_000);
    const one = await session({ own: "what was said", both: "the system prompt", large });
    const two = await session({ both: "the system prompt" });
    const others = await session({ own: "what was said" }, newName("other"));
    expect([await left(), place.kept.size]).toEqual([["both", "large", "own", "own"], 1]);
    expect(await store.remove(one)).toBe(true);
    expect([await left(), place.kept.size]).toEqual([["both", "own"], 0]);
    expect(await store.parts("other", ["own"])).toEqual({ own: "what was said" });
    expect(await store.remove(two)).toBe(true);
    expect(await store.remove(others)).toBe(true);
    expect([await left(), await runSql(url, "select 1 from part_use")]).toEqual([[], []]);
  });

  it("stay with a session that somebody has open", async () => {
    const log = await store.openLog(newName());
    await log.store(reporting("t1", { own: "said" }));
    const { agentId, sessionKey: key } = log.session;
    expect(await store.remove({ agentId, key })).toBe(false);
    expect(await left()).toEqual(["own"]);
    await log.close();
    expect(await store.remove({ agentId, key })).toBe(true);
  });

  it("are stored anew by a turn that names them while they go", async () => {
    const one = await session({ both: "the system prompt" });
    const two = await store.openLog(newName());
    // Only what removes is waiting for this table, with the part held.
    const held = await holdUncommitted(url, "lock table kept_file in share mode");
    const removed = store.remove(one);
    await expect.poll(held.waiting).toBe(1);
    const stored = two.store(reporting("t2", { both: "the system prompt" }));
    await expect.poll(held.waiting).toBe(2);
    await held.undo();
    expect(await removed).toBe(true);
    await stored;
    expect(await store.parts("main", ["both"])).toEqual({ both: "the system prompt" });
    await two.close();
    await clean();
  });

  it.each(["read committed", "serializable"])(
    "stay with a turn that was about to name them before they were to go, %s",
    async (level) => {
      const setting = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
      const removing = await gateway(`${url}&options=${encodeURIComponent(setting)}`);
      const one = await session({ both: "the system prompt" });
      const two = await store.openLog(newName());
      // Its report waits for another one of its place, which never comes to be.
      const held = await holdUncommitted(
        url,
        `insert into report (agent_id, session_id, step, turn, body)
       values ('main', '${two.session.sessionId}', 1, 'never', '{}')`,
      );
      const stored = two.store(reporting("t2", { both: "the system prompt" }));
      await expect.poll(held.waiting).toBe(1);
      const removed = removing.remove(one);
      await expect.poll(held.waiting).toBe(2);
      await held.undo();
      expect(await removed).toBe(true);
      await stored;
      expect(await store.parts("main", ["both"])).toEqual({ both: "the system prompt" });
      await two.close();
      await removing.close();
      await clean();
    },
  );

  it("that reports of a gateway of the version before name stay with its sessions", async () => {
    const one = await session({ both: "the system prompt" });
    const two = await session({ both: "the system prompt" });
    await runSql(
      url,
      `update report set is_told = false where session_id = '${two.sessionId}';
       delete from part_use where session_id = '${two.sessionId}'`,
    );
    expect(await store.remove(one)).toBe(true);
    expect(await left()).toEqual(["both"]);
    expect(await store.remove(two)).toBe(true);
    expect(await left()).toEqual([]);
  });

  it("that kept reports of a copied session name go with it alone", async () => {
    const copy = await openPostgresCopy({ url, address: "copy", place: "there" });
    await copy.putParts("main", new Map([["kept", "said"]]));
    const one = await session({ kept: "said" });
    const name = { agentId: "main", key: "copied", sessionId: "copied" };
    const claim = await copy.claim(name);
    if (claim.kind === "held") throw new Error("nobody else has it");
    const toPut = {
      ...{ key: "copied", label: null, stored: 0, head: 0, lastEntry: null, branch: [] },
      ...{ header: null, bytes: 1, changedAt: 1, deliveries: [], files: [], base: "b" },
      ...{ names: ["kept", "no-part"], told: "all" as const, engineRows: [] },
      entries: async function* () {},
    };
    const record = { ...name, print: "p", label: null, rows: null };
    expect(await claim.session.put({ home: "home", record, session: toPut })).toBe(true);
    await claim.session.release();
    await store.remove(one);
    expect(await left()).toEqual(["kept"]);
    await store.remove(name);
    expect([await left(), await runSql(url, "select 1 from part_use")]).toEqual([[], []]);
    await copy.close();
  });

  it("of sessions that were removed before there were uses go, but for what kept files may name", async () => {
    const one = await session({ own: "said" });
    await session({ own: "said" }, newName("copied"));
    await runSql(
      url,
      `insert into part values ('main', 'gone', 'x'), ('copied', 'gone', 'x');
       insert into kept_file
         (home, place_id, piece, place, agent_id, session_id, kind, is_own, size, sha, changed_at, body)
       values ('h', 'p', 0, 'agents/copied/reports/s.jsonl', 'copied', 's', 0, false, 0, '', 0, '');
       drop table part_use; alter table report drop column is_told;`,
    );
    const database = openDatabase({ url, connections: 1, timeoutMs: 15_000 });
    await database.change(async () => PART_USES);
    await database.end();
    const rows = await runSql(url, "select agent_id as agent, hash from part order by 1, 2");
    expect(rows.map(({ agent, hash }) => `${agent} ${hash}`)).toEqual([
      ...["copied gone", "copied own", "main own"],
    ]);
    await store.remove(one);
    expect(await left()).toEqual(["gone", "own"]);
  });
});
