import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openPostgresStore } from "@clew/store-postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import { runSql } from "../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../packages/store-postgres/src/testing/shared.ts";
import { createJobFiles } from "../cron/job-files.ts";
import { createJobRows } from "../storage/postgres/job-rows.ts";
import { POSTGRES_PORTS } from "../storage/postgres/ports.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { judgeQueues } from "./check-shared-jobs.ts";

describe("the doctor on queues", () => {
  const queue = { queue: "cron", waiting: 0, running: 1, retrying: 0, oldestMs: 0, doneAt: null };
  const given = { gateways: 2, schema: "clew_jobs", version: 46 };

  it("tells how they stand, and what waits for too long while gateways live", () => {
    const [ok] = judgeQueues([queue, { ...queue, waiting: 2, doneAt: 0 }], given);
    expect(ok).toMatchObject({ level: "ok", code: "jobs-queue" });
    expect(ok!.text).toMatch(/version 46, schema "clew_jobs".*2 due, 2 running.*nothing was done/);
    const late = [{ ...queue, waiting: 1, retrying: 1, oldestMs: 3_600_000 }];
    expect(judgeQueues(late, given)[1]).toMatchObject({
      ...{ level: "warning", code: "jobs-queue-late" },
    });
    expect(judgeQueues(late, { ...given, gateways: 0 })).toHaveLength(1);
  });
});

describe.skipIf(whyNoPostgres() !== null)(`the doctor on jobs of gateways ${UNLESS_THERE}`, () => {
  it("names what is late, failed, left in files, or not there yet", {
    timeout: 60_000,
  }, async () => {
    const url = await testDatabase();
    const home = await temporaryHome();
    const storage = { driver: "postgres", url };
    await writeFile(join(home, "clew.json"), JSON.stringify({ storage, door: { enabled: false } }));
    const found = async (pattern = /^jobs?(?:-|$)/) => {
      const { findings } = JSON.parse((await clew(home, ["doctor", "--json"])).output) as {
        findings: { level: string; code: string; text: string }[];
      };
      return findings.filter(({ code }) => pattern.test(code));
    };
    expect(await found()).toMatchObject([
      { level: "note", code: "jobs-queue", text: expect.stringContaining('"clew_jobs" yet') },
    ]);
    expect(await runSql(url, "select 1 from pg_tables where schemaname = 'public'")).toEqual([]);

    const store = await openPostgresStore({ url, address: "http://one", ports: POSTGRES_PORTS });
    onTestFinished(() => store.close());
    const queue = await store.openQueue({ onTrouble() {} });
    onTestFinished(() => queue.stop());
    expect(await found()).toMatchObject([{ level: "ok", code: "jobs-queue" }]);

    await clew(home, ["cron", "add", "every 1h", "look", "--id", "late"]);
    const rows = createJobRows(store);
    const [job] = await rows.jobs();
    const hours = (count: number) => job!.createdAt - count * 3_600_000;
    await rows.write({ ...job!, createdAt: hours(1.5), enabledAt: hours(1.5) });
    await rows.write({ ...job!, id: "failed" });
    const moments = { due: 1, startedAt: 1, endedAt: 2, missed: 0 };
    await rows.appendRun("failed", { ...moments, outcome: "failed", reason: "no model" });
    await createJobFiles(home).write({ ...job!, id: "left" });
    expect(await found()).toMatchObject([
      { code: "jobs-elsewhere", text: expect.stringContaining("(left)") },
      { code: "job-late", text: expect.stringMatching(/^job late has been due for \d+ minutes?,/) },
      { code: "job-failed", text: expect.stringContaining("job failed was failed: no model") },
      { code: "jobs-queue" },
    ]);

    const elsewhere = "insert into part (agent_id, hash, body, blob) values ('a', 'h', '1', 'b')";
    await runSql(url, elsewhere);
    expect(await found(/^(?:storage-unusable|settings|model)$/)).toMatchObject([
      { code: "settings" },
      { level: "failure", code: "storage-unusable", text: expect.stringMatching(/storage\.blobs/) },
      { code: "model" },
    ]);
    await runSql(url, "delete from part");

    await runSql(url, "update clew_jobs.version set version = 999");
    expect(await found(/^storage/)).toMatchObject([
      { level: "failure", code: "storage-unusable", text: expect.stringContaining("version 999") },
    ]);
  });
});
