import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/all.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";

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
});
