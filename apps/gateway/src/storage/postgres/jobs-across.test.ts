import { describe, expect, it } from "vitest";
import {
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { post } from "../../testing/gateway.ts";
import { jobGateways } from "../../testing/job-gateways.ts";

const LONG = { timeout: 120_000 };
const SOON = { timeout: 60_000, interval: 50 };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** As for a process whose machine has another time, an hour later. */
const HOUR_LATE = `--import=data:text/javascript,${encodeURIComponent(
  "const D=Date,H=36e5,n=D.now;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(n()+H)}static now(){return n()+H}}",
)}`;

describe.skipIf(whyNoPostgres() !== null)(`jobs of several gateways ${UNLESS_THERE}`, () => {
  it("run each due moment once, whichever gateway gets it", LONG, async () => {
    const { answer, start, store, add, said } = await jobGateways();
    await start();
    await Promise.all([start(), start()]);
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) await add(id, 1500, { kind: id === "d" ? "heartbeat" : "cron" });
    for (const _ of ids) await answer("Seen.");
    for (const id of ids) {
      await expect.poll(() => store.runs(id, 5), SOON).toHaveLength(1);
      const [run] = await store.runs(id, 5);
      expect(run).toMatchObject({ outcome: "completed", answer: "Seen.", missed: 0 });
      const messages = await said(id);
      expect(messages).toMatchObject([
        {
          ...{ role: "user", content: `look ${id}`, idempotencyKey: `cron/${id}/${run!.due}` },
          __openclaw: { kind: id === "d" ? "heartbeat" : "cron" },
        },
        { role: "assistant" },
      ]);
      await expect.poll(async () => (await store.state(id)).run, SOON).toBeNull();
      expect(await store.state(id)).toMatchObject({ settledUntil: run!.due });
    }
  });

  it("wait behind a person's turn, and end where their message is taken back", LONG, async () => {
    const { model, start, store, add, rolesIn } = await jobGateways();
    const { port } = await start();
    const at = `http://127.0.0.1:${port}/api/sessions/a`;
    const talking = fetch(`${at}/messages`, post({ text: "A person speaks." }));
    const reply = await model.asked();
    await add("a", 300);
    const waiting = async () => (await (await fetch(`${at}/waiting`)).json()).waiting;
    await expect.poll(waiting, SOON).toMatchObject([{ text: "look a" }]);
    const [{ id }] = await waiting();
    expect((await fetch(`${at}/waiting/${id}`, { method: "DELETE" })).status).toBe(200);
    reply.finish();
    await (await talking).text();
    await expect.poll(() => store.runs("a", 5), SOON).toMatchObject([{ outcome: "aborted" }]);
    expect(await rolesIn("a")).toEqual(["user", "assistant"]);
  });

  it(
    "are made up for once where they were due while no gateway ran, as in files",
    LONG,
    async () => {
      const { answer, start, store, add, rolesIn, now } = await jobGateways();
      await add("late", -5 * MINUTE, { schedule: "every 2m" });
      const at = new Date(now() - 30 * MINUTE).toISOString();
      await add("too-late", -HOUR, { schedule: `at ${at}`, maxLateMinutes: 2 });
      const place = start();
      await answer("Late.");
      await expect.poll(() => store.runs("late", 5), SOON).toHaveLength(1);
      await expect.poll(() => store.runs("too-late", 5), SOON).toHaveLength(1);
      const [late] = await store.runs("late", 5);
      expect(late).toMatchObject({ outcome: "completed", answer: "Late." });
      expect(late!.missed).toBeGreaterThan(25);
      expect(await store.runs("too-late", 5)).toMatchObject([{ outcome: "skipped" }]);
      expect(await rolesIn("too-late")).toEqual([]);
      await place;
    },
  );

  it("run when they are due where a machine's clock is an hour late", LONG, async () => {
    const { answer, start, store, add } = await jobGateways({ env: { NODE_OPTIONS: HOUR_LATE } });
    await start();
    await add("soon", 3000);
    await add("later", 40 * MINUTE);
    await answer("Seen.");
    await expect.poll(() => store.runs("soon", 5), SOON).toHaveLength(1);
    const [run] = await store.runs("soon", 5);
    expect(run!.startedAt - run!.due).toBeLessThan(10 * MINUTE);
    expect(await store.runs("later", 5)).toEqual([]);
  });
});
