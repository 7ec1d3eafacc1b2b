// What whoever hands out work has to do, wherever it keeps that.
import { setTimeout as after } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Jobs } from "../jobs/jobs.ts";

export interface JobsUnderTest {
  /** As another gateway of the same database, where there can be one. */
  open(): Promise<Jobs>;
  /** Longest time until something is noticed, ms. */
  slowMs: number;
}

const poll = <Value>(read: () => Value, { slowMs }: Pick<JobsUnderTest, "slowMs">) =>
  expect.poll(read, { timeout: slowMs, interval: 20 });

/** `begin` is called once for each rule. */
export function itHandsOutWork(begin: () => Promise<JobsUnderTest>): void {
  it("does what was sent, with what was given", async () => {
    const under = await begin();
    const jobs = await under.open();
    const done: unknown[] = [];
    await jobs.work("look", async ({ key, data }) => void done.push([key, data]));
    await jobs.send("look", { key: "a/1", data: { at: 1, what: ["é"] } });
    await jobs.send("look", { key: "b/1", data: null });
    await poll(() => done.length, under).toBe(2);
    expect(done).toContainEqual(["a/1", { at: 1, what: ["é"] }]);
    expect(done).toContainEqual(["b/1", null]);
    await jobs.stop();
  });

  it("does what was sent before anybody worked on it, and nothing of another queue", async () => {
    const under = await begin();
    const jobs = await under.open();
    const done: string[] = [];
    await jobs.send("look", { key: "early", data: null });
    await jobs.send("other", { key: "never", data: null });
    await jobs.work("look", async ({ key }) => void done.push(key));
    await poll(() => done, under).toEqual(["early"]);
    await jobs.stop();
    expect(done).toEqual(["early"]);
  });

  it("sends nothing twice under a key that waits or is done, and again once that is over", async () => {
    const under = await begin();
    const jobs = await under.open();
    let [begun, release] = [0, () => {}];
    await jobs.work("look", async () => {
      begun++;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    for (let time = 0; time < 3; time++) await jobs.send("look", { key: "one", data: null });
    await poll(() => begun, under).toBe(1);
    await jobs.send("look", { key: "one", data: null });
    await after(100);
    expect(begun).toBe(1);
    release();
    await poll(async () => {
      await jobs.send("look", { key: "one", data: null });
      return begun;
    }, under).toBe(2);
    release();
    await jobs.stop(1000);
  });

  it("does several at a time", async () => {
    const under = await begin();
    const jobs = await under.open();
    const begun = new Set<string>();
    const { promise: all, resolve } = Promise.withResolvers<void>();
    await jobs.work("look", async ({ key }) => {
      begun.add(key);
      if (begun.size === 3) resolve();
      await all;
    });
    for (const key of ["a", "b", "c"]) await jobs.send("look", { key, data: null });
    await poll(() => begun.size, under).toBe(3);
    await jobs.stop(1000);
  });

  it("begins again what failed", async () => {
    const under = await begin();
    const jobs = await under.open();
    let begun = 0;
    await jobs.work("look", async () => {
      if (begun++ === 0) throw new Error("not now");
    });
    await jobs.send("look", { key: "one", data: null });
    await poll(() => begun, under).toBe(2);
    await jobs.stop();
  });

  it("gives what runs its grace, tells it to end then, and begins nothing more", async () => {
    const under = await begin();
    const jobs = await under.open();
    let [begun, wasTold] = [0, false];
    await jobs.work("look", async (_work, signal) => {
      begun++;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      wasTold = true;
    });
    await jobs.send("look", { key: "one", data: null });
    await poll(() => begun, under).toBe(1);
    await jobs.stop(50);
    expect(wasTold).toBe(true);
    await jobs.send("look", { key: "two", data: null });
    await after(200);
    expect(begun).toBe(1);
  });

  it("does again and again what is to be done in each interval, and never two at once", async () => {
    const under = await begin();
    const jobs = await under.open();
    let [begun, atOnce, most] = [0, 0, 0];
    await jobs.every("tidy", 1000, async () => {
      begun++;
      most = Math.max(most, ++atOnce);
      await after(20);
      atOnce--;
    });
    await poll(() => begun, under).toBeGreaterThan(1);
    await jobs.stop();
    expect(most).toBe(1);
  });
}
