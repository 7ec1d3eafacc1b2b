import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPostgres } from "./check.ts";
import { openDatabase } from "./database.ts";
import { openPostgresStore } from "./store.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS } from "./testing/simple-ports.ts";

const databaseIn = (url: string) => new URL(url).pathname.slice(1);

const problemOf = async (url: string, connections = 2) => {
  const check = await checkPostgres({ url, connections });
  return check.ok ? null : check.problem;
};

describe("a database that cannot be used", () => {
  it.each(["clew", "http://localhost/clew", "postgres"])("is none: %s", async (url) => {
    expect(await problemOf(url)).toMatch(/write it as postgres:\/\//);
  });

  it("is one that names two hosts, which the driver cannot ask", async () => {
    expect(await problemOf("postgres://ann:hush@one:5432,two:5432/clew")).toMatch(/several hosts/);
  });

  it("is one whose password has to be written otherwise, which it says without the password", async () => {
    for (const password of ["hush#hush", "hush/hush", "hush?hush"]) {
      const problem = await problemOf(`postgres://ann:${password}@127.0.0.1:1/clew`);
      expect(problem).toMatch(/%23 for #/);
      expect(problem).not.toContain("hush");
    }
  });

  it("is where nobody answers, and its password is told to nobody", async () => {
    const problem = await problemOf("postgres://ann:hush-hush@127.0.0.1:1/clew");
    expect(problem).toMatch(/^Nobody answers as PostgreSQL at 127\.0\.0\.1:1 \(ECONNREFUSED\)/);
    expect(problem).not.toContain("hush");
  });
});

describe.skipIf(whyNoPostgres() !== null)(`a database that is there ${UNLESS_THERE}`, () => {
  let url: string;
  const asUser = (user: string) => {
    const other = new URL(url);
    other.searchParams.set("user", user);
    return other.href;
  };
  beforeAll(async () => {
    url = await testDatabase();
    await runSql("create role stranger login; revoke create on schema public from public");
  });
  afterAll(() => runSql("drop role stranger"));

  async function runSql(text: string): Promise<void> {
    const database = openDatabase({ url, connections: 1, timeoutMs: 20_000 });
    await database.change(async () => text);
    await database.end();
  }

  it("is told of: its version, and whether it keeps what it acknowledged", async () => {
    const check = await checkPostgres({ url, connections: 2 });
    expect(check).toMatchObject({ ok: true, facts: { user: "clew", synchronousCommit: "on" } });
    if (!check.ok) return;
    expect(Number.parseInt(check.facts.version, 10)).toBeGreaterThanOrEqual(15);
    // The server of the tests does not wait for the disk.
    expect(check.facts).toMatchObject({ flushesCommits: false, mendsPages: false });
    expect(check.facts).toMatchObject({ synchronousStandbys: 0, standbyNames: "", gateways: 0 });
    expect(check.facts).toMatchObject({ statementTimeoutMs: 0, hasTrigrams: true });
    expect(check.facts.connections).toBeGreaterThan(check.facts.connectionsUsed);
  });

  it.each([
    ["is set to be read only", "set default_transaction_read_only = on", /read only/],
    ["cannot hold every text", "", /encoded as SQL_ASCII.*UTF8/],
  ])("is refused where it %s", async (_what, setting, sentence) => {
    const name = `check-${process.pid}-${Date.now()}`;
    const alone = url.replace(databaseIn(url), name);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const encoding = setting === "" ? "encoding 'SQL_ASCII' template template0" : "";
    await client.query(`create database "${name}" ${encoding}`);
    if (setting !== "") await client.query(`alter database "${name}" ${setting}`);
    await client.end();
    expect(await problemOf(alone)).toMatch(sentence);
  });

  it("is refused to a user who may make no tables, with what its owner can do", async () => {
    expect(await problemOf(asUser("stranger"))).toMatch(
      /^The user "stranger" may not make tables.*grant create/,
    );
  });

  it("is refused to a user whom it does not know", async () => {
    expect(await problemOf(asUser("nobody-at-all"))).toContain('"nobody-at-all"');
  });

  it("is refused where it is named wrongly", async () => {
    expect(await problemOf(url.replace(/test-[^?]+/, "elsewhere"))).toMatch(
      /has no database "elsewhere"/,
    );
  });

  it("is refused where it has too few connections", async () => {
    expect(await problemOf(url, 5000)).toMatch(/connections in all.*storage\.connections 5000/);
  });

  it("is told of with the gateways that live, and what its user may take at most", async () => {
    const store = await openPostgresStore({ url, address: "http://one", ports: SIMPLE_PORTS });
    await runSql(`alter role clew in database "${databaseIn(url)}" set statement_timeout = '7s'`);
    const check = await checkPostgres({ url, connections: 2 });
    await runSql(`alter role clew in database "${databaseIn(url)}" reset statement_timeout`);
    await store.close();
    expect(check).toMatchObject({ ok: true, facts: { gateways: 1, statementTimeoutMs: 7000 } });
  });
});
