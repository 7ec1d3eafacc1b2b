import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { KeptInRows, RoundTrip } from "../database.ts";
import { openPostgresReader } from "../reader.ts";
import { openPostgresStore, type PostgresStore } from "../store.ts";
import { startCuttingProxy } from "../testing/cutting-proxy.ts";
import { type MapBlobs, mapBlobs } from "../testing/map-blobs.ts";
import { runSql } from "../testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "../testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS, said, textsOf } from "../testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`large bodies elsewhere ${UNLESS_THERE}`, () => {
  let url: string;
  let names = 0;
  let place: MapBlobs;
  const opened = new Set<PostgresStore<ListLedger>>();
  const trips: RoundTrip[] = [];
  const told: KeptInRows[] = [];

  beforeAll(async () => {
    url = await testDatabase();
  });
  beforeEach(async () => {
    place = mapBlobs();
    told.length = 0;
  });
  afterEach(async () => {
    await Promise.all([...opened].map((store) => store.close().catch(() => {})));
    opened.clear();
    const tables = ["session", "entry", "part", "part_use", "blob"];
    await runSql(url, tables.map((table) => `delete from ${table}`).join("; "));
  });

  async function gateway(options: { url?: string; isWithout?: boolean } = {}) {
    const store = await openPostgresStore({
      ...{ url: options.url ?? url, ports: SIMPLE_PORTS, address: "http://one", ttlMs: 60_000 },
      ...(options.isWithout !== true && { blobs: place.open }),
      onKeptInRows: (kept) => told.push(kept),
      onRoundTrip: (trip) => trips.push(trip),
    });
    opened.add(store);
    return store;
  }
  const newName = (agentId = "main") => ({ agentId, key: `agent:${agentId}:${names++}` });
  const large = (mark: string) => `${mark} ${'ä"\\\u0001😀 '.repeat(12_000)}`;
  const report = (turnId: string, parts: Record<string, string>) => ({ report: { turnId }, parts });
  const rows = (table: "entry" | "part") =>
    runSql(url, `select length(body)::int as length, blob from ${table} order by 2 nulls first`);
  const now = { olderThanMs: -60_000 };
  /** Long ones are of no use where they are not the same. */
  const isSame = (found: string | null | undefined, expected: string) =>
    expect([found?.length, found === expected]).toEqual([expected.length, true]);

  it("are put before the step that names them, which has a stub, and come back to the byte", async () => {
    const store = await gateway();
    const name = newName();
    const session = await store.open(name);
    await session.append([said("small")]);
    const seen: unknown[] = [];
    place.afterPut = async () => {
      seen.push(await rows("entry"));
    };
    trips.length = 0;
    const text = large("whole");
    const part = `\uFEFF${large("part")}`;
    await session.appendStep({
      entries: [said(text), said("small too")],
      ...{ deliveries: [], report: report("t1", { few: "few", many: part }) },
    });
    const sent = trips.flatMap(({ statements }) => statements).filter((one) => !/^node/.test(one));
    expect(sent).toEqual(["blob-announce", "session-step-blobs"]);
    // Neither of the two was there when the step was not stored.
    for (const before of seen) expect(before).toHaveLength(1);
    expect(place.kept.size).toBe(2);
    expect((await rows("entry")).map(({ blob }) => blob === null)).toEqual([true, true, false]);
    for (const { length, blob } of [...(await rows("entry")), ...(await rows("part"))])
      if (blob !== null) expect(length).toBeLessThan(200);

    const { sessionId } = session.session;
    const lines = await store.log({ ...name, sessionId }, { after: 0, limit: 10 });
    isSame(JSON.parse(lines[1]!.body).message.content, text);
    const bytes = lines.reduce((sum, { body }) => sum + Buffer.byteLength(body) + 1, 0);
    expect((await store.find(name))?.bytes).toBe(bytes);
    isSame((await store.parts("main", ["few", "many"])).many, part);
    isSame(await store.part("main", "many"), part);
    const [whole] = await store.laterReports({ ...name, sessionId }, { afterTurn: null, limit: 1 });
    expect(whole?.parts.few).toBe("few");
    isSame(whole?.parts.many, part);
    await session.close();
    const again = await store.open(name);
    isSame(textsOf(await again.read({ after: null })), `small ${text} small too`);
    expect((await store.left(name)).openTurn).toBeNull();
  });

  it("that begin a turn are told whole to who goes on with it", async () => {
    const store = await gateway();
    const name = newName();
    const session = await store.open(name);
    await session.appendStep({ entries: [said(large("ask"))], deliveries: [], report: null });
    const { openTurn } = await store.left(name);
    isSame(JSON.parse(openTurn!.body).message.content, large("ask"));
  });

  it("stay in their rows while the place is away, which is told, and are read all the same", async () => {
    const store = await gateway();
    const name = newName();
    const session = await store.open(name);
    place.isAway = true;
    const text = large("in its row");
    await session.append([said(text)]);
    await session.append([said(large("also"))]);
    const one = { agentId: "main", sessionKey: name.key, count: 1, why: "The map is away." };
    expect(told).toMatchObject([one, one]);
    expect(told[0]!.bytes).toBeGreaterThan(text.length);
    expect((await rows("entry")).map(({ blob }) => blob)).toEqual([null, null]);
    await session.close();
    const again = await store.open(name);
    isSame(textsOf(await again.read({ tail: 2 })), `${text} ${large("also")}`);
  });

  it("that are away, lost, damaged, or nobody knows where, are told in a sentence", async () => {
    const store = await gateway();
    const name = newName();
    const session = await store.open(name);
    await session.append([said(large("once there"))]);
    await session.close();
    const failure = async (of: Pick<PostgresStore<ListLedger>, "open">) => {
      const error = await of.open(name).catch((each: Error & { code: string }) => each);
      expect(error).toMatchObject({ code: "STORAGE_FAILED" });
      return (error as Error).message;
    };
    place.isAway = true;
    expect(await failure(store)).toBe("The map is away.");
    place.isAway = false;
    const [[key, bytes]] = [...place.kept] as [[string, Uint8Array]];
    place.kept.delete(key);
    expect(await failure(store)).toMatch(/^Object [0-9a-f]{64} of agent main, .* not in a map any/);
    place.kept.set(key, bytes.slice(1));
    expect(await failure(store)).toContain("is damaged in a map");
    place.kept.set(key, bytes);
    await store.close();
    const without = await gateway({ isWithout: true }).catch((error: Error) => error);
    expect(without).toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("set storage.blobs"),
    });
    const back = await (await gateway()).open(name);
    isSame(textsOf(await back.read({ tail: 1 })), large("once there"));
  });

  it("are stored once when the connection breaks after their step", async () => {
    const proxy = await startCuttingProxy(url);
    try {
      const store = await gateway({ url: proxy.url });
      const session = await store.open(newName());
      await session.append([said("first")]);
      proxy.cutNext("session-step-blobs", "answer");
      await session.append([said(large("cut"))]);
      proxy.cutNext("session-step-blobs", "request");
      await session.append([said(large("cut again"))]);
      await session.append([said("last")]);
      expect(await rows("entry")).toHaveLength(4);
      expect(place.kept.size).toBe(2);
      await store.close();
    } finally {
      await proxy.close();
    }
  });

  describe("that no row names", () => {
    it("are taken away by a sweep once they are old, and no others", async () => {
      const store = await gateway();
      const name = newName();
      const session = await store.open(name);
      await session.append([said(large("stays"))]);
      const [kept] = [...place.kept.keys()];
      // As of a gateway that died between the two.
      place.afterPut = async () => {
        await runSql(url, "update session set epoch = epoch + 1");
      };
      await expect(session.append([said(large("never stored"))])).rejects.toMatchObject({
        code: "SESSION_LOCKED",
      });
      place.afterPut = async () => {};
      expect(place.kept.size).toBe(2);
      expect(await store.sweepBlobs({ olderThanMs: 86_400_000 })).toEqual({ dropped: 0, bytes: 0 });
      expect(place.kept.size).toBe(2);
      await runSql(url, "update blob set at = now() - interval '25 hours'");
      expect(await store.sweepBlobs({ olderThanMs: 86_400_000 })).toMatchObject({ dropped: 1 });
      expect([...place.kept.keys()]).toEqual([kept]);
      expect(await runSql(url, "select 1 from blob")).toHaveLength(1);
    });

    it("are taken away with the last session that names them, at once or by a sweep", async () => {
      const store = await gateway();
      const [one, two] = [newName(), newName()];
      const shared = { many: large("shared part") };
      for (const name of [one, two]) {
        const session = await store.open(name);
        await session.appendStep({
          entries: [said(large(name.key))],
          ...{ deliveries: [], report: report(name.key, shared) },
        });
        await session.close();
      }
      expect(place.kept.size).toBe(3);
      expect(await store.remove(one)).toBe(true);
      expect(place.kept.size).toBe(2);
      isSame(await store.part("main", "many"), shared.many);
      place.isAway = true;
      expect(await store.remove(two)).toBe(true);
      place.isAway = false;
      expect(place.kept.size).toBe(2);
      // Whoever began with it may still do it; a day later nobody does.
      expect((await store.sweepBlobs(now)).dropped).toBe(0);
      await runSql(
        url,
        "update blob set dropping = now() - interval '25 hours' where dropping is not null",
      );
      expect((await store.sweepBlobs(now)).dropped).toBe(2);
      expect([place.kept.size, await store.part("main", "many")]).toEqual([0, null]);
    });

    it("when they were put, and are taken away before their step, are in its rows", async () => {
      const store = await gateway();
      const name = newName();
      const session = await store.open(name);
      place.afterPut = async () => {
        place.afterPut = async () => {};
        expect((await store.sweepBlobs(now)).dropped).toBe(1);
      };
      await session.append([said(large("swept"))]);
      expect(place.kept.size).toBe(0);
      expect((await rows("entry")).map(({ blob }) => blob)).toEqual([null]);
      await session.append([said("goes on")]);
      await session.close();
      const again = await store.open(name);
      isSame(textsOf(await again.read({ tail: 2 })), `${large("swept")} goes on`);
    });

    it("and are being taken away are not named by who wants the same", async () => {
      const store = await gateway();
      const [one, two] = [newName(), newName()];
      const same = { same: large("part of both") };
      const step = (turn: string) => ({ entries: [], deliveries: [], report: report(turn, same) });
      const first = await store.open(one);
      await first.appendStep(step("t1"));
      await runSql(url, "delete from report; delete from part");
      const second = await store.open(two);
      place.beforeDrop = async () => {
        await second.appendStep(step("t2"));
      };
      expect((await store.sweepBlobs(now)).dropped).toBe(1);
      expect(place.kept.size).toBe(0);
      isSame(await store.part("main", "same"), same.same);
      expect((await rows("part")).map(({ blob }) => blob)).toEqual([null]);
    });

    it("are no others, whatever sweeps run beside whatever steps", {
      timeout: 60_000,
    }, async () => {
      const stores = [await gateway(), await gateway()];
      let isOver = false;
      let dropped = 0;
      const sweeping = stores.map(async (store) => {
        while (!isOver) dropped += (await store.sweepBlobs(now)).dropped;
      });
      const contents = ["a", "b", "c"].map(large);
      await Promise.all(
        Array.from({ length: 6 }, async (_, writer) => {
          const store = stores[writer % 2]!;
          for (let round = 0; round < 6; round++) {
            const name = newName();
            const session = await store.open(name);
            const which = (writer + round) % contents.length;
            await session.appendStep({
              entries: [said(large(`${writer} ${round}`))],
              ...{ deliveries: [], report: report(name.key, { [`p${which}`]: contents[which]! }) },
            });
            await session.close();
            if (round % 2 === 0) await store.remove(name);
            // Now and then nobody names a part any more.
            if (round % 3 === 2) await runSql(url, "delete from part");
          }
        }),
      ).finally(() => {
        isOver = true;
      });
      await Promise.all(sweeping);
      const reader = await openPostgresReader({ url, ports: SIMPLE_PORTS, blobs: place.open });
      for (const summary of await reader.list()) {
        const [line] = await reader.log(summary, { after: 0, limit: 1 });
        expect(line!.body.length).toBeGreaterThan(64 * 1024);
      }
      await reader.parts("main", ["p0", "p1", "p2"]);
      await reader.close();
      expect(dropped).toBeGreaterThan(0);
    });
  });
});
