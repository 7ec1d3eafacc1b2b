import { setTimeout as after } from "node:timers/promises";
import { openPostgresReader } from "@clew/store-postgres";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../packages/store-postgres/src/testing/shared.ts";
import type { Jobs, RunWork, Work } from "../jobs/jobs.ts";
import { silentLog } from "../log/silent.ts";
import { createJobRows, type SharedJobStore } from "../storage/postgres/job-rows.ts";
import { POSTGRES_PORTS } from "../storage/postgres/ports.ts";
import type { Job } from "./job.ts";
import { createScheduler, type JobOutcome, type Scheduler } from "./scheduler.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 28, 12);
const FOREVER = { writes: Number.POSITIVE_INFINITY, isDone: true };

/** What several gateways share: what one of them did when it died is given to another. */
class SharedQueue {
  readonly #left = new Map<string, Work>();
  readonly #taken = new Map<string, Gateway>();
  readonly living = new Set<Gateway>();

  send(work: Work): void {
    if (!this.#left.has(work.key)) this.#left.set(work.key, work);
    this.deal();
  }
  deal(): void {
    for (const [key, work] of this.#left) {
      const holder = this.#taken.get(key);
      if (holder !== undefined && this.living.has(holder)) continue;
      const [next] = [...this.living].filter(({ run }) => run !== undefined);
      if (next === undefined) continue;
      this.#taken.set(key, next);
      void next.run!(work, new AbortController().signal).then(
        () => {
          if (!this.living.has(next)) return;
          this.#left.delete(key);
          this.#taken.delete(key);
        },
        () => {},
      );
    }
  }
  isEmpty(): boolean {
    return this.#left.size === 0;
  }
}

/** One of them, which may die at a write. */
interface Gateway {
  run?: RunWork;
  scheduler: Scheduler;
}

const jobOf = (id: string, given: Partial<Job> = {}): Job => ({
  ...{ v: 1, id, session: `agent:main:${id}`, message: "look", kind: "cron", enabled: true },
  ...{ schedule: "every 10m", timeZone: "Europe/Berlin", maxLateMinutes: 1e6, askedAt: 0 },
  ...{ createdAt: START, enabledAt: START, ...given },
});

describe.skipIf(whyNoPostgres() !== null)(
  `the scheduler of several gateways ${UNLESS_THERE}`,
  () => {
    let rows: SharedJobStore;
    let close: () => Promise<void>;
    let made = 0;
    beforeAll(async () => {
      const url = await testDatabase();
      const reader = await openPostgresReader({ url, ports: POSTGRES_PORTS, connections: 6 });
      close = reader.close;
      rows = createJobRows(reader);
    });
    afterAll(() => close?.());

    /** By a clock that is set by hand, and of one job, as others of the database are of others. */
    function gatewayOf(
      id: string,
      clock: { now: number },
      {
        queue,
        said,
        left,
      }: { queue: SharedQueue; said: number[]; left: { writes: number; isDone: boolean } },
    ): Gateway {
      const never = new Promise<never>(() => {});
      /** A killed process never comes back from its write, which may have been done. */
      const dying =
        <Given extends unknown[], Answer>(work: (...given: Given) => Promise<Answer>) =>
        async (...given: Given): Promise<Answer> => {
          const isLast = --left.writes === 0;
          if (left.writes < 0) return never;
          if (isLast) queue.living.delete(gateway);
          if (isLast && !left.isDone) return never;
          const answer = await work(...given);
          if (isLast) queue.deal();
          return isLast ? never : answer;
        };
      const store: SharedJobStore = {
        ...rows,
        jobs: async () => (await rows.jobs()).filter((job) => job.id === id),
        appendRun: dying(rows.appendRun),
        shared: {
          ...rows.shared,
          clock: { now: () => clock.now },
          advance: dying(rows.shared.advance),
        },
      };
      const jobs: Jobs = {
        send: async (_queue, work) => queue.send(work),
        async work(_queue, run) {
          gateway.run = run;
          queue.deal();
        },
        every: async () => {},
        stop: async () => {},
      };
      const run = async (_job: Job, _signal: AbortSignal, due: number): Promise<JobOutcome> => {
        // As a message under its name, which is said once.
        if (!said.includes(due)) said.push(due);
        return { outcome: "completed" };
      };
      const gateway: Gateway = {
        scheduler: createScheduler({
          ...{
            store,
            jobs,
            log: silentLog,
            clock: { now: () => clock.now },
            lookMs: 3_600_000,
            run,
          },
        }),
      };
      queue.living.add(gateway);
      return gateway;
    }

    it("runs each due moment once and tells of it once, whichever dies at whichever write", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              minutes: fc.oneof(fc.nat(40), fc.constantFrom(-30, 600)),
              deaths: fc.array(fc.record({ writes: fc.nat(5), isDone: fc.boolean() }), {
                ...{ minLength: 1, maxLength: 3 },
              }),
            }),
            { minLength: 1, maxLength: 4 },
          ),
          async (rounds) => {
            const id = `shared-${made++}`;
            await rows.write(jobOf(id));
            const [clock, queue, said] = [{ now: START }, new SharedQueue(), [] as number[]];
            const settle = async (gateways: readonly Gateway[]) => {
              const looks = gateways.map(({ scheduler }) => scheduler.look());
              await Promise.race([Promise.all(looks), after(40)]);
            };
            for (const { minutes, deaths } of rounds) {
              clock.now = Math.max(START, clock.now + minutes * MINUTE);
              const mortal = deaths.map(({ writes, isDone }) =>
                gatewayOf(id, clock, { queue, said, left: { writes: writes || 99, isDone } }),
              );
              await settle(mortal);
              for (const each of mortal) queue.living.delete(each);
            }
            clock.now += 3 * 86_400_000;
            const last = gatewayOf(id, clock, { queue, said, left: FOREVER });
            await last.scheduler.look();
            await expect.poll(() => queue.isEmpty(), { interval: 5 }).toBe(true);
            await last.scheduler.look();
            await expect.poll(async () => (await rows.state(id)).run, { interval: 5 }).toBeNull();
            await last.scheduler.stop();
            const told = (await rows.runs(id, 1000)).map(({ due }) => due);
            expect(told.toSorted()).toEqual(said.toSorted());
            expect(new Set(told).size).toBe(told.length);
            // The newest moment is never lost.
            expect(Math.max(...said)).toBe(clock.now - ((clock.now - START) % (10 * MINUTE)));
          },
        ),
        { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
      );
    });
  },
);
