import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPostgres } from "./check.ts";
import { openPostgresCopy } from "./copy/open-copy.ts";
import { openDatabase } from "./database.ts";
import { openPostgresStore } from "./store.ts";
import { type CuttingProxy, startCuttingProxy } from "./testing/cutting-proxy.ts";
import { runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS, said, textsOf } from "./testing/simple-ports.ts";

/** One case is a whole life of a gateway. */
const FEWER = { numRuns: fc.readConfigureGlobal().numRuns! / 10 };
const WORK = [
  "step",
  "step",
  "long",
  "inbox",
  "said",
  "reopen",
  "sweep",
  "list",
  "rename",
] as const;

/** Where a connection breaks while something is done: in no greeting, in one, or far behind it. */
const cut = fc.option(
  fc.record({
    side: fc.constantFrom("request" as const, "answer" as const),
    bytes: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 400, max: 9000 })),
  }),
  { freq: 4 },
);

describe.skipIf(whyNoPostgres() !== null)(`connections cut at any byte ${UNLESS_THERE}`, () => {
  let url: string;
  let proxy: CuttingProxy;
  let lives = 0;
  beforeAll(async () => {
    url = await testDatabase();
    proxy = await startCuttingProxy(url);
  });
  afterAll(() => proxy?.close());
  const open = (at: string) =>
    openPostgresStore({
      ...{ url: at, address: "http://cut", ports: SIMPLE_PORTS, ttlMs: 60_000, connections: 2 },
    });
  /** A start may fail by one, in a sentence, and is made again. */
  async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      expect(error).toMatchObject({ code: "STORAGE_FAILED" });
      return work();
    }
  }

  it("lose nothing and double nothing, whatever is under way", async () => {
    const piece = fc.record({ work: fc.constantFrom(...WORK), cut });
    const life = fc.record({
      start: cut,
      pieces: fc.array(piece, { minLength: 4, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(life, async ({ start, pieces }) => {
        const name = { agentId: "main", key: `life ${lives++}` };
        if (start !== null) proxy.cutAfter(start.bytes, start.side);
        const store = await insist(() => open(proxy.url));
        let log = await store.openLog(name);
        const wanted: string[] = [];
        const waiting: string[] = [];
        let label: string | null = null;
        const entry = (id: string, content = id) => ({
          ...{ ...said(content), id, parentId: null, timestamp: new Date(0).toISOString() },
        });
        const put = async (ids: readonly string[], { isLong = false, saying = [] as string[] }) => {
          const entries = ids.map((id) => entry(id, isLong ? `${id} `.repeat(2000) : id));
          const deliveries = [{ engineId: "a", change: { kind: ids[0]! } }];
          const report = { report: { turnId: ids[0]! }, parts: { [ids[0]!]: "part" } };
          await log.store({ entries, deliveries, report, said: saying } as never);
          wanted.push(...ids);
        };
        for (const [index, { work, cut }] of pieces.entries()) {
          if (cut !== null) proxy.cutAfter(cut.bytes, cut.side);
          const id = `e${index}`;
          if (work === "step") await put([id, `${id}b`], {});
          if (work === "long") await put([id], { isLong: true });
          if (work === "inbox") {
            await store.keep(name, { name: id, id, body: '"m"' });
            waiting.push(id);
          }
          if (work === "said" && waiting.length > 0)
            await put([id], { saying: [waiting.shift()!] });
          if (work === "reopen") {
            await log.close();
            log = await store.openLog(name);
          }
          if (work === "sweep") await store.sweep({ known: [name.key] });
          if (work === "list") await store.list();
          if (work === "rename") {
            label = id;
            expect(await store.label(name, label)).toBe(true);
          }
        }
        await log.close();
        await store.close();

        const judge = await open(url);
        const found = (await judge.find(name))!;
        const lines = await judge.log(found, { after: 0, limit: 99 });
        const ids = lines.map(({ body }) => JSON.parse(body).id as string);
        expect(ids).toEqual(wanted);
        expect(found).toMatchObject({ head: wanted.length, label });
        const reports = await judge.reports(found, { limit: 99 });
        expect(reports.map(({ report }) => (report as { turnId: string }).turnId)).toEqual(
          wanted.filter((id) => !id.endsWith("b")).toReversed(),
        );
        expect((await judge.deliveries(name)).lines).toHaveLength(reports.length);
        expect((await judge.waiting(name)).map((each) => each.name)).toEqual(waiting);
        await judge.takeBack(name, null);
        await judge.close();
      }),
      FEWER,
    );
  });

  it("copy a session whole or not at all, and the next attempt copies it", async () => {
    await fc.assert(
      fc.asyncProperty(cut, cut, async (first, second) => {
        const name = { agentId: "main", key: `copy ${lives}`, sessionId: `copy-${lives++}` };
        const bodies = ["one", "two", "three"].map((text) => JSON.stringify(said(text)));
        const hashed = await Promise.all(bodies.map(sha256));
        const entries = bodies.map((body, index) => ({
          ...{ id: `e${index}`, role: 1, ts: 0, body, hash: hashed[index]! },
        }));
        const session = {
          ...{ key: name.key, label: null, stored: 0, head: 3, lastEntry: "e2", branch: [] },
          ...{ header: null, bytes: 1, changedAt: 1, deliveries: [], files: [], base: null },
          ...{
            ...{ names: [], told: "all" as const },
            engineRows: [],
            entries: async function* () {
              yield entries;
            },
          },
        };
        const record = { ...name, print: "p", label: null, rows: null };
        const copy = async (cut: typeof first) => {
          if (cut !== null) proxy.cutAfter(cut.bytes, cut.side);
          const into = await openPostgresCopy({ url: proxy.url, address: "copy", place: "here" });
          try {
            const claim = await into.claim(name);
            if (claim.kind === "held") throw new Error("nobody else is here");
            if (claim.session.found.head === 3) return;
            expect(claim.session.found.head).toBe(0);
            expect(await claim.session.put({ home: "h", record, session })).toBe(true);
            await claim.session.release();
          } finally {
            await into.close();
          }
        };
        for (const cut of [first, second, null])
          await copy(cut).catch((error) => expect(error).toMatchObject({ code: "STORAGE_FAILED" }));
        const judge = await open(url);
        const transcript = await judge.open(name);
        const lines = await judge.log(transcript.session, { after: 0, limit: 9 });
        expect(lines.map(({ body }) => body)).toEqual(bodies);
        await judge.close();
      }),
      FEWER,
    );
  });

  it("are told in a sentence by whoever only looks", async () => {
    await fc.assert(
      fc.asyncProperty(cut, async (cut) => {
        if (cut !== null) proxy.cutAfter(Math.min(cut.bytes, 900), cut.side);
        const check = await checkPostgres({ url: proxy.url, connections: 2 });
        if (!check.ok) expect(check.problem).toMatch(/^[^\n]+\.$/);
      }),
      FEWER,
    );
  });

  it("that swallow an answer and stay keep a step no longer than its gateway may be silent", async () => {
    const attempts: string[] = [];
    const store = await openPostgresStore({
      ...{ url: proxy.url, address: "http://stalled", ports: SIMPLE_PORTS, ttlMs: 6000 },
      // For the first attempt that would be for ever.
      timeoutMs: 10 * 60_000,
      onRoundTrip: ({ statements, failed }) => {
        if (statements.includes("session-step")) attempts.push(failed ?? "answered");
      },
    });
    const name = { agentId: "main", key: "stalled" };
    const transcript = await store.open(name);
    await transcript.append([said("one")]);
    proxy.cutNext("session-step", "silence");
    await transcript.append([said("two")]);
    expect(attempts).toEqual(["answered", "connection", "answered"]);
    expect(store.alive.aborted).toBe(false);
    expect(textsOf(await transcript.read({ after: null }))).toBe("one two");
    await store.close();
  }, 60_000);

  it("that deliver a statement late deliver it to nobody, once another one has done it", async () => {
    await runSql(url, "create table late (value text); insert into late values ('none')");
    const database = openDatabase({
      ...{ url: proxy.url, connections: 2, timeoutMs: 30_000, firstAnswerMs: 500 },
    });
    const set = (value: string) =>
      database.ask({ name: "set-late", text: "update late set value = $1" }, [value]);
    const { letGo } = proxy.delayNext("set-late");
    await set("first");
    await set("second");
    expect(await letGo()).toBe("refused");
    expect(await runSql(url, "select value from late")).toEqual([{ value: "second" }]);
    await database.end();
  });
});

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(hash).toString("hex");
}
