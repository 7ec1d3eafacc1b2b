import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPostgres } from "./check.ts";
import { openDatabase } from "./database.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";

const problemOf = async (url: string, connections = 2) => {
  const check = await checkPostgres({ url, connections });
  return check.ok ? null : check.problem;
};

describe("a database that cannot be used", () => {
  it.each(["clew", "http://localhost/clew", "postgres"])("is none: %s", async (url) => {
    expect(await problemOf(url)).toMatch(/write it as postgres:\/\//);
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
    expect(check.facts.flushesCommits).toBe(false);
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
});
