import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openPostgresCopy } from "./copy/open-copy.ts";
import { openPostgresStore } from "./store.ts";
import { FILL, LARGE } from "./testing/large-database.ts";
import { mapBlobs } from "./testing/map-blobs.ts";
import { runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS, said } from "./testing/simple-ports.ts";

/** Who asks for all of a table, reads all of it. */
const ASK_FOR_ALL = new Set([
  ...["session-list", "copy-sessions", "copy-records", "copy-inbox", "copy-parts"],
  ...["jobs-list", "jobs-all-progress", "children-list", "costs-others"],
  "costs-by-day",
  "sessions-changed",
]);

/** Asked where the answer to a commit was lost, by a session's key; and of pg-boss's tables. */
const NOT_HERE = new Set(["copy-last-step", "queues-stand"]);

/** Of few rows each, whatever the table; and some whose first entry alone is asked for. */
const BOUNDED = new Set([
  ...["session_turn", "kept_file_of_agents", "inbox_node", "entry_blob", "part_blob"],
]);

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: Plan[];
}

describe.skipIf(whyNoPostgres() !== null)(`statements at 100,000 rows ${UNLESS_THERE}`, () => {
  let url: string;
  /** Each text that was sent, once, with what was put in. */
  const sent = new Map<string, { name: string; values: readonly unknown[] }>();
  const seen = new Set<string>();
  beforeAll(async () => {
    url = await testDatabase();
    await (await openGateway()).close();
    await runSql(url, FILL);
  }, 120_000);
  afterAll(() => vi.restoreAllMocks());
  const blobs = mapBlobs();
  const openGateway = (isWithout = false) =>
    openPostgresStore({
      ...{ url, address: "http://asks", ports: SIMPLE_PORTS, ttlMs: 10_000, place: "here" },
      ...(!isWithout && { blobs: blobs.open }),
    });

  /** What goes to the server is written down on its way. */
  function record(): void {
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const [asked, values] = args as [string | pg.QueryConfig, unknown[] | undefined];
      const text = typeof asked === "string" ? asked : asked.text;
      const name = typeof asked === "string" ? "" : (asked.name ?? "");
      const given = values ?? (typeof asked === "string" ? [] : (asked.values ?? []));
      seen.add(name.split(" ")[0]!);
      if (!sent.has(text)) sent.set(text, { name, values: given });
      return query.apply(this, args);
    } as never);
  }

  it("read no large table whole, each of them", { timeout: 120_000 }, async () => {
    record();
    await useStore();
    await useCopy();
    vi.restoreAllMocks();
    expect(namesInSources().filter((name) => !seen.has(name) && !NOT_HERE.has(name))).toEqual([]);
    const whole: string[] = [];
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const [text, { name, values }] of sent) {
      if (!/\b(?:select|insert|update|delete)\b/i.test(text) || text.includes("create table"))
        continue;
      if (ASK_FOR_ALL.has(name.split(" ")[0]!)) continue;
      for (const mode of ["force_custom_plan", "force_generic_plan"])
        for (const found of await fullScans(client, mode, { text, values }))
          whole.push(`${name || text.trim().slice(0, 60)}: ${found} (${mode})`);
    }
    await client.end();
    expect(whole).toEqual([]);
    expect(sent.size).toBeGreaterThan(40);
  });

  async function useStore(): Promise<void> {
    await (await openGateway(true)).close();
    const store = await openGateway();
    const leaves = { agentId: "main", key: "leaves" };
    const left = await store.open(leaves);
    await left.append([said("y".repeat(100_000))]);
    await left.close();
    await store.remove(leaves);
    await store.sweepBlobs({ olderThanMs: -60_000 });
    const name = { agentId: "main", key: "fresh" };
    const transcript = await store.open(name);
    const report = { report: { turnId: "t" }, parts: { hash: "part" } };
    const entries = [said("a"), said("b"), said("c")];
    const deliveries = [{ engineId: "a", change: { kind: "x" } }];
    const [first] = await transcript.appendStep({ entries, deliveries, report });
    await transcript.rewrite({
      replacements: [{ entryId: first!.id, message: { role: "user", content: "A" } }],
    });
    await transcript.close();
    const again = await store.open({ agentId: "main", key: "long" });
    await again.read({ after: null });
    await again.close();
    await store.keep(name, { name: "m", id: "m", body: "1" });
    const log = await store.openLog(name);
    const entry = { ...said("m"), id: "m", parentId: null, timestamp: new Date(0).toISOString() };
    const step = { entries: [entry], deliveries: [], report: null };
    await log.store({ ...step, said: ["m"], isOfTurn: true } as never);
    await log.tryTurn();
    await log.store({ ...step, entries: [], report } as never);
    await log.amendReport({ turnId: "t" });
    await log.storeRows("engine", [{ kind: "summary", key: "s1", body: "{}" }]);
    const large = { ...said("x".repeat(100_000)), id: "large", parentId: null };
    await log.store({ ...step, entries: [{ ...large, timestamp: entry.timestamp }] } as never);
    await log.close();
    await store.engineRows({ agentId: "main", sessionId: log.session.sessionId }, "engine");
    const some = { agentId: "main", sessionIds: [log.session.sessionId, "none"], engine: "engine" };
    expect([...(await store.engineRowsOfMany(some)).keys()]).toEqual([log.session.sessionId]);
    const begun = some.sessionIds.map((sessionId) => ({ agentId: "main", sessionId }));
    const [beginning, none] = await store.beginnings(begun, "engine");
    expect(beginning!.said.length).toBeGreaterThan(0);
    expect(beginning!.rows.length).toBeGreaterThan(0);
    expect(none).toEqual({ said: [], rows: [] });
    expect(await store.hasEngineRows({ agentId: "main", key: "none" }, "engine")).toBe(false);
    expect(await store.takeDuty("duty")).toEqual({ kind: "own" });
    expect(await store.dutyOwner("duty")).toBe("http://asks");
    expect((await store.peers()).map(({ address }) => address)).not.toContain("http://asks");
    await store.putChild({ agentId: "main", key: "child", body: "{}" });
    await store.children();
    await store.removeChild({ agentId: "main", key: "child" });
    await store.reserveNumbers("summary", { count: 3, above: 0 });
    await store.left(name);
    await store.drop(name, ["x"]);
    await store.takeBack(name, null);
    const shelf = store.costs("h7");
    expect((await shelf.kept()).size).toBe(10);
    await shelf.put({ day: "d7", from: 3_000_000, to: 3_000_002, text: "{}" });
    await shelf.drop("d57");
    expect(await store.changedSessions({ agentId: "main", since: 0 })).not.toEqual([]);
    const follower = store.followCosts("h7");
    for await (const { text } of follower.all()) expect(text).toBe("{}");
    await store.costs("h8").put({ day: "d8", from: 3_000_000, to: 3_000_002, text: "{}" });
    expect(await follower.more()).toEqual([{ day: "d8", text: "{}" }]);
    for await (const { text } of store.costsOfOthers("h7")) expect(text).toBe("{}");
    await store.sweep({ known: ["k1"] });
    // As if the answer to a step had been lost.
    const lost = await store.openLog(name);
    await runSql(url, "update session set step = step + 1 where key = 'fresh'");
    await expect(lost.store({ ...step, entries: [] } as never)).rejects.toThrow();
    await (await store.openLog(name)).close();
    await expect.poll(() => [...seen]).toContain("node-beat");
    const found = (await store.find({ agentId: "main", key: "k5" }))!;
    await store.list();
    await store.log(found, { after: 0, limit: 9 });
    await store.placeOf(found, "e5");
    await store.deliveries(found);
    await store.ownerOf(found);
    await store.standings([{ agentId: "main", key: "k5", message: "m" }]);
    await store.reports(found, { limit: 9 });
    await store.laterReports(found, { afterTurn: null, limit: 9 });
    await store.laterReports(found, { afterTurn: "t5", limit: 9 });
    const [file] = await store.keptFiles(found);
    for await (const _piece of store.bytesOf(file!));
    await store.parts("main", ["p1", "p2"]);
    await store.part("main", "p1");
    await useJobs(store);
    await store.label(name, "called");
    await store.renew({ ...name, sessionId: "renewed", archivedKey: "archived" });
    const from = { agentId: "main", sessionId: "renewed", sessionKey: "fresh" };
    const successor = { from, sessionId: "next", archivedKey: "old", prepare: async () => {} };
    await (await store.adopt(successor))!.close();
    await store.adopt(successor);
    await store.remove({ agentId: "main", key: "fresh" });
    await store.close();
  }

  async function useJobs({
    jobs,
    gateways,
    queues,
  }: Awaited<ReturnType<typeof openGateway>>): Promise<void> {
    const progress = { settledUntil: 1, aheadUntil: null, askedUntil: 0, run: null };
    await jobs.list();
    await jobs.put({ id: "fresh", createdAt: 1, body: "{}" });
    await jobs.advance("fresh", null, progress);
    await jobs.advance("fresh", progress, { ...progress, settledUntil: 2 });
    await jobs.addRuns("fresh", [{ due: 1, startedAt: 1, body: "{}" }]);
    await jobs.find("j5");
    await jobs.progress("j5");
    await jobs.allProgress();
    await jobs.runs("j5", 9);
    await jobs.remove("fresh");
    await gateways();
    await queues();
  }

  async function useCopy(): Promise<void> {
    const copy = await openPostgresCopy({
      ...{ url, address: "copy", place: "there", blobs: blobs.open },
    });
    await copy.sessions();
    await copy.records();
    const name = { agentId: "main", key: "copied", sessionId: "copied" };
    const claim = await copy.claim(name);
    const body = JSON.stringify(said("x"));
    const row = { kind: "k", key: "1", body: "1" };
    const entries = async function* () {
      yield [{ id: "e", role: 1, ts: 0, body, hash: await sha256(body) }];
    };
    const file = {
      ...{ place: "p", agentId: "main", sessionId: "copied", kind: "file" as const, isOwn: false },
      ...{ size: 3, sha: "s", head: null, changedAt: 0, bytes: () => [new Uint8Array([1, 2, 3])] },
    };
    const session = {
      ...{ key: "copied", label: null, stored: 0, head: 1, lastEntry: "e", branch: [] },
      ...{
        header: null,
        bytes: 1,
        changedAt: 1,
        deliveries: [],
        files: [file],
        base: null,
        entries,
      },
      ...{
        names: ["p1", "none"],
        told: ["t"],
        engineRows: [{ engine: "e", rows: [row], isAll: true }],
      },
    };
    const record = { ...name, print: "p", label: null, rows: null };
    if (claim.kind === "held") throw new Error("nobody else has it");
    expect(await claim.session.put({ home: "home", record, session })).toBe(true);
    const rows = [{ engine: "e", rows: [row], isAll: false }];
    expect(await claim.session.putRows({ home: "home", print: "p", rows })).toBe(true);
    await claim.session.release();
    expect(await copy.engineRows(name, "e")).toEqual([row]);
    expect(await copy.rowEngines()).toContain("e");
    await copy.keepNumbers("message", 7);
    await copy.claim({ agentId: "main", key: "k5", sessionId: "other" });
    await copy.claim({ agentId: "main", key: "empty", sessionId: "empty" });
    const long = { agentId: "main", sessionId: "long" };
    await copy.hashes(long, { after: 0, limit: 500 });
    await copy.lines(long, 100);
    await copy.note("home", record, { step: 1, line: 1 });
    await copy.missingParts("main", ["p1", "none"]);
    await copy.putParts("main", new Map([["p1", "body"]]));
    await copy.partsOf("main");
    await copy.deliveries({ agentId: "main", sessionId: "s5" }, 0);
    await copy.inbox();
    await copy.files();
    const waiting = {
      agentId: "main",
      key: "copied",
      messages: [{ name: "m", id: "m", body: "1" }],
    };
    await copy.keep("home", { ...file, sessionId: null }, waiting);
    const { forgetting } = copy;
    await forgetting.living("nowhere");
    await forgetting.blobsOf({ agentId: "main", sessionId: "s5" });
    await forgetting.dropParts("main", ["p1"]);
    await forgetting.dropFile({ home: "home", place: "none" });
    await forgetting.dropWaiting({ agentId: "main", key: "copied" }, ["m"]);
    await forgetting.dropRuns("j5", [{ due: 5, startedAt: 5 }]);
    await forgetting.dropCosts("h7");
    await copy.close();
  }
});

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(hash).toString("hex");
}

/** Names of statements that the sources hold. */
const namesInSources = (): string[] =>
  [".", "copy", "blobs", "jobs"].flatMap((folder) =>
    readdirSync(join(import.meta.dirname, folder))
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .flatMap((name) => {
        const text = readFileSync(join(import.meta.dirname, folder, name), "utf8");
        return [...text.matchAll(/name: "([a-z]+(?:-[a-z]+)+)"/g)].map(([, each]) => each!);
      }),
  );

/** Large tables, or their indexes, that a plan reads from one end to the other. */
async function fullScans(
  client: pg.Client,
  mode: string,
  { text, values }: { text: string; values: readonly unknown[] },
): Promise<string[]> {
  await client.query(`deallocate all; set plan_cache_mode = ${mode}`);
  await client.query(`prepare looked_at as ${text}`);
  const literals = values.map(literalOf).join(", ");
  const execute = `execute looked_at${literals === "" ? "" : `(${literals})`}`;
  const { rows } = await client.query(`explain (format json) ${execute}`);
  const scans: string[] = [];
  const look = (plan: Plan) => {
    const { "Node Type": type, "Relation Name": table, "Index Cond": cond } = plan;
    const isBounded = cond !== undefined || BOUNDED.has(plan["Index Name"] ?? "");
    const isWhole = type === "Seq Scan" || (/^Index/.test(type) && !isBounded);
    if (isWhole && table !== undefined && LARGE.includes(table)) scans.push(`${type} of ${table}`);
    for (const each of plan.Plans ?? []) look(each);
  };
  for (const row of rows) for (const { Plan } of row["QUERY PLAN"]) look(Plan);
  return scans;
}

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString("hex")}'`;
  const each = (item: unknown) => (item === null ? "NULL" : JSON.stringify(String(item)));
  return pg.escapeLiteral(Array.isArray(value) ? `{${value.map(each).join()}}` : String(value));
}
