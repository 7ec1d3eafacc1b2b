import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { openPostgresReader } from "@clew/store-postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createDatabase,
  runSql,
  startPostgres,
} from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { Job } from "../../cron/job.ts";
import { post } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import {
  type GatewayPlan,
  type Place,
  startAgain,
  startPlace,
  stopPlace,
} from "../../testing/killed-gateways.ts";
import { createJobRows } from "./job-rows.ts";
import { POSTGRES_PORTS } from "./ports.ts";

const LONG = { timeout: 120_000 };
const SOON = { timeout: 60_000, interval: 50 };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** As for a process whose machine has another time, an hour later. */
const HOUR_LATE = `--import=data:text/javascript,${encodeURIComponent(
  "const D=Date,H=36e5,n=D.now;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(n()+H)}static now(){return n()+H}}",
)}`;

describe.skipIf(whyNoPostgres() !== null)(`jobs of several gateways ${UNLESS_THERE}`, () => {
  async function world({ url, ...given }: Partial<GatewayPlan> & { url?: string } = {}) {
    const model = await heldModel();
    const databaseUrl = url ?? (await testDatabase());
    const start = async () => {
      const plan = { databaseUrl, deadAfterSeconds: 2, config: model.config, ...given };
      const place = await startPlace(plan);
      onTestFinished(() => stopPlace(place));
      return place;
    };
    const again = async (place: Place) => {
      const plan = { databaseUrl, deadAfterSeconds: 2, config: model.config, ...given };
      place.child = await startAgain(plan, place);
    };
    const reader = await openPostgresReader({ url: databaseUrl, ports: POSTGRES_PORTS });
    onTestFinished(() => reader.close());
    const store = createJobRows(reader);
    await store.jobs();
    const { now } = store.shared.clock;
    /** Due for the first time in so many ms, and an hour later again. */
    const add = (id: string, inMs: number, more: Partial<Job> = {}) => {
      const createdAt = now() + inMs - HOUR;
      return store.write({
        ...{ v: 1, id, session: `agent:main:${id}`, message: `look ${id}`, kind: "cron" },
        ...{ schedule: "every 1h", timeZone: "UTC", enabled: true, maxLateMinutes: 1440 },
        ...{ createdAt, enabledAt: createdAt, askedAt: 0, ...more },
      });
    };
    const answer = async (text: string) => {
      const reply = await model.asked();
      reply.say(text);
      reply.finish();
    };
    const ownerOf = (id: string) => reader.ownerOf({ agentId: "main", key: `agent:main:${id}` });
    const said = async (id: string) => {
      const rows = await runSql(
        databaseUrl,
        `select e.body from entry e join session s on s.id = e.session_id
         where s.key = 'agent:main:${id}' order by e.seq`,
      );
      const entries = rows.map(({ body }) => JSON.parse(body as string));
      return entries.flatMap(({ message }) => (message === undefined ? [] : [message]));
    };
    const rolesIn = async (id: string) => (await said(id)).map(({ role }) => role);
    return { model, start, again, store, add, answer, said, rolesIn, ownerOf, now };
  }

  it("run each due moment once, whichever gateway gets it", LONG, async () => {
    const { answer, start, store, add, said } = await world();
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

  it("go on at another gateway where one is killed in the midst of a run", LONG, async () => {
    const { model, answer, start, store, add, rolesIn, ownerOf } = await world();
    const places: Place[] = [await start(), await start()];
    const place = async () => {
      const address = await ownerOf("a");
      return places.find(({ port }) => address?.endsWith(`:${port}`));
    };
    await add("a", 500);
    (await model.asked()).say("Half of it");
    const dead = (await place())!;
    dead.child.kill("SIGKILL");
    await once(dead.child, "exit");
    await answer("All of it.");
    await expect.poll(() => store.runs("a", 5), SOON).toHaveLength(1);
    const [run] = await store.runs("a", 5);
    expect(run).toMatchObject({ outcome: "completed", answer: "All of it." });
    expect(await rolesIn("a")).toEqual(["user", "assistant"]);
    expect(await place()).not.toBe(dead);
  });

  it(
    "are told by another gateway where the one that ran them stopped, and cancelled it",
    LONG,
    async () => {
      const { model, start, store, add, rolesIn, ownerOf } = await world();
      const places: Place[] = [await start(), await start()];
      await add("a", 500);
      (await model.asked()).say("Half of it");
      const address = await ownerOf("a");
      const stopped = places.find(({ port }) => address?.endsWith(`:${port}`))!;
      stopped.child.kill("SIGTERM");
      await once(stopped.child, "exit");
      await expect.poll(() => store.runs("a", 5), SOON).toHaveLength(1);
      const [run] = await store.runs("a", 5);
      expect(run).toMatchObject({ outcome: "aborted", answer: "Half of it" });
      expect(await rolesIn("a")).toEqual(["user", "assistant"]);
    },
  );

  it("wait behind a person's turn, and end where their message is taken back", LONG, async () => {
    const { model, start, store, add, rolesIn } = await world();
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

  it("lose and double no run while gateways are killed again and again", LONG, async () => {
    const { model, start, again, store, add, said, now } = await world();
    const over = new AbortController();
    void (async () => {
      while (!over.signal.aborted) {
        const reply = await model.asked();
        reply.say("Seen.");
        setTimeout(reply.finish, 100 * Math.random());
      }
    })();
    const places = [await start(), await start()];
    const ids = Array.from({ length: 16 }, (_, index) => `j${index}`);
    const began = now();
    for (const [index, id] of ids.entries()) await add(id, 500 * (index + 1));
    for (let kill = 0; kill < 4; kill++) {
      await after(1500);
      const place = places[kill % 2]!;
      place.child.kill("SIGKILL");
      await once(place.child, "exit");
      await again(place);
    }
    for (const [index, id] of ids.entries()) {
      await expect.poll(() => store.runs(id, 5), SOON).toHaveLength(1);
      const [run] = await store.runs(id, 5);
      expect(Math.abs(run!.due - began - 500 * (index + 1))).toBeLessThan(500);
      expect(run).toMatchObject({ outcome: "completed", answer: "Seen.", missed: 0 });
      const messages = await said(id);
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    }
    over.abort();
  });

  it(
    "are made up for once where they were due while no gateway ran, as in files",
    LONG,
    async () => {
      const { answer, start, store, add, rolesIn, now } = await world();
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
    const { answer, start, store, add } = await world({ env: { NODE_OPTIONS: HOUR_LATE } });
    await start();
    await add("soon", 3000);
    await add("later", 40 * MINUTE);
    await answer("Seen.");
    await expect.poll(() => store.runs("soon", 5), SOON).toHaveLength(1);
    const [run] = await store.runs("soon", 5);
    expect(run!.startedAt - run!.due).toBeLessThan(10 * MINUTE);
    expect(await store.runs("later", 5)).toEqual([]);
  });

  it("run once where the database ends and starts in the midst of a run", LONG, async () => {
    const server = await startPostgres({
      folder: join(tmpdir(), `clew-jobs-${randomUUID().slice(0, 8)}`),
    });
    onTestFinished(() => server.stop());
    const { model, start, store, add, rolesIn } = await world({
      ...{ url: await createDatabase(server, "jobs"), deadAfterSeconds: 10 },
    });
    await start();
    await start();
    await add("a", 500);
    const reply = await model.asked();
    reply.say("Whatever ");
    await server.restart("immediate", { downMs: 1500 });
    reply.say("happens.");
    reply.finish();
    await expect
      .poll(() => store.runs("a", 5).catch(() => []), SOON)
      .toMatchObject([{ outcome: "completed", answer: "Whatever happens." }]);
    expect(await rolesIn("a")).toEqual(["user", "assistant"]);
  });
});
