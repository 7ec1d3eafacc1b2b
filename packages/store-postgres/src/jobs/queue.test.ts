import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkPostgres } from "../check.ts";
import { openPostgresStore } from "../store.ts";
import { runSql } from "../testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "../testing/shared.ts";
import { SIMPLE_PORTS } from "../testing/simple-ports.ts";
import { knownJobsVersion, planJobsSchema } from "./queue-schema.ts";

const WORKER = fileURLToPath(new URL("../testing/queue-worker.ts", import.meta.url));

async function openStore(url: string) {
  const store = await openPostgresStore({ url, address: "http://one", ports: SIMPLE_PORTS });
  onTestFinished(() => store.close());
  return store;
}
const openQueue = async (url: string) =>
  (await openStore(url)).openQueue({ onTrouble() {}, pollSeconds: 0.5, superviseSeconds: 1 });

describe("the tables of pg-boss", () => {
  const facts = { isThere: true, version: 46, mayMake: false, mayUse: true };
  const who = { known: 46, user: "ann", database: "clew" };

  it.each([
    ["are there", facts, "ready"],
    [
      "are made where there is no schema",
      { ...facts, isThere: false, version: null, mayMake: true },
      "make",
    ],
    ["are brought up to date", { ...facts, version: 40, mayMake: true }, "make"],
  ])("%s", (_what, given, kind) => {
    expect(planJobsSchema(given, who).kind).toBe(kind);
  });

  it.each([
    [
      "newer ones",
      { ...facts, version: 47 },
      "of version 47, and the pg-boss of this gateway knows 46; update the gateway.",
    ],
    [
      "older ones of others",
      { ...facts, version: 40 },
      "let the user who made them start the gateway once.",
    ],
    ["those of others", { ...facts, mayUse: false }, 'The user "ann" may not use'],
    [
      "an empty schema of others",
      { ...facts, version: null },
      'grant create, usage on schema clew_jobs to "ann".',
    ],
    [
      "none that may be made",
      { ...facts, isThere: false, version: null },
      'run: create schema clew_jobs authorization "ann".',
    ],
  ])("are refused in a sentence: %s", (_what, given, sentence) => {
    const plan = planJobsSchema(given, who);
    expect(plan.kind === "refused" && plan.problem).toContain(sentence);
  });
});

describe.skipIf(whyNoPostgres() !== null)(`a queue of gateways ${UNLESS_THERE}`, () => {
  it("is made once by gateways that start at the same time, in a schema of its own", async () => {
    const url = await testDatabase();
    const queues = await Promise.all([openQueue(url), openQueue(url), openQueue(url)]);
    await Promise.all(queues.map((queue) => queue.stop()));
    const check = await checkPostgres({ url, connections: 2 });
    const known = await knownJobsVersion();
    expect(check).toMatchObject({
      ...{ ok: true, facts: { queue: { schema: "clew_jobs", version: known, known } } },
    });
    const rows = await runSql(url, "select 1 from pg_tables where schemaname = 'pgboss'");
    expect(rows).toEqual([]);
  });

  it("of a newer version is refused, by who starts and by who checks", async () => {
    const url = await testDatabase();
    const store = await openStore(url);
    await (await store.openQueue({ onTrouble() {} })).stop();
    await runSql(url, "update clew_jobs.version set version = 999");
    await expect(store.openQueue({ onTrouble() {} })).rejects.toThrow("of version 999");
    const check = await checkPostgres({ url, connections: 2 });
    expect(check.ok ? "" : check.problem).toContain("update the gateway");
  });

  it("that are older are not changed while a gateway of another version works with them", async () => {
    const url = await testDatabase();
    const store = await openStore(url);
    await (await store.openQueue({ onTrouble() {} })).stop();
    await runSql(
      url,
      `update clew_jobs.version set version = version - 1;
       insert into node (id, address, version, ttl_ms, seen_at)
         values (gen_random_uuid(), 'http://old:1', '1.0', 60000, now())`,
    );
    const before = await runSql(url, "select version from clew_jobs.version");
    await expect(store.openQueue({ onTrouble() {} })).rejects.toThrow(
      /of another version work with them: http:\/\/old:1 \(1\.0\); stop/,
    );
    expect(await runSql(url, "select version from clew_jobs.version")).toEqual(before);
  });

  it("needs no right but to a schema that its owner made", async () => {
    const url = await testDatabase();
    const role = `jobs_${process.pid}_${Date.now()}`;
    await runSql(url, `create role ${role} login; grant create on schema public to ${role}`);
    onTestFinished(
      async () => void (await runSql(url, `drop owned by ${role}; drop role ${role}`)),
    );
    const own = new URL(url);
    own.searchParams.set("user", role);
    const check = await checkPostgres({ url: own.href, connections: 2 });
    expect(check.ok ? "" : check.problem).toContain(
      `create schema clew_jobs authorization "${role}"`,
    );
    await runSql(url, `create schema clew_jobs authorization ${role}`);
    const queue = await openQueue(own.href);
    await queue.send("look", { key: "one", data: null });
    await queue.stop();
  });

  it("gives each piece of work to one gateway, and what is done in an interval to one of all", async () => {
    const url = await testDatabase();
    const queues = await Promise.all([openQueue(url), openQueue(url), openQueue(url)]);
    const done: string[] = [];
    let tidied = 0;
    for (const queue of queues) {
      await queue.work("look", async ({ key }) => void done.push(key));
      await queue.every("tidy", 3_600_000, async () => void tidied++);
    }
    const keys = Array.from({ length: 12 }, (_, index) => `k/${index}`);
    await Promise.all(
      keys.flatMap((key) => queues.map((queue) => queue.send("look", { key, data: key }))),
    );
    await expect.poll(() => new Set(done).size, { timeout: 30_000 }).toBe(keys.length);
    await expect.poll(() => tidied, { timeout: 30_000 }).toBe(1);
    await Promise.all(queues.map((queue) => queue.stop()));
    // One that was done may have been sent once more by who was late.
    expect(done.length).toBeLessThan(keys.length * 3);
    expect(tidied).toBe(1);
  });

  it("gives another gateway what one did that was killed", { timeout: 90_000 }, async () => {
    const url = await testDatabase();
    const queue = await openQueue(url);
    const node = ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...node, WORKER, url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout!, "data");
    await queue.send("look", { key: "one", data: { at: 1 } });
    await once(child.stdout!, "data");
    child.kill("SIGKILL");
    const done: unknown[] = [];
    await queue.work("look", async ({ key, data }) => void done.push([key, data]));
    await expect.poll(() => done, { timeout: 60_000 }).toEqual([["one", { at: 1 }]]);
    await queue.stop();
  });

  it("tells what of it waits, runs, and was done", async () => {
    const url = await testDatabase();
    const store = await openStore(url);
    expect(await store.queues()).toEqual([]);
    const queue = await store.openQueue({ onTrouble() {}, pollSeconds: 0.5 });
    await queue.send("look", { key: "one", data: null });
    await queue.send("look", { key: "two", data: null });
    expect(await store.queues()).toMatchObject([
      { queue: "look", waiting: 2, running: 0, doneAt: null },
    ]);
    await queue.work("look", async () => {});
    await expect
      .poll(() => store.queues(), { timeout: 20_000 })
      .toMatchObject([{ waiting: 0, running: 0, retrying: 0, oldestMs: 0 }]);
    expect((await store.queues())[0]!.doneAt).toBeGreaterThan(Date.now() - 3_600_000);
    await queue.stop();
  });

  it("tells once of a database that is away, and ends with its gateway all the same", async () => {
    const url = await testDatabase();
    const store = await openPostgresStore({ url, address: "http://one", ports: SIMPLE_PORTS });
    const told: string[] = [];
    const queue = await store.openQueue({
      ...{ onTrouble: (why: string) => void told.push(why), pollSeconds: 0.5 },
    });
    await queue.work("look", async () => {});
    await store.close();
    await expect.poll(() => told.length, { timeout: 10_000 }).toBe(1);
    await queue.stop();
    expect(told).toHaveLength(1);
  });
});
