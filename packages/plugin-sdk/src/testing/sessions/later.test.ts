import { expect, it } from "vitest";
import { byClock, later } from "./later.ts";

const HOUR = 3_600_000;

it("puts every clock ahead as long as somebody's work runs, and back afterwards", async () => {
  const before = globalThis.Date;
  const start = Date.now();
  let end = () => {};
  const first = later(HOUR, () => new Promise<void>((resolve) => (end = resolve)));
  const [now, made, text] = await later(HOUR, async () => [
    ...[Date.now(), Date.parse(new Date().toISOString()), Date.parse(Date())],
  ]);
  for (const time of [now!, made!, text! + 1_000])
    expect(time).toBeGreaterThanOrEqual(start + HOUR);
  expect(new Date(5).getTime()).toBe(5);
  expect(new Date()).toBeInstanceOf(Date);
  end();
  await first;
  expect(globalThis.Date).toBe(before);
  expect(Date.now()).toBeLessThan(start + HOUR);
});

it("sets the clock of one piece of work, and of nobody beside it", async () => {
  const start = Date.now();
  const clock = { ms: 0 };
  await Promise.all([
    byClock(clock, async () => {
      clock.ms = -HOUR;
      await Promise.resolve();
      expect(Date.now()).toBeLessThan(start);
    }),
    later(0, async () => {
      await Promise.resolve();
      expect(Date.now()).toBeGreaterThanOrEqual(start);
    }),
  ]);
});
