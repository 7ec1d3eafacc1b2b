import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openDatabase, type RoundTrip } from "./database.ts";
import { sweep } from "./lease.ts";
import type { SessionName } from "./reader.ts";
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from "./store.ts";
import { startCuttingProxy } from "./testing/cutting-proxy.ts";
import { runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS, said, textsOf } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`sessions in PostgreSQL ${UNLESS_THERE}`, () => {
  let url: string;
  let names = 0;
  const opened = new Set<PostgresStore<ListLedger>>();
  const trips: RoundTrip[] = [];

  beforeAll(async () => {
    url = await testDatabase();
  });
  afterEach(async () => {
    await Promise.all([...opened].map((store) => store.close().catch(() => {})));
    opened.clear();
  });

  const PLACE = { id: "placed", parentId: null, timestamp: new Date(0).toISOString() };

  /** A gateway; unless a test waits for its death, nobody counts it as dead. */
  async function gateway(
    options: Partial<PostgresStoreOptions<ListLedger>> = {},
  ): Promise<PostgresStore<ListLedger>> {
    const store = await openPostgresStore({
      ...{ url, ports: SIMPLE_PORTS, address: `http://gateway-${opened.size}`, ttlMs: 60_000 },
      onRoundTrip: (trip) => trips.push(trip),
      ...options,
    });
    opened.add(store);
    return store;
  }
  const newName = (agentId = "main") => ({ agentId, key: `agent:${agentId}:${names++}` });

  /** Round trips of some work, beats left out. */
  async function tripsOf(work: () => Promise<unknown>): Promise<string[]> {
    trips.length = 0;
    await work();
    return trips
      .map(({ statements }) => statements.join("+"))
      .filter((name) => !name.startsWith("node"));
  }

  /** Others count it as dead, and it does not notice: its next beat is far away. */
  const declareDead = (address: string) =>
    runSql(url, `update node set seen_at = now() - interval '1 hour' where address = '${address}'`);

  describe("round trips", () => {
    it("are one for opening, one for each step, and none for reading the newest entries", async () => {
      const store = await gateway();
      const name = newName();
      const first = await store.open(name);
      const stored = await tripsOf(() =>
        first.appendStep({
          entries: Array.from({ length: 100 }, (_, index) => said(`m${index}`)),
          deliveries: [{ engineId: "a", change: { kind: "acknowledged" } }],
          report: { report: { turnId: "t1" }, parts: { hash: "text" } },
        }),
      );
      expect(stored).toEqual(["session-step"]);
      await first.close();

      const reopened: Awaited<ReturnType<typeof store.open>>[] = [];
      const opening = await tripsOf(async () => reopened.push(await store.open(name)));
      expect(opening).toEqual(["session-claim+entry-newest+delivery-read"]);
      const [again] = reopened as [(typeof reopened)[0]];
      const tail = await tripsOf(async () => {
        expect(textsOf(await again.read({ tail: 3 }))).toBe("m97 m98 m99");
        expect(await again.read({ tail: 64 })).toHaveLength(64);
      });
      expect(tail).toEqual([]);
      const all = await tripsOf(async () => {
        expect(await again.read({ after: null })).toHaveLength(100);
        expect(await again.read({ tail: 80 })).toHaveLength(80);
      });
      expect(all).toEqual(["entry-read"]);
      expect(again.deliveries.lines).toEqual([{ engineId: "a", change: { kind: "acknowledged" } }]);
      expect(await store.reports(again.session, { limit: 9 })).toEqual([
        { step: 1, report: { turnId: "t1" } },
      ]);
      expect(await store.part("main", "hash")).toBe("text");
    });
  });

  describe("a branch", () => {
    it("is the same after rewrites, cuts and another opening", async () => {
      const store = await gateway();
      const name = newName();
      let transcript = await store.open(name);
      const [, two] = await transcript.append(["one", "two", "three", "four"].map(said));
      await transcript.rewrite({
        replacements: [{ entryId: two!.id, message: { role: "user", content: "TWO" } }],
      });
      expect(textsOf(await transcript.read({ after: null }))).toBe("one TWO three four");
      const leafId = (await transcript.read({ tail: 1 }))![0]!.id;
      await transcript.graft({ keep: 3, leafId, entries: [] });
      for (const isReopened of [false, true]) {
        if (isReopened) {
          await transcript.close();
          transcript = await store.open(name);
        }
        expect(textsOf(await transcript.read({ tail: 2 }))).toBe("TWO three");
        expect(textsOf(await transcript.read({ after: null }))).toBe("one TWO three");
      }
      const three = (await transcript.read({ tail: 1 }))![0]!;
      const [five] = await transcript.append([said("five")]);
      expect(five!.parentId).toBe(three.id);
      await expect(transcript.graft({ keep: 1, leafId, entries: [] })).rejects.toMatchObject({
        code: "TRANSCRIPT_MOVED",
      });
      await transcript.close();
      transcript = await store.open(name);
      expect(textsOf(await transcript.read({ after: null }))).toBe("one TWO three five");
    });
  });

  describe("a session", () => {
    it("belongs to one gateway, whose address the others are told", async () => {
      const [one, two] = [await gateway({ address: "http://one" }), await gateway()];
      const name = newName();
      expect(await two.ownerOf(name)).toBe(null);
      const transcript = await one.open(name);
      await expect(two.open(name)).rejects.toMatchObject({ code: "SESSION_LOCKED" });
      await expect(one.open(name)).rejects.toMatchObject({ code: "SESSION_LOCKED" });
      expect(await two.ownerOf(name)).toBe("http://one");
      await transcript.close();
      expect(await two.ownerOf(name)).toBe(null);
      await (await two.open(name)).append([said("here")]);
    });

    it("stands as all that are asked for at once do, in one statement and in their order", async () => {
      const one = await gateway({ address: "http://one" });
      const [open, free, unknown] = [newName("a"), newName("b"), newName()];
      await one.open(open);
      await one.keep(free, { name: "k", id: "i", body: "{}" });
      const asked = [unknown, open, free, open].map((name) => ({ ...name, message: "k" }));
      let standings: unknown;
      const made = await tripsOf(async () => {
        standings = await one.standings(asked);
      });
      expect(made).toEqual(["session-standing"]);
      const nothing = { address: null, inTurn: false, isKept: false };
      const owned = { ...nothing, address: "http://one" };
      expect(standings).toEqual([nothing, owned, { ...nothing, isKept: true }, owned]);
      expect(await one.standings([{ ...free, message: null }])).toEqual([nothing]);
    });

    it("is opened by one of many who try at the same time", async () => {
      const stores = await Promise.all(
        Array.from({ length: 4 }, () => gateway({ connections: 2 })),
      );
      const name = newName();
      const results = await Promise.allSettled(
        stores.flatMap((store) => [store.open(name), store.open(name)]),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    it("is another agent's, whatever its key and its parts are called", async () => {
      const store = await gateway();
      const key = newName().key;
      const one = await store.open({ agentId: "a", key });
      const two = await store.open({ agentId: "b", key });
      await one.appendStep({
        entries: [said("mine")],
        deliveries: [],
        report: { report: { turnId: "t" }, parts: { "same hash": "of a" } },
      });
      expect(two.exists()).toBe(false);
      expect(await two.read({ after: null })).toEqual([]);
      expect(await store.part("b", "same hash")).toBe(null);
      expect(await store.reports({ ...one.session, agentId: "b" }, { limit: 1 })).toEqual([]);
    });

    it("is handed over by a gateway that ends, with the turn that was not over", async () => {
      const [one, two] = [await gateway(), await gateway()];
      const name = newName();
      const [prompt] = await (await one.open(name)).appendStep({
        ...{ entries: [said("go")], deliveries: [], report: null },
      });
      expect((await one.left(name)).openTurn).toMatchObject({ entryId: prompt!.id });
      expect((await two.left(name)).openTurn).toBe(null);
      await one.close();
      const { openTurn } = await two.left(name);
      expect(JSON.parse(openTurn!.body)).toEqual(prompt);
      const log = await two.openLog(name);
      expect([await log.tryTurn(), await log.tryTurn()]).toEqual([1, 2]);
      await log.close();
      const transcript = await two.open(name);
      expect(transcript.openTurn).toBe(prompt!.id);
      const report = { report: { turnId: "t" }, parts: {} };
      await transcript.appendStep({ entries: [], deliveries: [], report });
      await transcript.close();
      const again = await two.openLog(name);
      expect([again.openTurn, await again.tryTurn()]).toEqual([null, 1]);
      await again.store({
        ...{ entries: [{ ...said("more"), ...PLACE }], deliveries: [], report: null },
        ...{ isOfTurn: true },
      });
      await again.store({ entries: [], deliveries: [], report: null, endsTurn: true });
      await again.close();
      expect((await two.open(name)).openTurn).toBe(null);
    });
  });

  describe("a gateway that was not heard of", () => {
    it("stops by itself, and another goes on", async () => {
      const proxy = await startCuttingProxy(url);
      try {
        const one = await gateway({ url: proxy.url, ttlMs: 2000, timeoutMs: 1000 });
        const two = await gateway();
        const name = newName();
        await (await one.open(name)).append([said("one")]);
        proxy.hold(true);
        await expect.poll(() => one.alive.aborted).toBe(true);
        await expect(one.open(newName())).rejects.toMatchObject({ code: "SESSION_LOCKED" });
        const open = () => two.open(name).then(({ exists }) => exists());
        await expect.poll(() => open().catch(({ code }) => code)).toBe(true);
      } finally {
        await proxy.close();
      }
    });

    it("stops for good, also when it is heard of again before it noticed", async () => {
      const one = await gateway({ address: "http://back", ttlMs: 1000 });
      await one.settle();
      await declareDead("http://back");
      await expect.poll(() => one.alive.aborted, { timeout: 10_000 }).toBe(true);
      expect(await one.open(newName()).catch(({ code }) => code)).toBe("SESSION_LOCKED");
    });

    it("is dead as soon as another process is where it was", async () => {
      const one = await gateway({ address: "http://was-here", place: "a home" });
      const name = newName();
      const transcript = await one.open(name);
      await transcript.append([said("one")]);
      const other = await gateway({ place: "another home" });
      expect(await other.ownerOf(name)).toBe("http://was-here");
      const again = await gateway({ address: "http://was-here", place: "a home" });
      expect(await again.ownerOf(name)).toBe(null);
      expect(textsOf(await (await again.open(name)).read({ tail: 1 }))).toBe("one");
      await expect(transcript.append([said("late")])).rejects.toMatchObject({
        code: "SESSION_LOCKED",
      });
    });

    it("is refused a step by whoever claimed its session meanwhile", async () => {
      const one = await gateway({ address: "http://dead-1" });
      const name = newName();
      const transcript = await one.open(name);
      await transcript.append([said("one")]);
      const two = await gateway();
      await declareDead("http://dead-1");
      const taken = await two.open(name);
      await expect(
        transcript.appendStep({
          entries: [said("late")],
          deliveries: [{ engineId: "a", change: { kind: "late" } }],
          report: { report: { turnId: "late" }, parts: { late: "late" } },
        }),
      ).rejects.toMatchObject({ code: "SESSION_LOCKED" });
      await taken.append([said("two")]);
      await expect(transcript.append([said("late")])).rejects.toMatchObject({
        code: "SESSION_LOCKED",
      });
      await taken.close();
      const again = await two.open(name);
      expect(textsOf(await again.read({ after: null }))).toBe("one two");
      expect(again.deliveries.lines).toEqual([]);
      expect(await two.reports(again.session, { limit: 1 })).toEqual([]);
      expect(await two.part("main", "late")).toBe(null);
    });

    it("does not lose a session that it opens while it looks for such turns", async () => {
      const store = await gateway({ address: "http://looks" });
      const name = newName();
      const log = await store.openLog(name);
      const step = { entries: [{ ...said("go"), ...PLACE }], deliveries: [], report: null };
      await log.store({ ...step, isOfTurn: true } as never);
      const database = openDatabase({ url, connections: 1, timeoutMs: 20_000 });
      const [node] = await database.ask<{ id: string }>(
        { name: "test-node", text: "select id from node where address = $1" },
        ["http://looks"],
      );
      // As if it had asked before it opened it.
      const { sessions } = await sweep(database, { nodeId: node!.id, limit: 20, known: [] });
      await database.end();
      expect(sessions.map(({ key }) => key)).toContain(name.key);
      await log.store({ ...step, entries: [] } as never);
      await log.close();
      await (await store.open(name)).appendStep({
        ...{ entries: [], deliveries: [], report: { report: { turnId: "t" }, parts: {} } },
      });
    });

    it("leaves turns that others find, each by one of them, and no session without work", async () => {
      const one = await gateway({ address: "http://dead-2" });
      const busy = [newName(), newName(), newName()];
      for (const name of busy)
        await (await one.open(name)).appendStep({
          ...{ entries: [said("go")], deliveries: [], report: null },
        });
      const idle = await one.open(newName());
      await idle.append([said("not of a turn")]);
      const [two, three] = [await gateway(), await gateway()];
      const sweepIn = async (store: typeof two, limit?: number) => {
        const { sessions } = await store.sweep({ ...(limit !== undefined && { limit }) });
        await Promise.all(sessions.map((session) => store.open(session)));
        return sessions;
      };
      expect(await sweepIn(two)).toEqual([]);
      await declareDead("http://dead-2");
      const swept = (await Promise.all([sweepIn(two, 2), sweepIn(three, 2)])).flat();
      swept.push(...(await sweepIn(two)), ...(await sweepIn(three)));
      expect(swept.map(({ key }) => key).toSorted()).toEqual(busy.map(({ key }) => key).toSorted());
      expect(swept.every(({ openTurn }) => openTurn !== null)).toBe(true);
      expect(await sweepIn(two)).toEqual([]);
    });
  });

  describe("a message that waits", () => {
    const message = (name: string, id = `id of ${name}`) => ({ name, id, body: `"${name}"` });
    const namesOf = async (store: Awaited<ReturnType<typeof gateway>>, of: SessionName) =>
      (await store.waiting(of)).map(({ name }) => name);

    it("is there once under its name, in order, also for a session that is not there yet", async () => {
      const [one, two] = [await gateway(), await gateway()];
      const name = newName();
      for (const each of ["c", "a", "b"]) await one.keep(name, message(each));
      expect(await two.keep(name, message("a", "another id"))).toEqual(message("a"));
      expect(await two.waiting(name)).toEqual(["c", "a", "b"].map((each) => message(each)));
      await two.drop(name, ["c"]);
      expect([await two.takeBack(name, "id of b"), await one.takeBack(name, "id of b")]).toEqual([
        1, 0,
      ]);
      expect(await namesOf(one, name)).toEqual(["a"]);
      expect(await namesOf(one, { ...name, agentId: "another" })).toEqual([]);
      expect([await one.takeBack(name, null), await one.takeBack(name, null)]).toEqual([1, 0]);
    });

    it("does not come again when it was taken back before its gateway was told that it is kept", async () => {
      const [one, two] = [await gateway(), await gateway()];
      const name = newName();
      await one.keep(name, message("a"));
      await one.keep(name, message("b"));
      expect(await two.takeBack(name, "id of a")).toBe(1);
      expect(await one.keep(name, message("a"))).toEqual(message("a"));
      expect(await namesOf(two, name)).toEqual(["b"]);
      expect(await two.takeBack(name, null)).toBe(1);
      await Promise.all([one.keep(name, message("b")), two.keep(name, message("a"))]);
      expect(await namesOf(two, name)).toEqual([]);
      const step = {
        entries: [{ ...said("a"), id: "a", parentId: null, timestamp: new Date(0).toISOString() }],
        ...{ deliveries: [], report: null, said: ["a"] },
      };
      const log = await one.openLog(name);
      await expect(log.store(step as never)).rejects.toMatchObject({ code: "TRANSCRIPT_MOVED" });
    });

    it("waits when it is sent anew under a name whose message was taken back", async () => {
      const [one, two] = [await gateway(), await gateway()];
      const name = newName();
      for (const each of ["a", "b"]) await one.keep(name, message(each));
      await two.takeBack(name, "id of a");
      const again = { ...message("a", "another id"), body: '"again"' };
      expect(await two.keep(name, again)).toEqual(again);
      expect(await one.waiting(name)).toEqual([message("b"), again]);
      await two.takeBack(name, null);
    });

    it("leaves no text where it was taken back, and after a day nothing", async () => {
      const store = await gateway();
      const [name, next] = [newName(), newName()];
      await store.keep(name, message("a"));
      await store.takeBack(name, null);
      const of = `where key = '${name.key}'`;
      expect(await runSql(url, `select body from inbox_row ${of}`)).toEqual([{ body: "" }]);
      await runSql(url, `update inbox_row set taken_at = taken_at - interval '25 hours' ${of}`);
      await store.takeBack(next, null);
      expect(await runSql(url, `select body from inbox_row ${of}`)).toEqual([]);
    });

    it("goes with the step that says it, and with no other", async () => {
      const [one, two] = [await gateway({ address: "http://dead-3" }), await gateway()];
      const name = newName();
      const late = await one.openLog(name);
      for (const each of ["a", "b"]) await two.keep(name, message(each));
      const step = (id: string) => ({
        entries: [{ ...said(id), id, parentId: null, timestamp: new Date(0).toISOString() }],
        ...{ deliveries: [], report: null, said: [id] },
      });
      await late.store(step("a") as never);
      expect(await namesOf(two, name)).toEqual(["b"]);
      await declareDead("http://dead-3");
      const log = await two.openLog(name);
      await expect(late.store(step("b") as never)).rejects.toMatchObject({
        code: "SESSION_LOCKED",
      });
      expect(await namesOf(two, name)).toEqual(["b"]);
      const [takenBack, stored] = await Promise.allSettled([
        one.takeBack(name, "id of b"),
        log.store(step("b") as never),
      ]);
      const wasTakenBack = takenBack.status === "fulfilled" && takenBack.value === 1;
      expect(stored.status).toBe(wasTakenBack ? "rejected" : "fulfilled");
      expect(await namesOf(two, name)).toEqual([]);
      // Nothing was stored, and the session goes on.
      await expect(log.store(step("b") as never)).rejects.toMatchObject({
        code: "TRANSCRIPT_MOVED",
      });
      await log.store({ ...step("c"), said: [] } as never);
      await log.close();
    });

    it.each(["request", "answer"] as const)(
      "is said once where the connection breaks at the %s of its step",
      async (cut) => {
        const proxy = await startCuttingProxy(url);
        const store = await gateway({ url: proxy.url });
        const name = newName();
        const log = await store.openLog(name);
        for (const id of ["a", "b", "c"]) {
          await store.keep(name, message(id));
          proxy.cutNext("session-step-said", cut);
          const entry = { ...said(id), id, parentId: null, timestamp: new Date(0).toISOString() };
          const step = { entries: [entry], deliveries: [], report: null, said: [id] };
          await log.store(step as never);
        }
        const lines = await store.log(log.session, { after: 0, limit: 9 });
        expect(lines.map(({ body }) => JSON.parse(body).id)).toEqual(["a", "b", "c"]);
        expect(await namesOf(store, name)).toEqual([]);
        await store.close();
        await proxy.close();
      },
    );

    it("is seen to by who took it in, or has its session, else by one of the others", async () => {
      const one = await gateway({ address: "http://dead-4" });
      const [two, three] = [await gateway(), await gateway({ address: "http://three" })];
      const names = [newName(), newName(), newName(), newName()];
      const [taken, held, hers] = names as [SessionName, SessionName, SessionName];
      for (const name of [taken, held]) await (await one.open(name)).append([said("one")]);
      await (await three.open(hers)).append([said("one")]);
      for (const name of names) await one.keep(name, message("a"));
      const due = async (store: typeof one) => {
        const { sessions, messages } = await store.sweep();
        const own = (all: readonly SessionName[]) =>
          all.map(({ key }) => names.findIndex((name) => name.key === key)).filter((at) => at >= 0);
        return { sessions: own(sessions).toSorted(), messages: own(messages).toSorted() };
      };
      expect(await due(two)).toEqual({ sessions: [], messages: [] });
      expect(await due(three)).toEqual({ sessions: [], messages: [2] });
      await declareDead("http://dead-4");
      expect(await due(two)).toEqual({ sessions: [0, 1], messages: [0, 1, 3] });
      expect(await due(three)).toEqual({ sessions: [], messages: [2, 3] });
      await two.remove(hers);
      expect(await namesOf(two, hers)).toEqual(["a"]);
      for (const name of names) await two.takeBack(name, null);
    });
  });

  describe("a connection that breaks", () => {
    it.each(["request", "answer"] as const)(
      "at the %s of a step stores it once, and the next ones behind it",
      async (cut) => {
        const proxy = await startCuttingProxy(url);
        const store = await gateway({ url: proxy.url });
        const name = newName();
        const transcript = await store.open(name);
        const texts = Array.from({ length: 6 }, (_, index) => `m${index}`);
        for (const text of texts) {
          proxy.cutNext("session-step", cut);
          await transcript.appendStep({
            entries: [said(text)],
            deliveries: [{ engineId: "a", change: { kind: text } }],
            report: { report: { turnId: text }, parts: {} },
          });
        }
        await transcript.close();
        const again = await store.open(name);
        expect(textsOf(await again.read({ after: null }))).toBe(texts.join(" "));
        expect(again.deliveries.lines.map(({ change }) => change.kind)).toEqual(texts);
        expect(await store.reports(again.session, { limit: 99 })).toHaveLength(texts.length);
        await store.close();
        await proxy.close();
      },
    );

    it.each(["request", "answer"] as const)(
      "at the %s of a claim opens the session",
      async (cut) => {
        const proxy = await startCuttingProxy(url);
        const store = await gateway({ url: proxy.url });
        const name = newName();
        proxy.cutNext("session-claim", cut);
        const transcript = await store.open(name);
        await transcript.append([said("one")]);
        proxy.cutNext("session-release", cut);
        await transcript.close();
        await (await store.open(name)).append([said("two")]);
        await store.close();
        await proxy.close();
      },
    );
  });
});
