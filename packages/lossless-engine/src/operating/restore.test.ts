// What was forgotten since a backup was made does not come back with it.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openMessageStore } from "../library/message-store.ts";
import { backUpStore } from "../library/operate.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { describeBackups } from "./backups.ts";
import { copiesHolding, inspectBackups, type Sought } from "./held.ts";
import { restoreStore } from "./restore.ts";

const SECRET = "Zanzibarquux-4711";
const NOTED = new Date("2026-01-05T10:00:00Z").getTime();
const secret = { ...user(`the password is ${SECRET}`), timestamp: NOTED };

/** A database with a backup, from which the secret is forgotten after that. */
async function forgottenSince({ compress = false } = {}) {
  const file = join(temporaryFolder(), "lossless.db");
  const store = openMessageStore(file, { compress });
  await store.ingest("own", [...conversation({ turns: 5 }), secret]);
  await store.ingest("all of it", [user(`only ${SECRET} is here. `.repeat(300))]);
  store.close();
  const backup = await backUpStore(file, { now: NOTED });
  const later = openMessageStore(file);
  const { messages } = await later.planForget({ text: SECRET });
  const forgotten = await later.forget({
    numbers: messages.map(({ number }) => number),
    sessions: [{ sessionId: "all of it", sessionKey: "all of it", owner: "" }],
  });
  expect(forgotten).toEqual({ forgotten: 2 });
  later.close();
  return { file, backup: backup.file };
}

const restored = (from: string, file: string) =>
  restoreStore({ from, file, agentDirs: [], now: NOTED + 1 });

async function found(file: string): Promise<number> {
  const store = openMessageStore(file);
  onTestFinished(() => store.close());
  return (await store.search({ query: SECRET })).found.length;
}

const holding = (folder: string) =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name), "latin1").includes(SECRET));

describe("restoring a file that is no whole database", () => {
  it("says so of the backup, and what to do next", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    const store = openMessageStore(file);
    await store.ingest("s", conversation({ turns: 300 }));
    store.close();
    const whole = readFileSync(file);
    const torn = join(temporaryFolder(), "torn");
    for (const bytes of [whole.subarray(0, whole.length / 2), Buffer.from("words ".repeat(999))]) {
      writeFileSync(torn, bytes);
      await expect(restored(torn, file)).rejects.toThrow(
        `${torn} was not restored: it is damaged, or not the whole of a database; restore another`,
      );
    }
    expect(await found(file)).toBe(0);
  });
});

describe("restoring an older backup", () => {
  it.each([false, true])(
    "keeps out what was forgotten since, to the byte (compressed: %s)",
    async (compress) => {
      const { file, backup } = await forgottenSince({ compress });
      const told = await restored(backup, file);
      expect(told.forgotten).toEqual({ messages: 2, unknown: null });
      expect(told.text).toContain(
        `2 messages that were forgotten since stayed out; ${backup} holds them still`,
      );
      expect(await found(file)).toBe(0);
      rmSync(backup);
      expect(holding(dirname(file))).toEqual([]);
      const store = openMessageStore(file);
      expect(await store.verify()).toMatchObject({ isWhole: true, messages: 12 });
      store.close();
      expect(readFileSync(file, "latin1")).not.toContain("all of it");
    },
  );

  it("knows what was forgotten when it is told again, though the backup never had it", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    const store = openMessageStore(file);
    await store.ingest("own", conversation({ turns: 2 }));
    const backup = await backUpStore(file, { now: NOTED });
    await store.ingest("own", [...conversation({ turns: 2 }), secret]);
    const { messages, sessions } = await store.planForget({ text: SECRET });
    await store.forget({ numbers: messages.map(({ number }) => number), sessions });
    store.close();
    const told = await restored(backup.file, file);
    expect(told.forgotten).toEqual({ messages: 0, unknown: null });
    // Once more from the same backup: what is known now came from another database.
    await restoreStore({ from: backup.file, file, agentDirs: [], now: NOTED + 2 });
    const again = openMessageStore(file);
    await again.ingest("import", [secret]);
    expect((await again.search({ query: SECRET })).found).toEqual([]);
    expect(await again.verify()).toMatchObject({ isWhole: true });
    again.close();
  });

  it("says plainly that it may be back where no database tells of it", async () => {
    const { file, backup } = await forgottenSince();
    const elsewhere = join(temporaryFolder(), "lossless.db");
    const alone = await restored(backup, elsewhere);
    expect(alone.text).toContain(`There was no database ${elsewhere} to tell what was forgotten`);
    expect(await found(elsewhere)).toBe(2);

    const other = join(temporaryFolder(), "lossless.db");
    openMessageStore(other).close();
    expect((await restored(backup, other)).text).toContain("is not the one of which this backup");

    writeFileSync(file, "no database any more");
    expect((await restored(backup, file)).text).toContain("cannot be read, and may be back");
  });

  it("takes what a copy beside the database tells, where the database is gone", async () => {
    const { file, backup } = await forgottenSince();
    await backUpStore(file, { now: NOTED + 5 });
    rmSync(file);
    const told = await restored(backup, file);
    expect(told.forgotten).toMatchObject({ messages: 2 });
    expect(told.text).toContain("There was no database");
    expect(await found(file)).toBe(0);
  });
});

describe("copies beside a database", () => {
  it("are listed with how much of what was forgotten since they hold", async () => {
    const { file, backup } = await forgottenSince();
    const clean = (await backUpStore(file, { now: NOTED + 5 })).file;
    const broken = `${file}.version-3`;
    writeFileSync(broken, "no database");
    const before = readFileSync(backup);
    const listed = await inspectBackups(file);
    const held = new Map(listed.map((each) => [each.file, each.forgotten]));
    expect(held).toEqual(
      new Map([
        [backup, 2],
        [clean, 0],
        [broken, null],
      ]),
    );
    const text = describeBackups(file, listed);
    expect(text).toContain(`${backup}  (holds 2 messages forgotten since)`);
    expect(text).toContain(`${broken}  (cannot be read: it may hold what was forgotten)`);
    expect(text).toMatch(new RegExp(`${clean}$`, "m"));
    expect(readFileSync(backup)).toEqual(before);
    expect(readdirSync(dirname(file)).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  });

  it("are searched by text and by message, whatever stands in the database", async () => {
    const { file, backup } = await forgottenSince();
    const copy = `${backup}.other`;
    copyFileSync(backup, copy);
    const sought = { graves: [], text: SECRET.toLowerCase() };
    const holding = async (files: string[], of: Sought) =>
      (await copiesHolding(files, of)).map((each) => each.file);
    expect(await holding([backup, copy, file], sought)).toEqual([backup, copy]);
    const db = new DatabaseSync(copy);
    db.exec("PRAGMA foreign_keys = OFF; DELETE FROM message");
    db.close();
    const store = openMessageStore(backup);
    const graves = [await store.gravesOf([11])];
    store.close();
    expect(await holding([copy, backup], { graves, text: null })).toEqual([backup]);
  });
});
