import { placeEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresReader } from "./reader.ts";
import type { SessionLog } from "./session-log.ts";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS, said, textsOf } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(
  `what a database tells of sessions ${UNLESS_THERE}`,
  () => {
    let url: string;
    let store: PostgresStore<ListLedger>;
    let other: PostgresStore<ListLedger>;
    let names = 0;
    const open = (address: string) =>
      openPostgresStore({ url, ports: SIMPLE_PORTS, address, ttlMs: 60_000 });
    beforeAll(async () => {
      url = await testDatabase();
      store = await open("http://one");
      other = await open("http://two");
    });
    afterAll(() => Promise.all([store.close(), other.close()]));
    const newName = () => ({ agentId: "main", key: `agent:main:${names++}` });

    let made = 0;
    /** Entries that follow `after`, with places of their own. */
    function chain(texts: readonly string[], after: string | null): TranscriptEntry[] {
      let parentId = after;
      return texts.map((text) => {
        const place = { id: `e${made++}`, parentId, timestamp: new Date(made).toISOString() };
        parentId = place.id;
        return placeEntry(said(text), place);
      });
    }
    const step = (entries: readonly TranscriptEntry[], more: object = {}) => ({
      ...{ entries, deliveries: [], report: null, ...more },
    });
    const linesIn = async ({ session }: SessionLog<ListLedger>, after = 0) =>
      (await store.log(session, { after, limit: 100 })).map(({ body }) => body);

    it("is its log from any place on, as it was stored, for whoever keeps the branch elsewhere", async () => {
      const name = newName();
      const log = await store.openLog(name);
      expect(log.found).toEqual({ head: 0, lastEntry: null, header: null, base: null });
      const first = chain(["one", "two", "three"], null);
      const lines = await log.store(step(first, { header: "the first line" }));
      await log.store(
        step(chain(["four"], first[0]!.id), {
          ...{ follows: { keep: 1, leafId: first[0]!.id }, header: "another one" },
        }),
      );
      expect(await linesIn(log)).toEqual([...lines, expect.stringContaining("four")]);
      const place = await store.placeOf(log.session, first[1]!.id);
      expect(await linesIn(log, place!)).toHaveLength(2);
      expect(await store.placeOf(log.session, "nowhere")).toBe(null);
      await log.close();
      const again = await other.openLog(name);
      const lastEntry = (await store.find(name))!.lastEntry;
      expect(again.found).toEqual({ head: 4, lastEntry, header: "the first line", base: null });
      await again.close();
      const whole = await store.open(name);
      expect(textsOf(await whole.read({ after: null }))).toBe("one four");
      await whole.close();
    });

    it("is a list with sizes, without sessions in which nothing was said", async () => {
      const [name, silent] = [newName(), newName()];
      await (await store.openLog(silent)).close();
      const log = await store.openLog(name);
      const lines = await log.store(step(chain(["one"], null)));
      await log.close();
      const reader = await openPostgresReader({ url, ports: SIMPLE_PORTS });
      const listed = await reader.list();
      expect(listed.map(({ key }) => key)).not.toContain(silent.key);
      const bytes = Buffer.byteLength(`${lines[0]}\n`);
      expect(listed).toContainEqual(
        expect.objectContaining({ ...name, bytes, head: 1, label: null }),
      );
      expect(reader.clusterId).toBe(store.clusterId);
      await reader.close();
    });

    it("is a name that people chose, which goes on with the key when it is renewed", async () => {
      const name = newName();
      const log = await store.openLog(name);
      await log.store(step(chain(["one"], null)));
      expect(await other.renew({ ...name, sessionId: "new", archivedKey: "old" })).toBe(false);
      await log.close();
      expect(await store.label(name, "Holiday")).toBe(true);
      expect(await store.label(newName(), "Nobody")).toBe(false);
      const archivedKey = `${name.key}.before`;
      const sessionId = `renewed ${name.key}`;
      expect(await other.renew({ ...name, sessionId, archivedKey })).toBe(true);
      expect(await store.find(name)).toMatchObject({ sessionId, label: "Holiday", head: 0 });
      const archived = await store.find({ ...name, key: archivedKey });
      expect(archived).toMatchObject({ sessionId: log.session.sessionId, label: null, head: 1 });
    });

    it("is nothing of a session that was removed, which nobody has open", async () => {
      const name = newName();
      const log = await store.openLog(name);
      await log.store(step(chain(["one"], null), { report: REPORT }));
      expect(await other.remove(name)).toBe(false);
      await log.close();
      expect(await other.remove(name)).toBe(true);
      expect(await store.find(name)).toBe(null);
      expect(await linesIn(log)).toEqual([]);
      expect(await store.reports(log.session, { limit: 1 })).toEqual([]);
    });

    const REPORT = { report: { turnId: "t1", outcome: "completed" }, parts: { a: "A", b: "B" } };

    it("are its reports behind that of a turn, with what they name, as they were amended", async () => {
      const log = await store.openLog(newName());
      await log.store(step([], { report: REPORT }));
      await log.store(step([], { report: { report: { turnId: "t2" }, parts: { b: "B" } } }));
      await log.amendReport({ turnId: "t2", outcome: "aborted" });
      const all = await store.laterReports(log.session, { afterTurn: null, limit: 9 });
      expect(all).toMatchObject([
        { report: { turnId: "t1" }, parts: { a: "A", b: "B" } },
        { report: { turnId: "t2", outcome: "aborted" }, parts: { b: "B" } },
      ]);
      const later = await store.laterReports(log.session, { afterTurn: "t1", limit: 9 });
      expect(later).toEqual(all.slice(1));
      await log.close();
    });
  },
);
