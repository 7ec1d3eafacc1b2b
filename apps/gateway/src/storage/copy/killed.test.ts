import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { holdTable, runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { runClew, startClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { killCopies } from "../../testing/killed-copies.ts";
import { makeOddHome } from "../../testing/odd-home.ts";

/** Half of them each way; `CLEW_COPY_KILLS` says another number. */
const KILLS = Number(process.env.CLEW_COPY_KILLS ?? 6);
const SESSIONS = 60;

/** Locks say who has what open, and drafts of theirs who would have. */
function differences(one: string, other: string): string {
  const args = ["-r", "--no-dereference", "-x", "*.lock*", one, other];
  return spawnSync("diff", args, { encoding: "utf8" }).stdout;
}

describe.skipIf(whyNoPostgres() !== null)(`a copy that is killed ${UNLESS_THERE}`, () => {
  it("comes to the same when it is begun again, and nothing is there twice", {
    timeout: 60_000 + KILLS * 5_000,
  }, async () => {
    const [url, calm] = [await testDatabase(), await testDatabase()];
    const home = await temporaryHome();
    await makeOddHome(home, { sessions: SESSIONS });
    const into = (target: string) => ["storage", "copy", "--from", "files", "--to", target];
    const back = (source: string) => ["storage", "copy", "--from", source, "--to", "files"];
    const timed = async (folder: string, args: readonly string[]) => {
      const began = performance.now();
      const { code, errors } = await runClew(folder, args);
      expect(code, errors).toBe(0);
      return performance.now() - began;
    };
    const [other, third] = [await temporaryHome(), await temporaryHome()];
    const inMs = await timed(home, into(calm));
    const outMs = await timed(third, back(calm));
    const kills = Math.ceil(KILLS / 2);
    const { random } = Math;
    let killed = 0;
    for (const { folder, args, firstMs } of [
      { folder: home, args: into(url), firstMs: inMs },
      { folder: other, args: back(url), firstMs: outMs },
    ]) {
      let wholeMs = firstMs;
      for (let left = kills; left > 0; ) {
        const result = await killCopies(folder, args, { kills: left, wholeMs, random });
        // The machine may have less to do by now.
        wholeMs = Math.min(wholeMs, result.wholeMs);
        expect(result.code, `${result.output} ${result.errors}`).toBe(0);
        killed += result.kills;
        left -= result.kills;
        // It came to its end early: what it did is undone, and it begins anew.
        if (left > 0 && folder === other)
          for (const name of ["agents", "cron"])
            await rm(join(other, name), { recursive: true, force: true });
        if (left > 0 && folder === home) await runSql(url, FORGET);
      }
    }
    expect(killed).toBe(2 * kills);
    expect(differences(join(home, "agents"), join(other, "agents"))).toBe(
      `Only in ${join(home, "agents/main")}: outbox\n`,
    );
    expect(differences(join(home, "cron"), join(other, "cron"))).toBe("");
    expect(await runSql(url, COUNTS)).toEqual(await runSql(calm, COUNTS));
    expect((await runClew(other, [...back(url), "--check"])).code).toBe(0);
    expect((await runClew(home, [...into(url), "--check"])).code).toBe(0);
  });

  it("ends by Ctrl-C with its exit code, and says how to go on", { timeout: 60_000 }, async () => {
    const url = await testDatabase();
    const home = await temporaryHome();
    await makeOddHome(home);
    const args = ["storage", "copy", "--from", "files", "--to", url];
    // There is nothing to copy yet but the tables to be made.
    const out = ["storage", "copy", "--from", url, "--to", "files"];
    expect((await runClew(await temporaryHome(), out)).code).toBe(0);
    const held = await holdTable(url, "entry");
    const child = startClew(home, args);
    child.process.stdin!.end();
    while (!(await held.isWaitedFor())) await after(20);
    child.process.kill("SIGINT");
    await held.release();
    expect(await child.exit).toBe(130);
    expect(child.errors()).toContain("the same command goes on with the rest");
    expect(await countIn(url)).toBeLessThan(2);
    expect((await runClew(home, args)).code).toBe(0);
    expect(await countIn(url)).toBeGreaterThan(10);
  });
});

const TABLES = [
  "session",
  "entry",
  "delivery",
  "report",
  "part",
  "kept_file",
  "copied",
  "inbox",
].concat(["cron_run", "cron_state", "cron_job"]);
const COUNTS = TABLES.map((table) => `select '${table}' as name, count(*) from ${table}`).join(
  " union all ",
);
const FORGET = TABLES.map((table) => `delete from ${table}`).join("; ");

const countIn = async (url: string): Promise<number> =>
  runSql(url, "select count(*) from session where head_seq > 0").then(
    ([row]) => Number(row?.count),
    () => 0,
  );
