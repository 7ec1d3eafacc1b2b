import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, statSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPostgres } from "./check.ts";
import { openPostgresReader } from "./reader.ts";
import { openPostgresStore } from "./store.ts";
import { createDatabase, runSql, startPostgres, type TestServer } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS } from "./testing/simple-ports.ts";
import { withPlainMode } from "./tls.ts";

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

  it("is one that is written as name=value, of which it tells the supported form and no password", async () => {
    const problem = await problemOf("host=127.0.0.1 password=hush-hush dbname=clew");
    expect(problem).toMatch(/as name=value, .*write it as postgres:\/\/user:password@host:5432/);
    expect(problem).not.toContain("hush");
  });

  it.each([" postgres://ann:hush@127.0.0.1:1/clew", "postgres://ann:hush@127.0.0.1:1/clew \n"])(
    "is one with a space around it, which it says: '%s'",
    async (url) => {
      const problem = await problemOf(url);
      expect(problem).toMatch(/begins or ends with a space, .*write it as postgres:\/\//);
      expect(problem).not.toContain("hush");
    },
  );

  it("is one whose password has to be written otherwise, which it says without the password", async () => {
    for (const password of ["hush#hush", "hush/hush", "hush?hush"]) {
      const problem = await problemOf(`postgres://ann:${password}@127.0.0.1:1/clew`);
      expect(problem).toMatch(/%23 for #/);
      expect(problem).not.toContain("hush");
    }
  });

  it("is one whose sslmode there is not, and one whose certificate is not there", async () => {
    expect(await problemOf("postgres://ann@127.0.0.1:1/clew?sslmode=foo")).toMatch(
      /sslmode=foo, and there is no such mode; say verify-full/,
    );
    const file = "sslmode=verify-full&sslrootcert=/nowhere/ca.pem";
    expect(await problemOf(`postgres://ann@127.0.0.1:1/clew?${file}`)).toMatch(
      /names the file \/nowhere\/ca\.pem, which cannot be read \(ENOENT\); correct sslrootcert/,
    );
  });

  it("is where a server that speaks no TLS is asked for it", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.end("N"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const problem = await problemOf(`postgres://ann@127.0.0.1:${port}/clew?sslmode=verify-full`);
    server.close();
    expect(problem).toMatch(/^PostgreSQL at 127\.0\.0\.1:\d+ speaks no TLS, and the address asks/);
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
    await run("create role stranger login; revoke create on schema public from public");
    await run("create role limited login; grant create on schema public to limited");
    await run(`grant create on database "${databaseIn(url)}" to limited`);
  });
  afterAll(async () => {
    await run("drop owned by limited cascade; drop role limited; drop role stranger");
  });

  const run = (text: string) => runSql(url, text);

  it("is nobody else's while a gateway makes its tables", async () => {
    for (let round = 0; round < 4; round++) {
      const empty = await testDatabase();
      const made = openPostgresStore({
        ...{ url: empty, address: "http://makes", ports: SIMPLE_PORTS, ttlMs: 60_000 },
      });
      let isMade = false;
      const done = made.finally(() => {
        isMade = true;
      });
      const looks = async () => {
        const problems: unknown[] = [];
        while (!isMade) problems.push(await problemOf(empty));
        return problems;
      };
      const problems = await Promise.all([looks(), looks(), looks(), looks()]);
      await (await done).close();
      expect(problems.flat().filter((problem) => problem !== null)).toEqual([]);
    }
  });

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
    ["has no time to answer", "set statement_timeout = '1ms'", /too short.*alter role/],
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

  it("is refused where its user, or it, may have too few connections", async () => {
    await run("alter role limited connection limit 4");
    expect(await problemOf(asUser("limited"))).toMatch(
      /user "limited" allows 4 connections.*takes 5.*alter role "limited" connection limit -1/,
    );
    await run("alter role limited connection limit -1");
    await run(`alter database "${databaseIn(url)}" connection limit 3`);
    expect(await problemOf(asUser("limited"))).toMatch(/limit of the database .* allows 3 conn/);
    await run(`alter database "${databaseIn(url)}" connection limit -1`);
    expect(await problemOf(asUser("limited"))).toBe(null);
  });

  it("is refused where another program's tables have the names of ours, or a column is gone", async () => {
    const other = await testDatabase();
    const change = (text: string) => runSql(other, text);
    await change("create table session (id integer)");
    expect(await problemOf(other)).toMatch(/has tables that Clew would make \("session"\)/);
    const opened = openPostgresStore({ url: other, address: "http://one", ports: SIMPLE_PORTS });
    await expect(opened).rejects.toThrow(/another program/);
    await change("drop table session");
    await (
      await openPostgresStore({ url: other, address: "http://one", ports: SIMPLE_PORTS })
    ).close();
    expect(await problemOf(other)).toBe(null);
    await change("alter table session drop column last_step");
    expect(await problemOf(other)).toMatch(/"session" has no column "last_step"/);
    await change("update migration set version = 99");
    expect(await problemOf(other)).toMatch(/version 99/);
    await change("drop table migration");
    expect(await problemOf(other)).toMatch(/of a backup that is not whole/);
  });

  it("is told of with the gateways that live, and what its user may take at most", async () => {
    const store = await openPostgresStore({ url, address: "http://one", ports: SIMPLE_PORTS });
    await run(`alter role clew in database "${databaseIn(url)}" set statement_timeout = '7s'`);
    const check = await checkPostgres({ url, connections: 2 });
    await run(`alter role clew in database "${databaseIn(url)}" reset statement_timeout`);
    await store.close();
    expect(check).toMatchObject({ ok: true, facts: { gateways: 1, statementTimeoutMs: 7000 } });
  });
});

describe.skipIf(whyNoPostgres() !== null)(
  `a database whose synchronous standby is not there ${UNLESS_THERE}`,
  () => {
    let server: TestServer;
    let url: string;
    beforeAll(async () => {
      server = await startPostgres({
        folder: join(tmpdir(), `clew-no-standby-${randomUUID().slice(0, 8)}`),
        settings: {
          ...{ wal_level: "replica", max_wal_senders: "10" },
          // Who waits for nobody gets things ready.
          ...{ synchronous_standby_names: "nobody", synchronous_commit: "local" },
        },
      });
      url = await createDatabase(server, "alone");
      await runSql(url, "create role waits superuser login");
      await runSql(url, "alter role waits set synchronous_commit = 'on'");
    });
    afterAll(() => server?.stop());
    const waiting = () => url.replace("user=clew", "user=waits");
    const checked = (at: string, isRead = false) =>
      checkPostgres({ url: at, connections: 2, commitMs: 200, isRead });

    it("is refused in a sentence with what can be asked all the same, and nobody is left waiting", async () => {
      const check = await checked(waiting());
      expect(check).toMatchObject({ ok: false, facts: { user: "waits", standbyNames: "nobody" } });
      expect((check as { problem: string }).problem).toMatch(
        /^Commits at .* wait for a standby that is not there: .*"nobody", no standby follows/,
      );
      const left = "select 1 from pg_stat_activity where usename = 'waits'";
      await expect.poll(() => runSql(url, left)).toEqual([]);
      expect(await checked(url)).toMatchObject({ ok: true });
    });

    it("is read, once its tables are made", async () => {
      const made = await openPostgresStore({ url, address: "http://one", ports: SIMPLE_PORTS });
      await made.close();
      expect(await checked(waiting(), true)).toMatchObject({ ok: true });
      const reader = await openPostgresReader({ url: waiting(), ports: SIMPLE_PORTS });
      expect(await reader.list()).toEqual([]);
      await reader.close();
    });
  },
);

describe("an address that asks for TLS", () => {
  it.each(["prefer", "require", "verify-ca", "verify-full"])(
    "has certificate and name checked, and no warning is printed: %s",
    (mode) => {
      expect(withPlainMode(`postgres://ann@db/clew?sslmode=${mode}&a=b`)).toBe(
        "postgres://ann@db/clew?sslmode=verify-full&a=b",
      );
    },
  );

  it.each(["?sslmode=no-verify", "?sslmode=require&uselibpqcompat=true", "", "?a=sslmode=require"])(
    "is left as it is where that is said otherwise: %s",
    (query) => {
      const url = `postgres://ann@db/clew${query}`;
      expect(withPlainMode(url)).toBe(url);
    },
  );
});

describe.skipIf(whyNoPostgres() !== null || whyNoCertificate())(
  `a database that speaks TLS ${UNLESS_THERE}`,
  () => {
    it("says that nobody vouches for its certificate, and is used where somebody does", async () => {
      const port = await freePort();
      const server = await startPostgres({
        folder: join(tmpdir(), `clew-tls-${randomUUID().slice(0, 8)}`),
        settings: { ssl: "on", listen_addresses: "127.0.0.1", port: `${port}` },
        prepare: makeCertificate,
      });
      try {
        const at = `postgres://clew@127.0.0.1:${port}/postgres?sslmode=`;
        const problem = await problemOf(`${at}require`);
        expect(problem).toMatch(/certificate that nobody vouches for here \(.*sslrootcert=/);
        const known = `${at}verify-full&sslrootcert=${join(server.data, "server.crt")}`;
        expect(await problemOf(known)).toBe(null);
      } finally {
        await server.stop();
      }
    });
  },
);

function whyNoCertificate(): boolean {
  return spawnSync("openssl", ["version"]).status !== 0;
}

function makeCertificate(data: string): void {
  const [key, certificate] = [join(data, "server.key"), join(data, "server.crt")];
  const about = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...about];
  spawnSync("openssl", [...made, "-keyout", key, "-out", certificate]);
  const { uid, gid } = statSync(data);
  chmodSync(key, 0o600);
  for (const file of [key, certificate]) chownSync(file, uid, gid);
}

async function freePort(): Promise<number> {
  const listening = createServer().listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  listening.close();
  await once(listening, "close");
  return port;
}
