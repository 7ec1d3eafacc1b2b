import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { packPart } from "../../reports/packed-part.ts";
import { clew } from "../../testing/command.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { makeOddHome, transcript } from "../../testing/odd-home.ts";
import { S3_REGION, startS3Server } from "../../testing/s3-server.ts";
import type { CopyResult } from "./result.ts";

/** What differs below both folders; locks say who has what open. */
export function differences(one: string, other: string): string {
  const args = ["-r", "--no-dereference", "-x", "*.lock", one, other];
  return spawnSync("diff", args, { encoding: "utf8" }).stdout;
}

describe.skipIf(whyNoPostgres() !== null)(`copying sessions ${UNLESS_THERE}`, () => {
  const into = (home: string, url: string, ...more: string[]) =>
    clew(home, ["storage", "copy", "--from", "files", "--to", url, ...more]);
  const back = (home: string, url: string, ...more: string[]) =>
    clew(home, ["storage", "copy", "--from", url, "--to", "files", ...more]);
  async function told(command: Promise<{ code: number | null; output: string; errors: string }>) {
    const { code, output, errors } = await command;
    // Where it takes long it says how far it is.
    expect(errors).not.toContain("clew:");
    return { code, ...(JSON.parse(output) as CopyResult) };
  }
  const json = "--json";
  const sessionFile = (home: string, id: string) => join(home, `agents/main/sessions/${id}.jsonl`);
  async function homeWith(sessions: Record<string, readonly string[]>): Promise<string> {
    const home = await temporaryHome();
    const folder = join(home, "agents/main/sessions");
    await mkdir(folder, { recursive: true });
    for (const [id, texts] of Object.entries(sessions))
      await writeFile(sessionFile(home, id), lines(id, texts));
    return home;
  }
  const lines = (id: string, texts: readonly string[]) =>
    `${transcript(id, texts, `agent:main:${id}`).join("\n")}\n`;

  it("gives every byte back, of files in every state", async () => {
    const url = await testDatabase();
    const home = await temporaryHome();
    await makeOddHome(home);
    const copied = await told(into(home, url, json));
    expect(copied).toMatchObject({ code: 0, same: 0, ahead: [], deleted: [], left: [] });
    expect(copied.copied).toHaveLength(16);
    expect(await told(into(home, url, json))).toMatchObject({ code: 0, copied: [], files: 0 });
    expect((await told(into(home, url, json, "--check"))).code).toBe(0);

    const other = await temporaryHome();
    expect((await told(back(other, url, json, "--check"))).code).toBe(1);
    expect(existsSync(join(other, "agents/main/sessions"))).toBe(false);
    const returned = await told(back(other, url, json));
    expect(returned).toMatchObject({ code: 0, left: [] });
    expect(returned.stays).toHaveLength(1);
    expect(differences(join(home, "agents"), join(other, "agents"))).toBe(
      `Only in ${join(home, "agents/main")}: outbox\n`,
    );
    expect(differences(join(home, "cron"), join(other, "cron"))).toBe("");
    expect((await told(back(other, url, json, "--check"))).code).toBe(0);

    for (const folder of ["agents", "cron"]) await rm(join(home, folder), { recursive: true });
    expect(await told(back(home, url, json))).toMatchObject({ code: 0, left: [] });
    expect(differences(join(home, "cron"), join(other, "cron"))).toBe("");
    expect(differences(join(home, "agents"), join(other, "agents"))).toBe(
      `Only in ${join(home, "agents/main")}: outbox\n`,
    );
  });

  it("makes nothing in a database that is only looked at, by a user who may only read, too", async () => {
    const url = await testDatabase();
    const home = await temporaryHome();
    await makeOddHome(home);
    const tables = () =>
      runSql(url, "select tablename from pg_tables where schemaname = 'public' order by 1");
    const before = await told(into(home, url, json, "--check"));
    expect(before).toMatchObject({ code: 1, left: [] });
    expect(await tables()).toEqual([]);
    const copied = await told(into(home, url, json));
    expect(copied.copied.sort()).toEqual(before.copied.sort());
    const reader = `reader-${process.pid}`;
    await runSql(url, `create role "${reader}" login`);
    await runSql(url, `grant select on all tables in schema public to "${reader}"`);
    const asReader = new URL(url);
    asReader.searchParams.set("user", reader);
    expect(await told(into(home, asReader.href, json, "--check"))).toMatchObject({
      ...{ code: 0, copied: [], files: 0 },
    });
    expect((await told(back(await temporaryHome(), asReader.href, json, "--check"))).code).toBe(1);
    expect(await runSql(url, "select 1 from node")).toEqual([]);
    await runSql(url, `drop owned by "${reader}" cascade`);
    await runSql(url, `drop role "${reader}"`);
  });

  it("gives large bodies back that went into a bucket, and keeps them in rows while that is away", async () => {
    const server = await startS3Server();
    onTestFinished(() => server.stop());
    const url = await testDatabase();
    const blobs = {
      ...{ url: server.url, bucket: server.bucket, region: S3_REGION, ...server.keys },
    };
    const settings = (home: string) =>
      writeFile(join(home, "clew.json"), JSON.stringify({ storage: { blobs } }));
    const large = (mark: string) => `${mark} ${'ä\u2028 "'.repeat(20_000)}`;
    const home = await homeWith({
      one: ["small", large("one"), "small", large("two")],
      two: [large("three"), large("same"), large("same")],
    });
    await settings(home);
    const parts = join(home, "agents/main/reports/parts");
    await mkdir(parts, { recursive: true });
    await writeFile(join(parts, "part-of-many-letters"), await packPart(large("part")));
    await appendFile(sessionFile(home, "two"), `${lines("two", [large("same")]).split("\n")[1]}\n`);
    server.fail({ kind: "refuse", status: 403, code: "AccessDenied" }, 1, "PUT");
    const first = await into(home, url, json);
    expect(first.errors).toContain("403 AccessDenied");
    expect(first.code).toBe(0);
    const count = async (table: string) =>
      (await runSql(url, `select 1 from ${table} where blob is not null`)).length;
    const [inRows] = await runSql(
      url,
      "select count(*)::int as n from entry where length(body) > 65536",
    );
    expect((await count("entry")) + (await count("part"))).toBe(server.objects.size);
    expect(server.objects.size + (inRows as { n: number }).n).toBeGreaterThan(4);
    expect(await told(into(home, url, json, "--check"))).toMatchObject({ code: 0, copied: [] });

    // What stayed in rows goes on so; in another database all of it is elsewhere.
    const whole = await testDatabase();
    for (const database of [url, whole]) {
      if (database !== url) {
        await told(into(home, database, json));
        const rows = await runSql(database, "select max(length(body)) as most from entry");
        expect((rows[0] as { most: number }).most).toBeLessThan(65536);
      }
      const other = await temporaryHome();
      await settings(other);
      expect(await told(back(other, database, json))).toMatchObject({ code: 0, left: [] });
      expect(differences(join(home, "agents"), join(other, "agents"))).toBe("");
    }
    const without = await back(await temporaryHome(), whole, json);
    expect(without.code).not.toBe(0);
    expect(without.errors).toContain("set storage.blobs");
  });

  it("lets gateways go on with what they find, on either side", async () => {
    const url = await testDatabase();
    const [one, two] = [await temporaryHome(), await temporaryHome()];
    const engine = { plugins: { slots: { contextEngine: "lossless" } } };
    const onFiles = (home: string) =>
      startTestGateway({ ...engine, door: { enabled: false } }, home, {}, { withPlugins: true });
    const onPostgres = (home: string) => {
      const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
      return startTestGateway(
        { ...engine, storage, door: { enabled: false } },
        home,
        {},
        { withPlugins: true },
      );
    };
    const get = async (gateway: TestGateway, path: string) => (await gateway.get(path)).json();
    async function all(gateway: TestGateway) {
      // How many bytes it has is without the first line there.
      const { file: _here, bytes: _all, ...page } = await get(gateway, "/api/sessions/main");
      const context = await get(gateway, "/api/sessions/main/context");
      const { calls } = await get(gateway, "/api/sessions/main/calls");
      return { page, context, calls };
    }
    const first = await onFiles(one);
    for (const text of ["My cat is called Minka.", "And my dog is Rex."]) await first.say(text);
    expect((await told(into(one, url, json))).left).toMatchObject([
      { what: "agent:main:main", why: expect.stringContaining("is open in process") },
    ]);
    const before = await all(first);
    expect(before.calls).toHaveLength(2);
    await first.stop();
    expect(await told(into(one, url, json))).toMatchObject({
      code: 0,
      copied: ["agent:main:main"],
    });

    const elsewhere = await onPostgres(two);
    expect(await all(elsewhere)).toEqual(before);
    await elsewhere.say("What is my cat called?");
    expect((await told(back(one, url, json))).left).toMatchObject([
      { what: "agent:main:main", why: expect.stringContaining("a gateway has it open") },
    ]);
    await elsewhere.stop();
    const again = await onPostgres(one);
    expect((await all(again)).calls).toHaveLength(3);
    await again.say("And my dog?");
    const then = await all(again);
    await again.stop();
    expect(await told(into(one, url, json))).toMatchObject({ code: 0, ahead: ["agent:main:main"] });

    expect(await told(back(one, url, json))).toMatchObject({
      code: 0,
      copied: ["agent:main:main"],
    });
    const last = await onFiles(one);
    expect(await all(last)).toEqual(then);
    await last.say("Thank you.");
    const end = await all(last);
    expect(end.calls).toHaveLength(5);
    await last.stop();
    const outbox = readdirSync(join(one, "agents/main/outbox"));
    const record = readFileSync(join(one, "agents/main/outbox", outbox[0]!), "utf8");
    expect(new Set(record.trim().split("\n")).size).toBe(record.trim().split("\n").length);

    expect(await told(into(one, url, json))).toMatchObject({
      code: 0,
      copied: ["agent:main:main"],
    });
    const anew = await onPostgres(two);
    expect(await all(anew)).toEqual(end);
    await anew.stop();
    expect(await told(back(one, url, json))).toMatchObject({ code: 0, copied: [] });
  });

  it("says at its end which folders still have what is deleted later, and to delete them then", async () => {
    const url = await testDatabase();
    const home = await homeWith({ one: ["a"] });
    await mkdir(join(home, "agents/main/workspace"));
    await mkdir(join(home, "cron"));
    const advice = `delete there sessions of each agents/AGENT, and cron.`;
    expect((await into(home, url, "--check")).output).not.toContain(advice);
    const copied = await into(home, url);
    expect(copied.output).toContain(`The files stay in ${home}, `);
    expect(copied.output).toContain(advice);
    await rm(sessionFile(home, "one"));
    await writeFile(sessionFile(home, "one"), lines("one", ["other"]));
    expect((await into(home, url)).output).not.toContain(advice);
    expect((await back(home, url)).output).not.toContain(advice);
  });

  it("writes over nothing where both sides went on, and names it", async () => {
    const url = await testDatabase();
    const one = await homeWith({ both: ["a", "b"], fine: ["c"] });
    const two = await homeWith({ both: ["a", "b"] });
    expect((await told(into(one, url, json))).code).toBe(0);
    expect(await told(back(two, url, json))).toMatchObject({ code: 0, same: 1 });
    const [mine, other] = [lines("both", ["a", "b", "c"]), lines("both", ["a", "b", "x"])];
    await writeFile(sessionFile(one, "both"), mine);
    await writeFile(sessionFile(two, "both"), other);
    expect(await told(into(one, url, json))).toMatchObject({ copied: ["agent:main:both"] });
    const left = [{ what: "agent:main:both" }];
    expect(await told(into(two, url, json))).toMatchObject({ code: 1, copied: [], left });
    expect(await told(back(two, url, json))).toMatchObject({ code: 1, copied: [], left });
    expect(readFileSync(sessionFile(two, "both"), "utf8")).toBe(other);
    expect(await told(back(one, url, json))).toMatchObject({ code: 0, copied: [] });
    const text = await back(two, url);
    expect(text.code).toBe(1);
    expect(text.output).toMatch(/Not copied: 1 thing\.\n {2}both: its file says something else/);
  });

  it("writes nothing of a session whose name another one has in files, and names it", async () => {
    const url = await testDatabase();
    await into(await homeWith({ same: ["a"], fine: ["b"] }), url);
    const home = await homeWith({ fine: ["b"] });
    const other = transcript("other", ["c"], "agent:main:same");
    await writeFile(sessionFile(home, "other"), `${other.join("\n")}\n`);
    const left = await told(back(home, url, json));
    expect(left.left).toMatchObject([{ what: "agent:main:same" }]);
    expect(left.code).toBe(1);
    expect(existsSync(sessionFile(home, "same"))).toBe(false);
    expect(existsSync(sessionFile(home, "other"))).toBe(true);
  });

  it("does not bring back what was deleted in the database, and deletes it in files as it was", async () => {
    const url = await testDatabase();
    const home = await homeWith({ gone: ["a"], grown: ["b"], stays: ["c"] });
    await into(home, url);
    const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
    const gateway = await startTestGateway({ storage, door: { enabled: false } });
    for (const key of ["gone", "grown"]) await gateway.gateway.remove(key);
    await gateway.stop();
    expect(await told(into(home, url, json))).toMatchObject({
      ...{ code: 0, copied: [], same: 1 },
      deleted: ["agent:main:gone", "agent:main:grown"],
    });
    await writeFile(sessionFile(home, "grown"), lines("grown", ["b", "d"]));
    expect(await told(back(home, url, json))).toMatchObject({
      ...{ code: 1, deleted: ["agent:main:gone"], left: [{ what: "agent:main:grown" }] },
    });
    const there = readdirSync(join(home, "agents/main/sessions")).filter((name) =>
      name.endsWith(".jsonl"),
    );
    expect(there.sort()).toEqual(["grown.jsonl", "stays.jsonl"]);
  });

  it("takes new names along, from the side that gave them", async () => {
    const url = await testDatabase();
    const home = await homeWith({ one: ["a"], two: ["b"] });
    await into(home, url);
    const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
    const gateway = await startTestGateway({ storage, door: { enabled: false } });
    await gateway.gateway.command("one", { kind: "command", name: "new", args: "" });
    await gateway.say("Anew.", { session: "one" });
    await gateway.stop();
    expect((await clew(home, ["sessions", "rename", "two", "Second"])).code).toBe(0);
    expect(await told(into(home, url, json))).toMatchObject({
      code: 0,
      copied: ["agent:main:two"],
    });
    expect((await told(back(home, url, json))).code).toBe(0);
    const list = JSON.parse((await clew(home, ["sessions", "list", "--json"])).output);
    const names = list.sessions.map(({ key, label }: { key: string; label?: string }) => [
      key,
      label,
    ]);
    expect(names).toEqual(
      expect.arrayContaining([
        ["agent:main:one", undefined],
        ["agent:main:one.20260101-000000", undefined],
        ["agent:main:two", "Second"],
      ]),
    );
    expect(names).toHaveLength(3);
    expect(await told(into(home, url, json))).toMatchObject({ code: 0, copied: [], left: [] });
  });

  it("takes messages that wait along, each of them once", async () => {
    const url = await testDatabase();
    const home = await homeWith({ one: ["a"] });
    const folder = join(home, "agents/main/waiting");
    await mkdir(folder);
    const message = (id: string) => ({
      ...{ id, at: "2026-01-01T00:00:00.000Z", whenBusy: "follow", content: id },
      idempotencyKey: `key ${id}`,
    });
    const { hash } = await import("node:crypto");
    const file = join(folder, `${hash("sha256", "agent:main:one").slice(0, 32)}.json`);
    const save = (ids: readonly string[]) =>
      writeFile(
        file,
        `${JSON.stringify({ v: 1, sessionKey: "agent:main:one", messages: ids.map(message) })}\n`,
      );
    await save(["m1", "m2"]);
    const inbox = async () => {
      const { openPostgresCopy } = await import("@clew/store-postgres");
      const copy = await openPostgresCopy({ url, address: "http://127.0.0.1:1", place: "a test" });
      const rows = await copy.inbox();
      await copy.close();
      return rows.map(({ id }) => id);
    };
    expect((await told(into(home, url, json))).code).toBe(0);
    expect(await inbox()).toEqual(["m1", "m2"]);
    await save(["m1", "m2", "m3"]);
    await into(home, url);
    expect(await inbox()).toEqual(["m1", "m2", "m3"]);
    const other = await temporaryHome();
    await back(other, url);
    expect(differences(folder, join(other, "agents/main/waiting"))).toBe("");
    // It was said in the database meanwhile.
    await runSql(url, "delete from inbox where message_id = 'm1'");
    await into(home, url);
    expect(await inbox()).toEqual(["m2", "m3"]);
    expect((await told(back(home, url, json))).code).toBe(0);
    const { messages } = JSON.parse(readFileSync(file, "utf8"));
    expect(messages.map(({ id }: { id: string }) => id)).toEqual(["m2", "m3"]);
    await into(home, url);
    expect(await inbox()).toEqual(["m2", "m3"]);
  });

  it("goes on from what is stored where a file has grown, and keeps one that was torn", async () => {
    const url = await testDatabase();
    const home = await homeWith({ grows: ["a", "b"] });
    await appendFile(sessionFile(home, "grows"), '{"torn":"mess');
    await into(home, url);
    const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
    const gateway = await startTestGateway({ storage, door: { enabled: false } });
    await gateway.say("c", { session: "grows" });
    await gateway.stop();
    const torn = readFileSync(sessionFile(home, "grows"), "utf8");
    expect(await told(back(home, url, json))).toMatchObject({ code: 0, left: [] });
    const text = readFileSync(sessionFile(home, "grows"), "utf8");
    expect(text.startsWith(lines("grows", ["a", "b"]))).toBe(true);
    expect(text).toContain('"content":"c"');
    const kept = readdirSync(join(home, "agents/main/sessions")).find((name) =>
      name.startsWith("grows.jsonl.before-copy-"),
    );
    expect(readFileSync(join(home, "agents/main/sessions", kept!), "utf8")).toBe(torn);
    expect(await told(into(home, url, json))).toMatchObject({ code: 0, left: [] });
  });

  it.each([
    [["--to", "postgres"], 1, "set storage.url, or the variable CLEW_STORAGE_URL"],
    [["--to", "files", "--from", "/nowhere"], 2, "are both in files"],
    [["--to", "postgres://x/y", "--from", "postgres"], 2, "are both in PostgreSQL"],
    [
      ["--to", "postgres://x/y", "--from", "/nowhere/at/all"],
      1,
      "There is no folder /nowhere/at/all",
    ],
    [["--from", "postgres://x/y", "--to", "/nowhere/at/all"], 1, "There is no folder /nowhere/at"],
    [
      ["--from", "postgres://ann:hush@127.0.0.1:1/y", "--to", "files"],
      1,
      "Nobody answers as PostgreSQL at 127.0.0.1:1",
    ],
    [["--from", "postgres:///nowhere?host=/", "--to", "files"], 1, "PostgreSQL"],
  ])("says in one sentence what is wrong with %j", async (words, code, sentence) => {
    const result = await clew(await temporaryHome(), ["storage", "copy", ...words]);
    expect([result.code, result.output]).toEqual([code, ""]);
    expect(result.errors).toContain(sentence);
    expect(result.errors).not.toContain("hush");
    expect(result.errors.split("\n")).toHaveLength(1);
  });

  it("names a folder that is no home, one without sessions, and tables that are too new", async () => {
    const url = await testDatabase();
    const home = await temporaryHome();
    await writeFile(join(home, "holiday.jpg"), "");
    expect((await back(home, url)).errors).toContain("holds other things and is no home");
    expect((await into(home, url)).errors).toContain('has no folder "agents"');
    const full = await homeWith({ one: ["a"] });
    await into(full, url);
    await runSql(url, "update migration set version = 99");
    const { code, errors } = await into(full, url);
    expect(code).toBe(1);
    expect(errors).toContain("tables of version 99");
  });
});
