import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openMessageStore } from "@clew/lossless-engine/store";
import { describe, expect, it } from "vitest";
import { runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { Said } from "../../door/testing/conversation.ts";
import { clew, runClew } from "../../testing/command.ts";
import { ask, person } from "../../testing/door-client.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { keptByLossless } from "../../testing/kept-by-lossless.ts";
import { killCopies } from "../../testing/killed-copies.ts";
import type { CopyResult } from "./result.ts";

/** Each way; more of them by CLEW_COPY_KILLS. */
const KILLS = Math.ceil(Number(process.env.CLEW_COPY_KILLS ?? 6) / 2);
const ENGINE = {
  agents: { defaults: { contextTokens: 16_000 } },
  plugins: {
    slots: { contextEngine: "lossless" },
    entries: { lossless: { config: { summaries: "model" } } },
  },
  door: { enabled: false },
};

/** Locks say who has what open; stores of engines are no files to compare. */
function differences(one: string, other: string): string {
  const args = ["-r", "-x", "*.lock", "-x", "clew-lossless", "-x", "outbox", one, other];
  return spawnSync("diff", args, { encoding: "utf8" }).stdout;
}

describe.skipIf(whyNoPostgres() !== null)(
  `what the lossless engine made of sessions that are copied ${UNLESS_THERE}`,
  () => {
    const onFiles = (home: string) => startTestGateway(ENGINE, home, {}, { withPlugins: true });
    const onPostgres = (home: string, url: string) => {
      const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
      return startTestGateway({ ...ENGINE, storage }, home, {}, { withPlugins: true });
    };
    const into = (url: string) => ["storage", "copy", "--from", "files", "--to", url, "--json"];
    const back = (url: string) => ["storage", "copy", "--from", url, "--to", "files", "--json"];
    async function copy(home: string, args: string[], ...more: string[]) {
      const { code, output, errors } = await clew(home, [...args, ...more]);
      expect(errors).not.toContain("clew:");
      return { code, ...(JSON.parse(output) as CopyResult) };
    }
    const longText = (at: number) =>
      `Note ${at} about the harbour. ${`Line ${at} of a long report.\n`.repeat(120)}`;
    async function talk(gateway: TestGateway, session: string, turns: number, from = 0) {
      for (let at = from; at < from + turns; at++) {
        const { events } = await gateway.say(longText(at), { session });
        expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      }
    }
    /** Stopped, once all that it does behind replies is done. */
    async function homeOnFiles() {
      const home = await temporaryHome();
      const gateway = await onFiles(home);
      await talk(gateway, "main", 14);
      await gateway.say("/new", { session: "main" });
      await talk(gateway, "main", 3, 20);
      await talk(gateway, "other", 14, 40);
      await gateway.stop();
      const kept = keptByLossless(home);
      expect(kept.cuts.length).toBeGreaterThan(1);
      expect(kept.summaries.some(({ asked }) => Number(asked) > 0)).toBe(true);
      return { home, kept };
    }
    async function found(home: string) {
      const store = openMessageStore(join(home, "agents/main/clew-lossless/lossless.db"));
      try {
        const answers = [];
        for (const query of ["harbour", "Note 12", "report 43"])
          for (const by of ["words", "pattern", "relevance"] as const)
            answers.push(await store.search({ query, by, limit: 50 }));
        return answers;
      } finally {
        store.close();
      }
    }
    const view = async (gateway: TestGateway, session: string) =>
      (await gateway.get(`/api/sessions/${session}/context`)).json();
    const views = async (gateway: TestGateway) => [
      await view(gateway, "main"),
      await view(gateway, "other"),
    ];

    it("goes from files into the database, to another home, and into new files as it was", {
      timeout: 120_000,
    }, async () => {
      const url = await testDatabase();
      const { home, kept } = await homeOnFiles();
      const first = await onFiles(home);
      const seen = await views(first);
      await first.stop();
      expect(await copy(home, into(url))).toMatchObject({ code: 0, left: [], stays: [] });
      expect(await copy(home, into(url))).toMatchObject({ code: 0, copied: [], files: 0 });
      expect((await copy(home, into(url), "--check")).code).toBe(0);
      // Whoever asks for numbers gets none of theirs.
      const [{ next }] = (await runSql(
        url,
        "select next::float8 from numbering where kind = 'message'",
      )) as [{ next: number }];
      expect(next).toBeGreaterThan(Number(kept.messages.at(-1)!.seq));

      const third = await temporaryHome();
      expect((await copy(third, back(url), "--check")).code).toBe(1);
      const returned = await copy(third, back(url));
      expect(returned).toMatchObject({ code: 0, left: [] });
      expect(keptByLossless(third)).toEqual(kept);
      expect(await found(third)).toEqual(await found(home));
      expect((await copy(third, back(url), "--check")).code).toBe(0);
      await writeFile(join(third, "clew.json"), JSON.stringify(ENGINE));
      expect((await clew(third, ["lossless", "verify"])).code).toBe(0);
      const there = await onFiles(third);
      expect(await views(there)).toEqual(seen);
      await there.stop();

      const two = await temporaryHome();
      const elsewhere = await onPostgres(two, url);
      await talk(elsewhere, "other", 6, 60);
      await talk(elsewhere, "main", 1, 70);
      const later = await views(elsewhere);
      await elsewhere.stop();
      // It has what was copied, the session before it was begun anew too, and asks nobody again.
      const now = keptByLossless(two);
      const known = new Map(now.summaries.map((each) => [each.id, each]));
      for (const each of kept.summaries.filter(({ asked }) => Number(asked) > 0))
        expect(known.get(each.id)).toMatchObject({ words: each.words, asked: each.asked });
      const numbers = new Map(now.messages.map(({ id, seq }) => [id, seq]));
      for (const { id, seq } of kept.messages) expect([id, numbers.get(id)]).toEqual([id, seq]);

      for (const target of [home, await temporaryHome()]) {
        expect(await copy(target, back(url))).toMatchObject({ code: 0, left: [] });
        expect(keptByLossless(target)).toEqual(now);
        const last = await onFiles(target);
        expect(await views(last)).toEqual(later);
        await last.stop();
      }
      expect(await copy(home, into(url))).toMatchObject({ code: 0, copied: [], left: [] });
    });

    it("gets other numbers where another home has its own, the same ones at every gateway", {
      timeout: 120_000,
    }, async () => {
      const url = await testDatabase();
      const homes = [await temporaryHome(), await temporaryHome()];
      for (const [at, home] of homes.entries()) {
        const gateway = await onFiles(home);
        await talk(gateway, `of-${at}`, 14, 100 * at);
        await gateway.stop();
      }
      const before = homes.map(keptByLossless);
      expect(before[0]!.messages[0]!.seq).toBe(before[1]!.messages[0]!.seq);
      expect(await copy(homes[0]!, into(url))).toMatchObject({ code: 0, renumbered: [] });
      const tables =
        "select * from numbering order by 1; select * from engine_row order by 1, 2, 3, 4";
      const there = await runSql(url, tables);
      const foretold = await copy(homes[1]!, into(url), "--check");
      expect(foretold).toMatchObject({ code: 1, renumbered: ["agent:main:of-1"] });
      const text = into(url).filter((arg) => arg !== "--json");
      expect((await clew(homes[1]!, [...text, "--check"])).output).toMatch(
        /summaries would get other numbers.*: of-1\.$/m,
      );
      expect(await runSql(url, tables)).toEqual(there);
      const second = await copy(homes[1]!, into(url));
      expect(second).toMatchObject({ code: 0, renumbered: ["agent:main:of-1"] });
      expect(await copy(homes[1]!, into(url))).toMatchObject({ code: 0, copied: [] });
      const { summaries } = before[1]!;
      const told = [];
      for (const home of [...homes, await temporaryHome()]) {
        const gateway = await onPostgres(home, url);
        for (const session of ["of-0", "of-1"]) await talk(gateway, session, 1, 300);
        await gateway.stop();
        told.push(keptByLossless(home));
      }
      const numbers = ({ messages }: ReturnType<typeof keptByLossless>) =>
        new Map(messages.map(({ id, seq }) => [id, Number(seq)]));
      const last = numbers(told[2]!);
      expect(new Set(last.values()).size).toBe(last.size);
      for (const each of told)
        for (const [id, seq] of numbers(each)) expect([id, seq]).toEqual([id, last.get(id)]);
      // Those of the first home are as they were, and no model is asked for words again.
      for (const { id, seq } of before[0]!.messages) expect(last.get(id)).toBe(Number(seq));
      const words = new Set(told[2]!.summaries.map((each) => each.words));
      for (const each of summaries) if (Number(each.asked) > 0) expect(words).toContain(each.words);
    });

    it("is the same where the copy was killed at any moment, each way", {
      timeout: 120_000 + KILLS * 10_000,
    }, async () => {
      const [url, calm] = [await testDatabase(), await testDatabase()];
      const { home, kept } = await homeOnFiles();
      const timed = async (folder: string, args: readonly string[]) => {
        const began = performance.now();
        const { code, errors } = await runClew(folder, args);
        expect(code, errors).toBe(0);
        return performance.now() - began;
      };
      const [other, third] = [await temporaryHome(), await temporaryHome()];
      const inMs = await timed(home, into(calm));
      const outMs = await timed(third, back(calm));
      const { random } = Math;
      for (const { folder, args, wholeMs } of [
        { folder: home, args: into(url), wholeMs: inMs },
        { folder: other, args: back(url), wholeMs: outMs },
      ]) {
        const result = await killCopies(folder, args, { kills: KILLS, wholeMs, random });
        expect(result.code, result.errors).toBe(0);
      }
      const rows = "select engine, session_id, kind, key, body from engine_row order by 1, 2, 3, 4";
      expect(await runSql(url, rows)).toEqual(await runSql(calm, rows));
      expect(keptByLossless(other)).toEqual(kept);
      expect(keptByLossless(third)).toEqual(kept);
      expect((await runClew(other, [...back(url), "--check"])).code).toBe(0);
    });

    it("is what the door knows, too: a client goes on at either side, in one session", async () => {
      const url = await testDatabase();
      const [one, two] = [await temporaryHome(), await temporaryHome()];
      const said: Said[] = [];
      const sessions = new Set<string | null>();
      const turns = async (gateway: TestGateway, count: number) => {
        for (let turn = 0; turn < count; turn++) {
          said.push(person(`Question ${said.length} of a client.`));
          const { text, answer } = await ask(gateway, "anthropic-messages", said, {
            tools: ["read"],
          });
          said.push({ uid: null, by: "model", text, calls: [] });
          sessions.add(answer.headers.get("x-clew-session"));
        }
        await gateway.stop();
      };
      const withDoor = (home: string, storage = {}) =>
        startTestGateway({ storage }, home, {}, { port: 0 });
      await turns(await withDoor(one), 3);
      expect(await copy(one, into(url))).toMatchObject({ code: 0, left: [] });
      const third = await temporaryHome();
      expect(await copy(third, back(url))).toMatchObject({
        ...{ code: 0, left: [] },
        stays: [{ what: "What model calls of other homes cost" }],
      });
      expect(differences(join(one, "agents"), join(third, "agents"))).toBe("");
      const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
      await turns(await withDoor(two, storage), 3);
      expect(await copy(one, back(url))).toMatchObject({ code: 0, left: [] });
      await turns(await withDoor(one), 3);
      expect(await copy(one, into(url))).toMatchObject({ code: 0, left: [] });
      await turns(await withDoor(two, storage), 1);
      expect([...sessions]).toHaveLength(1);
    });

    it("follows into the database where only that is new, and is left where the database has more", async () => {
      const url = await testDatabase();
      const home = await temporaryHome();
      const first = await onFiles(home);
      await talk(first, "main", 14);
      await first.stop();
      await copy(home, into(url));
      const rows = async () => runSql(url, "select kind, key, body from engine_row order by 1, 2");
      const all = await rows();
      expect(all.length).toBeGreaterThan(3);
      // As by a version that copied without them.
      await runSql(url, "delete from engine_row; update copied set engine_rows = null");
      expect((await copy(home, into(url), "--check")).code).toBe(1);
      expect(await copy(home, into(url))).toMatchObject({ code: 0, copied: ["agent:main:main"] });
      expect(await rows()).toEqual(all);
      expect(await copy(home, into(url))).toMatchObject({ code: 0, copied: [] });

      const summary = `select key, body from engine_row where kind = 'summary' limit 1`;
      const [{ key, body }] = (await runSql(url, summary)) as [{ key: string; body: string }];
      const newer = JSON.stringify({ ...JSON.parse(body), asked: 9, words: "Newer words." });
      await runSql(
        url,
        `update engine_row set body = '${newer.replaceAll("'", "''")}' where kind = 'summary' and key = '${key}'; update copied set engine_rows = null`,
      );
      expect(await copy(home, into(url))).toMatchObject({ code: 0, copied: [] });
      expect(await rows()).not.toEqual(all);
    });

    it("is told of where it cannot be read, and sessions are copied without it", async () => {
      const url = await testDatabase();
      const home = await temporaryHome();
      const first = await onFiles(home);
      await talk(first, "main", 2);
      await first.stop();
      await writeFile(join(home, "agents/main/clew-lossless/lossless.db"), "no database at all");
      const result = await clew(home, into(url));
      expect(result.code).toBe(1);
      const { copied, left } = JSON.parse(result.output) as CopyResult;
      expect(copied).toEqual(["agent:main:main"]);
      expect(left).toMatchObject([{ what: "What the engine keeps of agent main" }]);
    });
  },
);
