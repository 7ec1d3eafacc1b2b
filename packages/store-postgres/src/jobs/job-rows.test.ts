import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../database.ts";
import { migrate } from "../migrate.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "../testing/shared.ts";
import { createJobRows, type JobProgress } from "./job-rows.ts";

describe.skipIf(whyNoPostgres() !== null)(`jobs in a database ${UNLESS_THERE}`, () => {
  let database: Database;
  beforeAll(async () => {
    const url = await testDatabase();
    database = openDatabase({ url, connections: 8, timeoutMs: 20_000 });
    await migrate(database);
  });
  afterAll(() => database?.end());
  const START: JobProgress = { settledUntil: 1, aheadUntil: null, askedUntil: 0, run: null };
  const run = (due: number) => ({ due, startedAt: due, missed: 0 });

  it("are listed oldest first, with the time by the database's clock", async () => {
    const jobs = createJobRows(database);
    expect((await jobs.list()).jobs).toEqual([]);
    await jobs.put({ id: "b", createdAt: 2, body: "B" });
    await jobs.put({ id: "a", createdAt: 2, body: "A" });
    await jobs.put({ id: "c", createdAt: 1, body: "C" });
    await jobs.put({ id: "b", createdAt: 2, body: "B2" });
    const { jobs: found, now } = await jobs.list();
    expect(found.map(({ body }) => body)).toEqual(["C", "A", "B2"]);
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
    for (const id of ["a", "b", "c"]) expect(await jobs.remove(id)).toBe(true);
    expect(await jobs.remove("a")).toBe(false);
  });

  it("are removed with all that is known of them, and keep nothing that comes late", async () => {
    const jobs = createJobRows(database);
    await jobs.put({ id: "gone", createdAt: 1, body: "" });
    expect(await jobs.advance("gone", null, START)).toBe(true);
    await jobs.addRuns("gone", [{ due: 1, startedAt: 2, body: "x" }]);
    await jobs.addRuns("gone", [{ due: 1, startedAt: 2, body: "y" }]);
    expect(await jobs.runs("gone", 9)).toEqual([{ due: 1, startedAt: 2, body: "x" }]);
    await jobs.remove("gone");
    expect(await jobs.advance("gone", START, { ...START, settledUntil: 2 })).toBe(false);
    expect(await jobs.advance("gone", null, START)).toBe(false);
    await jobs.addRuns("gone", [{ due: 2, startedAt: 3, body: "x" }]);
    expect(await jobs.runs("gone", 9)).toEqual([]);
    expect(await jobs.progress("gone")).toBeNull();
  });

  it("go on from where they are for one gateway of many, whichever asks first", async () => {
    const jobs = createJobRows(database);
    let made = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 2, max: 6 }), { minLength: 1, maxLength: 5 }),
        async (rounds) => {
          const id = `many-${made++}`;
          await jobs.put({ id, createdAt: 1, body: "" });
          let from: JobProgress | null = null;
          for (const [round, gateways] of rounds.entries()) {
            const wanted = Array.from({ length: gateways }, (_, gateway) => ({
              ...START,
              run: run(round * 10 + gateway),
            }));
            const won = await Promise.all(wanted.map((to) => jobs.advance(id, from, to)));
            expect(won.filter(Boolean)).toHaveLength(1);
            const to = wanted[won.indexOf(true)]!;
            expect(await jobs.progress(id)).toEqual(to);
            // Its answer may have been lost.
            expect(await jobs.advance(id, from, to)).toBe(true);
            from = to;
          }
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});
