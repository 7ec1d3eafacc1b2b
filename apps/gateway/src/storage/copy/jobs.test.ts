import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPostgresReader } from "@clew/store-postgres";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { type Job, type JobRun, type JobState, NEW_STATE } from "../../cron/job.ts";
import { createJobFiles } from "../../cron/job-files.ts";
import { planJob } from "../../cron/plan-job.ts";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { createJobRows } from "../postgres/job-rows.ts";
import { POSTGRES_PORTS } from "../postgres/ports.ts";
import { formatRuns, mergeStates, newRuns, planJobCopy, runsOfText } from "./job-texts.ts";
import type { CopyResult } from "./result.ts";

const jobOf = (given: Partial<Job> = {}): Job => ({
  ...{ v: 1, id: "j1", session: "agent:main:cron:j1", message: "look", kind: "cron" },
  ...{ schedule: "every 10m", timeZone: "UTC", enabled: true, createdAt: 1_000, enabledAt: 1_000 },
  ...{ maxLateMinutes: 1440, askedAt: 0, ...given },
});
const runOf = (due: number): JobRun => ({
  ...{ due, startedAt: due + 1, endedAt: due + 2, outcome: "completed", missed: 0 },
});

describe("what becomes of a job on two sides", () => {
  const [one, two, three] = [jobOf(), jobOf({ message: "two" }), jobOf({ message: "three" })];
  it.each([
    ["is new", { source: one, target: undefined, copied: undefined }, "take"],
    ["is the same", { source: one, target: one, copied: undefined }, "same"],
    ["was changed at the source", { source: two, target: one, copied: one }, "take"],
    ["was changed at the target", { source: one, target: two, copied: one }, "ahead"],
    ["was changed at both", { source: two, target: three, copied: one }, "torn"],
    ["is another one", { source: two, target: three, copied: undefined }, "torn"],
    ["was removed at the target", { source: one, target: undefined, copied: one }, "deleted"],
    ["was removed at the source", { source: undefined, target: one, copied: one }, "deleted"],
    [
      "was removed there and changed here",
      { source: undefined, target: two, copied: one },
      "ahead",
    ],
  ])("it %s", (_what, given, plan) => {
    expect(planJobCopy(given)).toBe(plan);
  });

  const state = fc
    .record({ settledUntil: fc.nat(5e7), askedUntil: fc.nat(5e7) })
    .map((given): JobState => ({ ...NEW_STATE, ...given }));
  it("no moment that either side has settled is due at who goes on", () =>
    fc.assert(
      fc.property(state, state, fc.nat(6e7), (own, other, now) => {
        const merged = mergeStates(own, other);
        const step = planJob(jobOf(), merged, now);
        if (step.kind === "run" || step.kind === "skip")
          expect(step.due).toBeGreaterThan(Math.max(own.settledUntil, other.settledUntil));
        expect(mergeStates(other, own)).toEqual({ ...merged, run: other.run });
        expect(mergeStates(merged, other)).toEqual(merged);
      }),
    ));

  it("runs are there once, whatever was copied of them before, and read as they were written", () =>
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(50)), fc.uniqueArray(fc.nat(50)), (here, there) => {
        const [own, more] = [here.map(runOf), there.map(runOf)];
        const text = formatRuns([...own, ...newRuns(more, own)]);
        const all = runsOfText(`${text}\n{"due":3,"st`).map(({ due }) => due);
        expect(new Set(all)).toEqual(new Set([...here, ...there]));
        expect(all).toHaveLength(new Set(all).size);
      }),
    ));
});

describe.skipIf(whyNoPostgres() !== null)(`copying jobs ${UNLESS_THERE}`, () => {
  async function world() {
    const url = await testDatabase();
    const home = await temporaryHome();
    const copy = async (...args: string[]) => {
      const { code, output, errors } = await clew(home, ["storage", "copy", ...args, "--json"]);
      expect(errors).toBe("");
      return { code, ...(JSON.parse(output) as CopyResult) };
    };
    const into = (...more: string[]) => copy("--from", "files", "--to", url, ...more);
    const back = (...more: string[]) => copy("--from", url, "--to", "files", ...more);
    const rows = async () => {
      const reader = await openPostgresReader({ url, ports: POSTGRES_PORTS });
      onTestFinished(() => reader.close());
      return createJobRows(reader);
    };
    return { home, url, into, back, rows, files: createJobFiles(home) };
  }

  it("takes them along with how far they are, and what was added on each side since", async () => {
    const { into, back, rows, files, home } = await world();
    await files.write(jobOf());
    await files.writeState("j1", { ...NEW_STATE, settledUntil: 601_000 });
    await files.appendRun("j1", runOf(601_000));
    expect(await into("--check")).toMatchObject({ code: 1, files: 3 });
    expect(await into()).toMatchObject({ code: 0, files: 3, left: [] });
    expect(await into("--check")).toMatchObject({ code: 0, files: 0 });
    const store = await rows();
    expect(await store.jobs()).toEqual([jobOf()]);
    expect(await store.runs("j1", 9)).toEqual([runOf(601_000)]);

    await store.writeState("j1", { ...NEW_STATE, settledUntil: 1_201_000 });
    await store.appendRun("j1", runOf(1_201_000));
    await store.write(jobOf({ enabled: false }));
    expect(await into()).toMatchObject({ code: 0, ahead: ["job j1"] });
    expect(await store.jobs()).toEqual([jobOf({ enabled: false })]);
    await files.write(jobOf({ id: "j2" }));
    const before = readFileSync(join(home, "cron/j1.runs.jsonl"), "utf8");
    expect(await back()).toMatchObject({ code: 0, left: [] });
    expect(await files.jobs()).toEqual([jobOf({ enabled: false }), jobOf({ id: "j2" })]);
    expect(await files.state("j1")).toMatchObject({ settledUntil: 1_201_000, run: null });
    expect((await files.runs("j1", 9)).map(({ due }) => due)).toEqual([1_201_000, 601_000]);
    expect(readFileSync(join(home, "cron/j1.runs.jsonl"), "utf8").startsWith(before)).toBe(true);
    expect(await back("--check")).toMatchObject({ code: 0, files: 0 });
  });

  it("leaves what both sides changed, and takes away what was removed at its source", async () => {
    const { into, back, rows, files } = await world();
    for (const id of ["j1", "j2", "j3"]) await files.write(jobOf({ id }));
    await into();
    const store = await rows();
    await store.write(jobOf({ message: "there" }));
    await files.write(jobOf({ message: "here" }));
    await store.remove("j2");
    expect(await into()).toMatchObject({
      ...{ deleted: ["job j2"], left: [{ what: "job j1" }] },
    });
    expect((await store.jobs()).map(({ message }) => message)).toEqual(["there", "look"]);
    expect(await back()).toMatchObject({ deleted: ["job j2"], left: [{ what: "job j1" }] });
    expect((await files.jobs()).map(({ id, message }) => `${id} ${message}`)).toEqual([
      ...["j1 here", "j3 look"],
    ]);
  });

  it("lets nobody run anew what runs on the other side", async () => {
    const { into, rows, files } = await world();
    await files.write(jobOf());
    const run = { due: 601_000, startedAt: 601_001, missed: 0 };
    await files.writeState("j1", { ...NEW_STATE, settledUntil: 601_000, run });
    await into();
    expect(await (await rows()).state("j1")).toMatchObject({ settledUntil: 601_000, run: null });
  });
});
