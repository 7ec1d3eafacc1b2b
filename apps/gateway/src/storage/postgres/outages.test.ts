import { randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { textOf } from "@clew/plugin-sdk/transcript";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startCuttingProxy } from "../../../../../packages/store-postgres/src/testing/cutting-proxy.ts";
import {
  createDatabase,
  runSql,
  startPostgres,
  type TestServer,
} from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { parseStream, post, startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import {
  isSaid,
  killGatewaysOverHttp,
  startPlace,
  stopPlace,
} from "../../testing/killed-gateways.ts";

const LONG = { timeout: 120_000 };
/** As for a process whose machine has another time, an hour later. */
const HOUR_LATE = `--import=data:text/javascript,${encodeURIComponent(
  "const D=Date,H=36e5,n=D.now;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(n()+H)}static now(){return n()+H}}",
)}`;
const REFUSE = (code: string) => `
  create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'no' using errcode = '${code}'; end $$;
  create trigger refuse before insert on entry for each row execute function refuse();
  create trigger refuse before insert on inbox_row for each row execute function refuse();`;
const TAKE_AGAIN = "drop function refuse cascade";

describe.skipIf(whyNoPostgres() !== null)(
  `gateways whose database is in trouble ${UNLESS_THERE}`,
  () => {
    let server: TestServer;
    let databases = 0;
    beforeAll(async () => {
      const folder = join(tmpdir(), `clew-trouble-${randomUUID().slice(0, 8)}`);
      server = await startPostgres({ folder });
    });
    afterAll(() => server?.stop());
    const newDatabase = () => createDatabase(server, `trouble-${databases++}`);

    async function start(url: string, config: object = {}, storage: object = {}) {
      const own = { driver: "postgres", url, address: `http://127.0.0.1:${++databases}` };
      return startTestGateway({
        ...{ ...config, storage: { ...own, ...storage }, door: { enabled: false } },
      });
    }
    const saidIn = async ({ get }: Pick<TestGateway, "get">, session = "main") => {
      const { messages } = await (await get(`/api/sessions/${session}/messages`)).json();
      return (messages as { role: string }[]).flatMap((message) =>
        message.role === "user" ? [textOf(message as never)] : [],
      );
    };

    it("go on with turns and messages while it ends and starts", LONG, async () => {
      const model = await heldModel();
      const gateway = await start(await newDatabase(), model.config);
      const first = gateway.say("one");
      const reply = await model.asked();
      reply.say("One");
      const second = gateway.say("two");
      const restarting = server.restart("immediate", { downMs: 500 });
      await after(100);
      const page = gateway.get("/api/sessions");
      reply.finish();
      const next = await model.asked();
      next.say("Two");
      await restarting;
      next.finish();
      for (const { events } of await Promise.all([first, second]))
        expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      expect((await page).status).toBe(200);
      expect(await saidIn(gateway)).toEqual(["one", "two"]);
    });

    it("lose and double no message where their connections are cut at any byte", LONG, async () => {
      const proxy = await startCuttingProxy(await newDatabase());
      onTestFinished(() => proxy.close());
      const { lost, doubled, misplaced, acknowledged, ended } = await killGatewaysOverHttp({
        ...{ databaseUrl: proxy.url, sessions: 3, messages: 15 },
        ...{ kills: 30, killEveryMs: 50, deadAfterSeconds: 10 },
        trouble: async () =>
          proxy.cutAfter(randomInt(1, 4000), randomInt(2) === 0 ? "request" : "answer"),
      });
      expect({ lost, doubled, misplaced, ended }).toEqual({
        ...{ lost: [], doubled: [], misplaced: [], ended: [] },
      });
      expect(acknowledged).toBe(3 * 15);
    });

    it(
      "refuse in a sentence what has no room, and take it as soon as there is some",
      LONG,
      async () => {
        const model = await heldModel();
        const url = await newDatabase();
        const gateway = await start(url, model.config);
        const answer = async (text: string) => {
          const reply = await model.asked();
          reply.say(text);
          reply.finish();
        };
        const say = async (text: string) => {
          const response = await gateway.get(
            "/api/sessions/main/messages",
            post({ text, idempotencyKey: text, stream: false }),
          );
          return response.text();
        };
        const first = gateway.say("one");
        await answer("One.");
        await first;
        // A turn is under way, and its reply finds no room.
        const second = say("two");
        const reply = await model.asked();
        await runSql(url, REFUSE("53100"));
        const waiting = await gateway.get("/api/sessions/main/messages", post({ text: "waits" }));
        reply.finish();
        for (const told of [await second, await waiting.text(), await say("three")]) {
          expect(told).toContain("STORAGE_FAILED");
          expect(told).toContain("53100");
          expect(told).not.toMatch(/\n\s+at /);
        }
        await runSql(url, TAKE_AGAIN);
        const third = say("three");
        await answer("Three.");
        expect(await third).toContain('"completed"');
        expect((await saidIn(gateway)).filter((text) => text !== "waits")).toEqual([
          ...["one", "two", "three"],
        ]);
        const metrics = await (await gateway.get("/metrics")).text();
        expect(metrics).toMatch(
          /^clew_storage_errors_total\{operation="session-step",kind="full"\} [1-9]/m,
        );
        expect(metrics).toMatch(
          /^clew_storage_operations_total\{operation="session-step",outcome="ok"\} [1-9]/m,
        );
        expect(metrics).toMatch(
          /^clew_storage_operation_seconds_bucket\{operation="session-claim",le="15"\} [1-9]/m,
        );
        expect(metrics).not.toMatch(/agent:main|"main"/);
      },
    );

    it.each([
      ["nothing was said since", []],
      ["something was said since", ["between"]],
    ])(
      "answer what found no room for its reply when it is sent again, and %s",
      LONG,
      async (_when, between) => {
        const model = await heldModel();
        const url = await newDatabase();
        const gateway = await start(url, model.config);
        const send = async (text: string) => {
          const sent = post({ text, idempotencyKey: text });
          const response = await gateway.get("/api/sessions/main/messages", sent);
          return parseStream(await response.text()).events.at(-1);
        };
        const answered = async (text: string, meanwhile = async () => {}) => {
          const told = send(text);
          const reply = await model.asked();
          reply.say(`To ${text}.`);
          await meanwhile();
          reply.finish();
          return told;
        };
        const failed = await answered("full", () => runSql(url, REFUSE("53100")).then(() => {}));
        expect(failed).toMatchObject({ type: "done", outcome: "failed" });
        await runSql(url, TAKE_AGAIN);
        const completed = { type: "done", outcome: "completed" };
        for (const text of between) expect(await answered(text)).toMatchObject(completed);
        expect(await answered("full")).toMatchObject(completed);
        // And once it is answered, it is not said again.
        expect(await send("full")).toMatchObject(completed);
        const again = between.length === 0 ? [] : ["between", "full"];
        expect(await saidIn(gateway)).toEqual(["full", ...again]);
      },
    );

    it("end by exit code 1 in time where it stands still, and tell who waits", LONG, async () => {
      const databaseUrl = await newDatabase();
      const place = await startPlace({ databaseUrl, deadAfterSeconds: 3 });
      onTestFinished(() => stopPlace(place));
      expect(await isSaid(place.port, "s0", "before")).toBe(true);
      const ended = once(place.child, "exit");
      server.freeze();
      const page = await fetch(`http://127.0.0.1:${place.port}/api/sessions/s0`);
      const told = await page.json();
      const [code] = await ended;
      server.thaw();
      expect([page.status, told.error.code, code]).toEqual([507, "STORAGE_FAILED", 1]);
      const again = await startPlace({ databaseUrl, deadAfterSeconds: 3 });
      onTestFinished(() => stopPlace(again));
      await expect.poll(() => isSaid(again.port, "s0", "after")).toBe(true);
    });

    it("need no clock: an hour ahead, one neither dies nor kills", LONG, async () => {
      const plan = { databaseUrl: await newDatabase(), deadAfterSeconds: 2 };
      const late = await startPlace({ ...plan, env: { NODE_OPTIONS: HOUR_LATE } });
      const right = await startPlace(plan);
      for (const place of [late, right]) onTestFinished(() => stopPlace(place));
      const texts: string[] = [];
      const say = async (place: typeof late) => {
        texts.push(`${texts.length}`);
        await expect.poll(() => isSaid(place.port, "s0", texts.at(-1)!)).toBe(true);
      };
      for (const place of [late, right, late, right]) await say(place);
      await after(2500);
      expect([late.child.exitCode, right.child.exitCode]).toEqual([null, null]);
      await say(right);
      late.child.kill("SIGKILL");
      await say(right);
      await say(right);
      const get = (path: string) => fetch(`http://127.0.0.1:${right.port}${path}`);
      expect(await saidIn({ get } as never, "s0")).toEqual(texts);
    });
  },
);
