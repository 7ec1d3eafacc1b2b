import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/all.ts";
import { openPostgresReader } from "./reader.ts";
import { openPostgresStore } from "./store.ts";
import { runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`the tables of a database ${UNLESS_THERE}`, () => {
  let url: string;
  const opened: Database[] = [];
  const connect = () => {
    const database = openDatabase({ url, connections: 1, timeoutMs: 20_000 });
    opened.push(database);
    return database;
  };
  beforeAll(async () => {
    url = await testDatabase();
  });
  afterAll(() => Promise.all(opened.map((each) => each.end())));

  it("are made once by gateways that start at the same time, and left alone afterwards", async () => {
    await Promise.all(Array.from({ length: 4 }, () => migrate(connect())));
    await migrate(connect());
    const version = { name: "version", text: "select version from migration" };
    expect(await connect().ask(version, [])).toEqual([{ version: MIGRATIONS.length }]);
  });

  it("of a newer version are refused", async () => {
    const database = connect();
    await database.change(async () => "update migration set version = 99");
    await expect(migrate(database)).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    await expect(migrate(database)).rejects.toThrow("99");
  });

  describe("of an older version", () => {
    const LAST = MIGRATIONS.length;
    const versionIn = async (at: string) =>
      (await runSql(at, "select version from migration"))[0]!.version;
    /** Made by the first so many changes. */
    async function older(version = LAST - 1): Promise<string> {
      const at = await testDatabase();
      await runSql(
        at,
        `create table migration (id integer primary key, version integer not null);
         insert into migration values (1, ${version});
         ${MIGRATIONS.slice(0, version).join(";")}`,
      );
      return at;
    }
    const open = (at: string, address: string, place?: string) =>
      openPostgresStore({
        ...{ url: at, address, ports: SIMPLE_PORTS, ttlMs: 60_000, version: "2.0" },
        ...(place !== undefined && { place }),
      });
    const live = (at: string, address: string, { place = "", seenAgo = "0 seconds" } = {}) =>
      runSql(
        at,
        `insert into node (id, address, version, ttl_ms, seen_at, place) values
          (gen_random_uuid(), '${address}', '1.0', 60000, now() - interval '${seenAgo}',
           nullif('${place}', ''))`,
      );

    it("are not changed while a gateway lives that knows no others, which is named", async () => {
      const at = await older();
      await live(at, "http://old:1");
      await live(at, "http://dead:1", { seenAgo: "1 hour" });
      const opening = open(at, "http://new:1");
      await expect(opening).rejects.toMatchObject({ code: "STORAGE_FAILED" });
      await expect(opening).rejects.toThrow(
        /older gateways that run .*http:\/\/old:1 \(1\.0\); stop/,
      );
      const reading = openPostgresReader({ url: at, ports: SIMPLE_PORTS });
      await expect(reading).rejects.toThrow("http://old:1");
      expect(await versionIn(at)).toBe(LAST - 1);
      await runSql(at, "delete from node where address = 'http://old:1'");
      await (await open(at, "http://new:1")).close();
      expect(await versionIn(at)).toBe(LAST);
    });

    it("are not changed either where they are the first ones there were", async () => {
      const at = await older(1);
      await runSql(
        at,
        "insert into node values (gen_random_uuid(), 'http://first:1', '', 60000, now())",
      );
      await expect(open(at, "http://new:1", "a home")).rejects.toThrow(/http:\/\/first:1; stop/);
      await runSql(at, "delete from node");
      await (await open(at, "http://new:1", "a home")).close();
      expect(await versionIn(at)).toBe(LAST);
    });

    it("are changed by who starts where the one that was killed ran", async () => {
      const at = await older();
      await live(at, "http://old:1", { place: "a home" });
      await expect(open(at, "http://new:1", "another home")).rejects.toThrow("http://old:1");
      await (await open(at, "http://new:1", "a home")).close();
      expect(await versionIn(at)).toBe(LAST);
    });
  });

  it("that are newer are left by a gateway, which says so, also where it had joined", async () => {
    const at = await testDatabase();
    const store = { url: at, address: "http://old:1", ports: SIMPLE_PORTS, ttlMs: 60_000 };
    await (await openPostgresStore(store)).close();
    await runSql(
      at,
      `create function grow() returns trigger language plpgsql as
         $$ begin update migration set version = version + 1; return new; end $$;
       create trigger grow after insert on node execute function grow()`,
    );
    // The newer one changes the tables in the moment in which this one joins.
    await expect(openPostgresStore(store)).rejects.toThrow(
      /tables of version .*update the gateway/,
    );
    expect(await runSql(at, "select 1 from node")).toEqual([]);
    await expect(openPostgresStore(store)).rejects.toThrow(
      /tables of version .*update the gateway/,
    );
  });
});
