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
  ...{ version: "15.18", database: "clew", user: "ann", connections: 97, clockAheadMs: -3 },
  ...{ flushesCommits: true, synchronousCommit: "on", synchronousStandbys: 1, hasTrigrams: true },
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
    const alone = judgeFacts({ ...FACTS, synchronousStandbys: 0 }, 10);
    expect(alone[1]!.text).toContain("no synchronous standby");
    const lossy = judgeFacts({ ...FACTS, flushesCommits: false }, 10);
    expect(lossy).toMatchObject([{ level: "ok" }, { level: "warning", code: "storage-lossy" }]);
  });

  it.skipIf(whyNoPostgres() !== null)(`tells what was found ${UNLESS_THERE}`, async () => {
    const [found] = await findings({ driver: "postgres", url: await testDatabase() });
    expect(found).toMatchObject({ level: "ok", code: "storage" });
    expect(found!.text).toMatch(/^PostgreSQL \d+.*"clew", 11 of \d+ connections/);
  });
});
