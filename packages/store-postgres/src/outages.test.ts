import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore } from "./store.ts";
import { startCuttingProxy } from "./testing/cutting-proxy.ts";
import { createDatabase, runSql, startPostgres, type TestServer } from "./testing/server.ts";
import { UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS, said, textsOf } from "./testing/simple-ports.ts";
import { startPair } from "./testing/standby.ts";

/** Whoever is not the server's owner says a password. */
const askPasswords = (data: string) =>
  writeFileSync(join(data, "pg_hba.conf"), "local all clew trust\nlocal all all scram-sha-256\n");

describe.skipIf(whyNoPostgres() !== null)(`a database that is away ${UNLESS_THERE}`, () => {
  let server: TestServer;
  let url: string;
  let names = 0;
  beforeAll(async () => {
    const folder = join(tmpdir(), `clew-away-${randomUUID().slice(0, 8)}`);
    server = await startPostgres({ folder, prepare: askPasswords });
    url = await createDatabase(server, "away");
  });
  afterAll(() => server?.stop());
  const gateway = (address: string, { ttlMs = 60_000, at = url } = {}) =>
    openPostgresStore({ url: at, address, ports: SIMPLE_PORTS, ttlMs, connections: 4 });
  async function standStill(ms: number): Promise<void> {
    server.freeze();
    await after(ms);
    server.thaw();
  }
  const newName = () => ({ agentId: "main", key: `agent:main:${names++}` });

  it.each([
    ["ends and starts", () => server.restart("fast", { downMs: 200 })],
    ["crashes and starts", () => server.restart("immediate", { downMs: 200 })],
    ["stands still", () => standStill(800)],
  ])(
    "because it %s keeps steps, claims, messages and beats waiting, and loses none",
    async (_why, befall) => {
      const store = await gateway(`http://away-${names}`, { ttlMs: 20_000 });
      const sessions = await Promise.all([1, 2, 3].map(() => store.open(newName())));
      const told = sessions.map((): string[] => []);
      const inbox = newName();
      const kept: string[] = [];
      const shortest = () => Math.min(...told.map(({ length }) => length), kept.length);
      let isOver = false;
      const repeat = async (work: (number: number) => Promise<unknown>) => {
        for (let number = 0; !isOver; number++) {
          await work(number);
          await after(3);
        }
      };
      const working = Promise.all([
        ...sessions.map((transcript, index) =>
          repeat(async (number) => {
            await transcript.append([said(`m${number}`)]);
            told[index]!.push(`m${number}`);
          }),
        ),
        repeat(async (number) => {
          await store.keep(inbox, { name: `m${number}`, id: `${number}`, body: "1" });
          kept.push(`m${number}`);
        }),
        repeat(async () => (await store.open(newName())).close()),
        repeat(() => store.sweep()),
        repeat(() => store.list()),
      ]);
      // However slow the machine is, each says something before and behind it.
      const saidMore = (than: number) =>
        expect.poll(shortest, { timeout: 15_000 }).toBeGreaterThan(than);
      await saidMore(1);
      await befall();
      await saidMore(shortest() + 1);
      isOver = true;
      await working;
      expect(store.alive.aborted).toBe(false);
      for (const [index, transcript] of sessions.entries()) {
        const { session } = transcript;
        await transcript.close();
        const again = await store.open({ agentId: "main", key: session.sessionKey });
        expect(textsOf(await again.read({ after: null }))).toBe(told[index]!.join(" "));
      }
      expect((await store.waiting(inbox)).map(({ name }) => name)).toEqual(kept);
      await store.close();
    },
    60_000,
  );

  it("for too long ends a gateway, also one that waits for answers, and not what was stored", async () => {
    const store = await gateway("http://too-long", { ttlMs: 1500 });
    const name = newName();
    const transcript = await store.open(name);
    await transcript.append([said("one")]);
    server.freeze();
    const began = performance.now();
    const waiting = transcript.append([said("two")]).catch(({ code }) => code);
    await expect.poll(() => store.alive.aborted).toBe(true);
    expect(await waiting).toBe("STORAGE_FAILED");
    await store.close();
    // Nobody waits for the fifteen seconds that an answer has.
    expect(performance.now() - began).toBeLessThan(10_000);
    server.thaw();
    const other = await gateway("http://goes-on", { ttlMs: 60_000 });
    const open = () => other.open(name).then(({ read }) => read({ after: null }));
    await expect
      .poll(() => open().then(textsOf, ({ code }) => code))
      // What was on its way is stored or not, and once.
      .toMatch(/^one( two)?$/);
    await other.close();
  });

  it("for good is followed by its standby, which has all that was acknowledged", async () => {
    const pair = await startPair(join(tmpdir(), `clew-pair-${randomUUID().slice(0, 8)}`));
    const at = await createDatabase(pair.primary, "pair");
    const proxy = await startCuttingProxy(at);
    try {
      const store = await gateway("http://pair", { at: proxy.url, ttlMs: 30_000 });
      const sessions = await Promise.all([1, 2, 3].map(() => store.open(newName())));
      const told = sessions.map((): string[] => []);
      let isOver = false;
      const working = Promise.all(
        sessions.map(async (transcript, index) => {
          for (let number = 0; !isOver; number++) {
            await transcript.append([said(`m${number}`)]);
            told[index]!.push(`m${number}`);
          }
        }),
      );
      await after(200);
      // Whoever asks there meanwhile finds a standby that may only be read.
      proxy.leadTo(pair.standby.urlOf("pair"));
      await pair.failOver();
      await after(500);
      isOver = true;
      await working;
      expect(store.alive.aborted).toBe(false);
      for (const [index, { session, close }] of sessions.entries()) {
        await close();
        const again = await store.open({ agentId: "main", key: session.sessionKey });
        expect(textsOf(await again.read({ after: null }))).toBe(told[index]!.join(" "));
      }
      await store.close();
    } finally {
      await proxy.close();
      await pair.stop();
    }
  });

  it("to who comes with a wrong password says so, and lets in again who has the right one", async () => {
    await runSql(url, "create role ann login superuser password 'first'");
    const at = url.replace("user=clew", "user=ann&password=first");
    const store = await gateway("http://ann", { at });
    const name = newName();
    const transcript = await store.open(name);
    await transcript.append([said("one")]);
    const endAll = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ann'";
    await runSql(url, `alter role ann password 'second'; ${endAll}`);
    const refused = await transcript.append([said("two")]).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "STORAGE_FAILED" });
    expect((refused as Error).message).toMatch(/^[^\n]+\(28P01\)[^\n]+\.$/);
    expect((refused as Error).message).not.toContain("first");
    await runSql(url, "alter role ann password 'first'");
    const again = await store.open(name);
    await again.append([said("three")]);
    expect(textsOf(await again.read({ after: null }))).toBe("one three");
    await store.close();
  });

  it("to who asks again what may have been done says that nobody knows", async () => {
    await runSql(url, "create role bob login superuser password 'first'");
    const proxy = await startCuttingProxy(url);
    const at = proxy.url.replace("user=clew", "user=bob&password=first");
    const store = await openPostgresStore({
      ...{ url: at, address: "http://bob", ports: SIMPLE_PORTS, ttlMs: 60_000, connections: 1 },
    });
    const name = newName();
    const transcript = await store.open(name);
    await transcript.append([said("one")]);
    // The answer to the first attempt is lost, and the second one is not let in.
    await runSql(url, "alter role bob password 'second'");
    proxy.cutNext("session-step", "answer");
    const refused = await transcript.append([said("two")]).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "STORAGE_FAILED" });
    expect((refused as Error).message).toMatch(/^Nobody knows whether .*\(28P01\)[^\n]+\.$/);
    await runSql(url, "alter role bob password 'first'");
    const again = await store.open(name);
    expect(textsOf(await again.read({ after: null }))).toBe("one two");
    await store.close();
    await proxy.close();
  });
});
