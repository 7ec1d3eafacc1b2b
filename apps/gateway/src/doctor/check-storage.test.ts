import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../packages/store-postgres/src/testing/shared.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { checkStorage, judgeFacts } from "./check-storage.ts";

const findings = (storage: object, variables: Record<string, string> = {}) =>
  checkStorage(
    readEnvironment({ CLEW_HOME: "/nowhere", ...variables }),
    checkConfigText(JSON.stringify({ storage, door: { enabled: false } }), "clew.json"),
  );

const FACTS = {
  queue: { schema: "clew_jobs", version: 46, known: 46 },
  ...{ version: "15.18", database: "clew", user: "ann", connections: 97, clockAheadMs: -3 },
  ...{ flushesCommits: true, synchronousCommit: "on", synchronousStandbys: 1, hasTrigrams: true },
  ...{
    mendsPages: true,
    standbyNames: "*",
    connectionsUsed: 3,
    gateways: 1,
    statementTimeoutMs: 0,
  },
  ...{ ownConnections: 3, connectionsAdvice: "raise max_connections", hasRoom: true },
};

describe("the doctor on where sessions are", () => {
  it("says nothing of files", async () => {
    expect(await findings({})).toEqual([]);
  });

  it("says why a database cannot be used, without its password", async () => {
    const url = "postgres://ann:hush-hush@127.0.0.1:1/clew";
    const [found] = await findings({ driver: "postgres" }, { CLEW_STORAGE_URL: url });
    expect(found).toMatchObject({ level: "failure", code: "storage-unusable" });
    expect(found!.text).toMatch(/127\.0\.0\.1:1/);
    expect(JSON.stringify(found)).not.toContain("hush");
    expect(await findings({ driver: "postgres" })).toMatchObject([{ code: "storage-unusable" }]);
  });

  it("warns of a database that may lose what it acknowledged", () => {
    expect(judgeFacts(FACTS, 10)).toMatchObject([{ level: "ok" }]);
    const alone = judgeFacts({ ...FACTS, synchronousStandbys: 0, standbyNames: "" }, 10);
    expect(alone[1]!.text).toContain("no synchronous standby");
    for (const lossy of [
      { flushesCommits: false },
      { mendsPages: false },
      { synchronousCommit: "off" },
      { synchronousCommit: "local" },
    ])
      expect(judgeFacts({ ...FACTS, ...lossy }, 10)).toMatchObject([
        { level: "ok" },
        { level: "warning", code: "storage-lossy" },
      ]);
  });

  it("fails where the disk of the database is full", () => {
    const [, full] = judgeFacts({ ...FACTS, hasRoom: false }, 10);
    expect(full).toMatchObject({ level: "failure", code: "storage-unusable" });
    expect(full!.text).toMatch(/no room left on the disk of the database "clew"/);
  });

  it("warns where connections or time are short, for all gateways together", () => {
    for (const short of [
      { gateways: 9 },
      { gateways: 0, connectionsUsed: 90 },
      { statementTimeoutMs: 200 },
    ])
      expect(judgeFacts({ ...FACTS, ...short }, 10)).toMatchObject([
        { level: "ok" },
        { level: "warning", code: "storage-limits" },
      ]);
    expect(judgeFacts({ ...FACTS, gateways: 7, statementTimeoutMs: 9000 }, 10)).toHaveLength(1);
  });

  it("is at ease with a clock that is an hour off", () => {
    const [off] = judgeFacts({ ...FACTS, clockAheadMs: 3_600_000 }, 10);
    expect(off).toMatchObject({ level: "ok" });
    expect(off!.text).toContain("3600000 ms ahead");
  });

  it("warns of a database in which texts cannot be found by an index", () => {
    const found = judgeFacts({ ...FACTS, hasTrigrams: false }, 10);
    expect(found).toMatchObject([{ level: "ok" }, { level: "warning", code: "storage-search" }]);
  });

  it.skipIf(whyNoPostgres() !== null)(`tells what was found ${UNLESS_THERE}`, async () => {
    const [found] = await findings({ driver: "postgres", url: await testDatabase() });
    expect(found).toMatchObject({ level: "ok", code: "storage" });
    expect(found!.text).toMatch(/^PostgreSQL \d+.*"clew", 13 of \d+ connections/);
  });
});
