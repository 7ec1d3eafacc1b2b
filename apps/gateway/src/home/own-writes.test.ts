import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { createCostLedger } from "../costs/ledger.ts";
import { dayOf } from "../costs/line.ts";
import { createJobFiles } from "../cron/job-files.ts";
import { NOBODY, writeAtWork } from "../plugins/contain/at-work.ts";
import { writeIndex } from "../sessions/index-file.ts";
import { temporaryHome } from "../testing/home.ts";
import { createWaitingFiles } from "../waiting/waiting-files.ts";
import { makeOwnFolder } from "./no-links.ts";
import { appendOwn, replaceOwnNow, writeOwn, writeOwnNow } from "./own-writes.ts";

const NOW = Date.parse("2026-03-05T12:00:00Z");

function log() {
  const warnings: string[] = [];
  const port: LogPort = { info() {}, warn: (text) => warnings.push(text), error() {} };
  return { port, warnings };
}

const spend = async (home: string, port = log().port) => {
  const ledger = createCostLedger({ home, log: port, now: () => NOW });
  const at = new Date(NOW).toISOString();
  await ledger.append({ kind: "played", v: 1, at, session: "s" });
  await ledger.close();
};

/** What is written below the home, and by what. */
const WRITES: [place: string, write: (home: string) => unknown][] = [
  ["agents/main/sessions/sessions.json", (home) => writeIndex(home, "main", {})],
  [`costs/${dayOf(NOW)}.jsonl`, (home) => spend(home)],
  ["costs/totals.json", (home) => spend(home)],
  [
    "cron/j.runs.jsonl",
    (home) => createJobFiles(home).appendRun("j", { v: 1 } as unknown as never),
  ],
  ["cron/j.state.json", (home) => createJobFiles(home).writeState("j", {} as unknown as never)],
  [
    "agents/main/waiting/6d9217fe77c7f11d9cc992aabe81a2d0.json",
    (home) =>
      createWaitingFiles({ home, log: log().port }).save("agent:main:main", () => [
        {} as unknown as never,
      ]),
  ],
  ["at-work.json", (home) => writeAtWork(home, NOBODY)],
];

describe("a link", () => {
  it.each(WRITES)("at %s is not written through", async (place, write) => {
    const home = await temporaryHome();
    const elsewhere = join(await temporaryHome(), "elsewhere");
    await writeFile(elsewhere, "as it was");
    await mkdir(join(home, place, ".."), { recursive: true });
    await symlink(elsewhere, join(home, place));
    await Promise.resolve(write(home)).catch(() => undefined);
    expect(await readFile(elsewhere, "utf8")).toBe("as it was");
  });

  it.each(WRITES.filter(([place]) => place.includes("/")))(
    "in the place of a folder of %s is not written through",
    async (place, write) => {
      const folders = place.split("/").slice(0, -1);
      for (const [at, name] of folders.entries()) {
        const home = await temporaryHome();
        const elsewhere = await temporaryHome();
        await mkdir(join(elsewhere, ...folders.slice(at + 1)), { recursive: true });
        await mkdir(join(home, ...folders.slice(0, at)), { recursive: true });
        await symlink(elsewhere, join(home, ...folders.slice(0, at), name));
        const before = await readdir(elsewhere, { recursive: true });
        await Promise.resolve(write(home)).catch(() => undefined);
        expect(await readdir(elsewhere, { recursive: true })).toEqual(before);
      }
    },
  );

  it("in the home's own place is followed", async () => {
    const real = await temporaryHome();
    const home = join(await temporaryHome(), "home");
    await symlink(real, home);
    await spend(home);
    await writeOwn(join(home, "one"), "text");
    await makeOwnFolder(home, join(home, "two", "three"));
    expect((await readdir(real)).sort()).toEqual(["costs", "one", "two"]);
    expect(existsSync(join(real, "two", "three"))).toBe(true);
  });

  it("is refused by every way to write, with its path", async () => {
    const home = await temporaryHome();
    const file = join(home, "link");
    await symlink(join(home, "nowhere"), file);
    const refused = { code: "ELOOP", path: file };
    await expect(writeOwn(file, "text")).rejects.toMatchObject(refused);
    await expect(appendOwn(file, "text")).rejects.toMatchObject(refused);
    await expect(makeOwnFolder(home, file)).rejects.toMatchObject(refused);
    for (const write of [writeOwnNow, replaceOwnNow])
      expect(() => write(file, "text")).toThrow(expect.objectContaining(refused));
    expect(existsSync(join(home, "nowhere"))).toBe(false);
  });

  it("in the place of what was spent is named in the log", async () => {
    const home = await temporaryHome();
    await symlink(await temporaryHome(), join(home, "costs"));
    const { port, warnings } = log();
    await spend(home, port);
    expect(warnings).toEqual([
      `what a model call cost was not written down: ${join(home, "costs")} is a link, which is never followed`,
    ]);
  });
});

it("what is written over a file is all that is in it", async () => {
  const file = join(await temporaryHome(), "file");
  for (const write of [replaceOwnNow, writeOwnNow]) {
    await writeFile(file, "something long that was there before");
    write(file, "short");
    expect(await readFile(file, "utf8")).toBe("short");
  }
});
