import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { clew } from "../../testing/command.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { killGatewaysOverHttp } from "../../testing/killed-gateways.ts";
import { S3_REGION, type S3Fault, type S3Server, startS3Server } from "../../testing/s3-server.ts";
import type { CopyResult } from "../copy/result.ts";

describe.skipIf(whyNoPostgres() !== null)(
  `a gateway on PostgreSQL with S3-compatible storage ${UNLESS_THERE}`,
  () => {
    let server: S3Server;
    beforeAll(async () => {
      server = await startS3Server();
    });
    beforeEach(() => {
      server.heal();
      server.objects.clear();
    });
    afterAll(() => server.stop());

    async function world() {
      const url = await testDatabase();
      let port = 0;
      const start = async (home?: string) => {
        const blobs = {
          ...{ url: server.url, bucket: server.bucket, region: S3_REGION, ...server.keys },
        };
        const storage = { driver: "postgres", url, address: `http://127.0.0.1:${++port}`, blobs };
        const config = { storage, door: { enabled: false } };
        return startTestGateway(config, home ?? (await temporaryHome()));
      };
      return { url, start };
    }
    const json = async (gateway: TestGateway, path: string) => (await gateway.get(path)).json();
    async function told(gateway: TestGateway) {
      const { file: _here, ...page } = await json(gateway, "/api/sessions/main");
      const context = await json(gateway, "/api/sessions/main/context");
      return { page, context };
    }
    const large = `The log: ${"one line of many\n".repeat(8000)}`;
    /** Compared so that a difference does not print all of it. */
    const isSame = (one: unknown, other: unknown) =>
      expect(isDeepStrictEqual(one, other)).toBe(true);

    it("keeps what is large there, and another home tells the same of it", async () => {
      const { url, start } = await world();
      const one = await start();
      await one.say(large);
      await one.say("And something small.");
      const before = await told(one);
      expect(JSON.stringify(before.page)).toContain("one line of many");
      const keys = [...server.objects.keys()];
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys)
        expect(key).toMatch(/^[0-9a-f-]{36}\/main\/[0-9a-f]{2}\/[0-9a-f]{64}$/);
      const [{ most }] = (await runSql(url, "select max(length(body)) as most from entry")) as [
        { most: number },
      ];
      expect(most).toBeLessThan(64 * 1024);
      await one.stop();
      const two = await start();
      isSame(await told(two), before);
      await two.gateway.remove("main");
      expect(await runSql(url, "select 1 from blob b join entry e on e.blob = b.hash")).toEqual([]);
      expect(server.objects.size).toBeLessThan(keys.length);
    });

    it("that is away goes on, keeps it in the database, and says so in the turn", async () => {
      const { start } = await world();
      const one = await start();
      server.fail({ kind: "refuse", status: 403, code: "AccessDenied" }, 1000);
      const { events } = await one.say(large);
      expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      expect(server.objects.size).toBe(0);
      const { context } = await told(one);
      expect(JSON.stringify(context.turn.notices)).toMatch(
        /could not be put into the blob storage, and is kept in the database instead: .*403 AccessDenied/,
      );
      const before = await told(one);
      await one.stop();
      const two = await start();
      isSame(await told(two), before);
    });

    it("loses and doubles nothing when gateways are killed and the bucket fails now and then", {
      timeout: 180_000,
    }, async () => {
      const databaseUrl = await testDatabase();
      const blobs = {
        ...{ url: server.url, bucket: server.bucket, region: S3_REGION, ...server.keys },
      };
      const faults: S3Fault[] = [
        { kind: "refuse", status: 503, code: "SlowDown" },
        { kind: "hang-up", isStored: false },
        { kind: "hang-up", isStored: true },
        { kind: "slow", ms: 200 },
        { kind: "cut", afterBytes: 1000 },
      ];
      let seen = 0;
      const failing = setInterval(() => {
        if (server.requests.length < seen + 3) return;
        seen = server.requests.length;
        server.fail(faults[seen % faults.length]!);
      }, 5);
      const result = await killGatewaysOverHttp({
        ...{ databaseUrl, sessions: 4, messages: 5, kills: 2, killEveryMs: 1500 },
        ...{ deadAfterSeconds: 2, storage: { blobs }, padding: ` ${"large ".repeat(12_000)}` },
      }).finally(() => clearInterval(failing));
      expect(result).toMatchObject({ lost: [], doubled: [], misplaced: [] });
      expect(result.acknowledged).toBe(4 * 5);
      const named = await runSql(databaseUrl, "select blob from entry where blob is not null");
      const there = new Set([...server.objects.keys()].map((key) => key.slice(-64)));
      expect(named.length).toBeGreaterThan(10);
      expect(named.filter(({ blob }) => !there.has(String(blob)))).toEqual([]);
      // What was put for steps that were never stored is known, and goes one day.
      const known = await runSql(databaseUrl, "select hash from blob where dropping is null");
      const hashes = new Set(known.map(({ hash }) => hash));
      expect([...there].filter((hash) => !hashes.has(hash))).toEqual([]);
    });

    it("that lost an object says which, and shows the session again when it is back", async () => {
      const { url, start } = await world();
      const one = await start();
      await one.say(large);
      const before = await told(one);
      await one.stop();
      rmSync(join(one.home, "copies"), { recursive: true });
      const kept = new Map(server.objects);
      server.objects.clear();
      let again = await start(one.home);
      const refused = await again.get("/api/sessions/main");
      expect(refused.status).toBe(507);
      expect((await refused.json()).error).toMatchObject({
        code: "STORAGE_FAILED",
        message: expect.stringMatching(/^Object [0-9a-f]{64} of agent main.* is not in the bucket/),
      });
      // All else can be searched and copied.
      await again.say("A small lantern.", { session: "small" });
      const { url: place, bucket, keys } = server;
      const blobs = { url: place, bucket, region: S3_REGION, ...keys };
      const config = { storage: { driver: "postgres", url, blobs } };
      writeFileSync(join(again.home, "clew.json"), JSON.stringify(config));
      const search = await clew(again.home, ["sessions", "search", "lantern", "--json"]);
      expect(search.code).toBe(0);
      const found = JSON.parse(search.output);
      expect(found.found).toMatchObject([{ session: "agent:main:small" }]);
      expect(found.unread).toMatchObject([
        { session: "agent:main:main", why: expect.stringContaining("Object ") },
      ]);
      const folder = await temporaryHome();
      const args = ["storage", "copy", "--from", url, "--to", folder, "--json"];
      await again.stop();
      const copy = await clew(again.home, args);
      expect(copy.code).toBe(1);
      const { left, copied } = JSON.parse(copy.output) as CopyResult;
      expect(copied).toEqual(["agent:main:small"]);
      expect(left.map(({ what }) => what)).toContain("agent:main:main");
      for (const [key, bytes] of kept) server.objects.set(key, bytes);
      again = await start(again.home);
      expect((await clew(again.home, args)).code).toBe(0);
      isSame(await told(again), before);
      expect((await again.say("Still there?")).events.at(-1)).toMatchObject({ type: "done" });
    });
  },
);
