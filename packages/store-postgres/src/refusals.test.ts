import { randomBytes, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkPostgres } from "./check.ts";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { runSql, startPostgres } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS, said, textsOf } from "./testing/simple-ports.ts";
import { makeSmallDisk } from "./testing/small-disk.ts";

const user = `refused-${process.pid}-${Date.now()}`;
const TRIGGER = (what: string) => `
  create or replace function refuse() returns trigger language plpgsql as
    $$ begin ${what}; return new; end $$;
  create trigger refuse before insert on entry for each row execute function refuse();`;
const RAISE = (code: string) => TRIGGER(`raise exception 'no' using errcode = '${code}'`);
const NO_TRIGGER = "drop trigger refuse on entry";

describe.skipIf(whyNoPostgres() !== null)(`a database that refuses ${UNLESS_THERE}`, () => {
  let admin: string;
  let url: string;
  let names = 0;
  const opened: PostgresStore<ListLedger>[] = [];
  beforeAll(async () => {
    admin = await testDatabase();
    await runSql(admin, `create role "${user}" login; grant create on schema public to "${user}"`);
    const other = new URL(admin);
    other.searchParams.set("user", user);
    url = other.href;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  const gateway = async () => {
    const address = `http://refused-${opened.length}`;
    const store = await openPostgresStore({ url, address, ports: SIMPLE_PORTS, ttlMs: 60_000 });
    opened.push(store);
    return store;
  };
  const newName = () => ({ agentId: "main", key: `agent:main:${names++}` });
  /** Settings of a role are those of its next connections, so there are none of before. */
  async function change(sql: string): Promise<void> {
    await runSql(admin, sql);
    if (!sql.includes("alter role")) return;
    const ended = `select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = '${user}'`;
    await runSql(admin, ended);
    // The pool hears of it.
    await after(50);
  }

  it.each([
    ["has no room left", RAISE("53100"), NO_TRIGGER, "53100"],
    ["breaks", RAISE("XX000"), NO_TRIGGER, "XX000"],
    [
      "took a right away",
      `revoke insert on entry from "${user}"`,
      `grant insert on entry to "${user}"`,
      "42501",
    ],
    [
      "stops what takes long",
      `${TRIGGER("perform pg_sleep(20)")} alter role "${user}" set statement_timeout = '100ms'`,
      `${NO_TRIGGER}; alter role "${user}" reset statement_timeout`,
      "57014",
    ],
  ])(
    "because it %s is told in a sentence, keeps what it acknowledged, and is used again",
    async (...given) => {
      const [, breaks, mends, code] = given;
      const store = await gateway();
      const name = newName();
      const transcript = await store.open(name);
      await transcript.append([said("one")]);
      await change(breaks);
      const refused = await transcript.append([said("two")]).catch((error: unknown) => error);
      await change(mends);
      expect(refused).toMatchObject({ code: "STORAGE_FAILED" });
      const { message } = refused as Error;
      expect(message).toContain(`(${code})`);
      // A connection that was ended under it leaves open what became of it.
      expect(message).toMatch(
        code === "57014"
          ? /^[^\n]+, as PostgreSQL [^\n]+\.$/
          : /^The last step of session \S+ was not stored, as PostgreSQL [^\n]+\.$/,
      );
      const again = await store.open(name);
      await again.append([said("three")]);
      expect(textsOf(await again.read({ after: null }))).toBe("one three");
      expect(store.alive.aborted).toBe(false);
    },
  );

  it.each([
    ["has no connection left", "connection limit 0", "connection limit -1"],
    [
      "has become a standby",
      "set default_transaction_read_only = on",
      "reset default_transaction_read_only",
    ],
  ])("because it %s for a moment keeps nobody from going on", async (_why, breaks, mends) => {
    const store = await gateway();
    const name = newName();
    const transcript = await store.open(name);
    await change(`alter role "${user}" ${breaks}`);
    const stored = transcript.append([said("one")]);
    const opening = store.open(newName());
    const kept = store.keep(name, { name: "m", id: "m", body: '"m"' });
    await after(300);
    await change(`alter role "${user}" ${mends}`);
    await Promise.all([stored, opening, kept]);
    expect(textsOf(await transcript.read({ after: null }))).toBe("one");
    expect(await store.waiting(name)).toHaveLength(1);
  });

  it("because its disk is full, goes on as soon as there is room", async ({ skip }) => {
    const disk = makeSmallDisk(40);
    if (disk === null) return skip("no small disk may be made here");
    // What the disk does not take any work of its server may have to write.
    const folder = join(tmpdir(), `clew-full-${randomUUID().slice(0, 8)}`);
    const server = await startPostgres({ folder });
    const admin = server.urlOf("postgres");
    await runSql(admin, `create tablespace small location '${disk.folder}'`);
    await runSql(admin, "create database small tablespace small");
    const url = server.urlOf("small");
    const store = await openPostgresStore({
      ...{ url, address: "http://full", ports: SIMPLE_PORTS, ttlMs: 60_000 },
    });
    try {
      const session = { agentId: "main", key: "full" };
      const told: string[] = [];
      /** It cannot be made smaller. */
      const bulk = () => randomBytes(30_000).toString("base64");
      let transcript = await store.open(session);
      const append = async (number: number) => {
        const text = `m${number}-${bulk()}`;
        await transcript.append([said(text)]);
        told.push(text);
      };
      for (let number = 0; number < 5; number++) await append(number);
      disk.fill();
      let refused: unknown;
      for (let number = 5; refused === undefined; number++)
        await append(number).catch((error: unknown) => {
          refused = error;
        });
      expect(refused).toMatchObject({ code: "STORAGE_FAILED" });
      expect((refused as Error).message).toMatch(/^[^\n]+was not stored[^\n]+\(53100\)[^\n]+\.$/);
      expect(await store.list()).toHaveLength(1);
      const asked = { url, connections: 2, triesRoom: true };
      expect(await store.hasRoom()).toBe(false);
      expect(await checkPostgres(asked)).toMatchObject({ ok: true, facts: { hasRoom: false } });
      disk.empty();
      expect(await store.hasRoom()).toBe(true);
      expect(await checkPostgres(asked)).toMatchObject({ ok: true, facts: { hasRoom: true } });
      transcript = await store.open(session);
      await append(1000);
      expect(textsOf(await transcript.read({ after: null }))).toBe(told.join(" "));
    } finally {
      await store.close();
      disk.empty();
      await server.stop();
      disk.remove();
    }
  });

  it("cannot be read without its tables, which is told in a sentence", async () => {
    const store = await gateway();
    await runSql(admin, "alter table report rename to gone");
    const refused = await store
      .reports({ agentId: "main", sessionId: "s" }, { limit: 1 })
      .catch((error: unknown) => error);
    await runSql(admin, "alter table gone rename to report");
    expect(refused).toMatchObject({ code: "STORAGE_FAILED" });
    expect((refused as Error).message).toMatch(/^PostgreSQL [^\n]+\(42P01\)[^\n]+\.$/);
  });
});
