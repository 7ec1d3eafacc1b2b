// When a loop that has no rest is looked into, and who is named for it.
import { expect, it } from "vitest";
import { addSample, NO_SAMPLES, planSample, type Sampling } from "./plan-samples.ts";

/** Looks every quarter of a second; `seen` says whose code a look finds. */
function run(seconds: number, load: number, seen: (look: number) => string | null) {
  let sampling: Sampling = NO_SAMPLES;
  let looks = 0;
  const busy: unknown[] = [];
  for (let now = 0; now < seconds * 1000; now += 250) {
    const plan = planSample(sampling, { load, now });
    sampling = plan.sampling;
    if (!plan.isDue) continue;
    const plugin = seen(looks);
    const where = plugin === null ? null : `work (index.js:${looks})`;
    looks++;
    const found = addSample(sampling, { plugin, where });
    sampling = found.sampling;
    if (found.busy !== undefined) busy.push(found.busy);
  }
  return { looks, busy };
}

it("nobody looks into a loop that rests, or that has had no rest for a moment only", () => {
  expect(run(60, 50, () => "small").looks).toBe(0);
  expect(run(4, 100, () => "small").looks).toBe(0);
});

it("a plugin that runs in most looks is named once in a while", () => {
  const { looks, busy } = run(60, 100, (look) => (look % 4 === 0 ? null : "small"));
  expect(looks).toBe(8);
  expect(busy).toEqual([{ plugin: "small", share: 75, where: "work (index.js:7)" }]);
});

it("where it was is told also if the last look found it nowhere", () => {
  const { busy } = run(60, 100, (look) => (look === 7 ? null : "small"));
  expect(busy).toEqual([{ plugin: "small", share: 88, where: "work (index.js:6)" }]);
});

it("nobody is named where it is the gateway that works, or many plugins together", () => {
  expect(run(60, 100, () => null).busy).toEqual([]);
  expect(run(60, 100, (look) => ["a", "b", "c"][look % 3]!).busy).toEqual([]);
});
