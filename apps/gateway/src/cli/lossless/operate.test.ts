import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openMessageStore } from "@clew/lossless-engine/store";
import { conversation } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startChild } from "../../testing/child.ts";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { losslessRows } from "../../testing/lossless-rows.ts";
import { startPluginGateway, startServedGateway } from "../../testing/plugins.ts";

const LOSSLESS = { plugins: { slots: { contextEngine: "lossless" } } };
const databaseOf = (home: string, agent = "main") =>
  join(home, "agents", agent, "clew-lossless", "lossless.db");

async function homeWithMessages() {
  const home = await temporaryHome();
  const store = openMessageStore(databaseOf(home));
  await store.ingest("s", conversation({ turns: 3 }));
  store.close();
  return home;
}

/** What was said in a gateway that has stopped. */
async function homeWithSession(words: readonly string[]) {
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), JSON.stringify(LOSSLESS));
  const { say, stop } = await startPluginGateway(LOSSLESS, home);
  for (const text of words) await say(text);
  await stop();
  return home;
}

const onlyCopyIn = (folder: string) => {
  const copies = readdirSync(folder).filter((name) => /\.copy-[\dTZ-]+$/.test(name));
  expect(copies).toHaveLength(1);
  return join(folder, copies[0]!);
};

describe("clew lossless status", () => {
  it("says how much is kept, and where", async () => {
    const home = await homeWithMessages();
    const told = await clew(home, ["lossless", "status"]);
    expect(told.code).toBe(0);
    expect(told.output).toContain("6 messages of 1 conversation, ");
    expect(told.output).toContain(databaseOf(home));
    expect(told.errors).toContain('not in use, as "legacy" answers instead');
    const json = JSON.parse((await clew(home, ["lossless", "status", "--json"])).output);
    expect(json.databases[0]).toMatchObject({
      ...{ file: databaseOf(home), agents: ["main"], state: "done", messages: 6 },
      ...{ backups: [], forgotten: 0, expired: 0, freeBytes: expect.any(Number) },
    });
  });

  it("makes no database where there is none", async () => {
    const home = await temporaryHome();
    for (const word of ["status", "doctor", "backup", "backups"])
      expect(await clew(home, ["lossless", word])).toMatchObject({
        ...{ code: 0, output: `${databaseOf(home)}: nothing is kept yet` },
      });
  });
});

describe("clew lossless doctor", () => {
  it("names what cannot be read, and ends with 1", async () => {
    const home = await homeWithMessages();
    expect(await clew(home, ["lossless", "doctor"])).toMatchObject({
      ...{ code: 0, output: expect.stringContaining("6 messages looked at, all can be read.") },
    });
    const db = new DatabaseSync(databaseOf(home));
    db.exec("UPDATE message SET body = 'no JSON' WHERE seq = 2");
    db.close();
    expect(await clew(home, ["lossless", "doctor"])).toMatchObject({
      ...{ code: 1, output: expect.stringContaining("1 message cannot be read: 2.") },
    });
  });
});

describe("clew lossless backup", () => {
  it("copies beside the database or into a folder, and lists what is there", async () => {
    const home = await homeWithMessages();
    const told = await clew(home, ["lossless", "backup"]);
    const copy = onlyCopyIn(dirname(databaseOf(home)));
    expect(told).toMatchObject({
      ...{ code: 0, output: `Copied to ${copy}: 6 messages, all as they were stored.` },
    });
    expect((await clew(home, ["lossless", "backups"])).output).toMatch(
      new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d {2}[\\d.]+ MB {2}${copy}$`),
    );
    const folder = join(home, "kept", "elsewhere");
    const json = await clew(home, ["lossless", "backup", "--to", folder, "--json"]);
    const [made] = JSON.parse(json.output).databases;
    expect(made.file).toBe(onlyCopyIn(folder));
    expect(made.verification).toMatchObject({ isWhole: true, messages: 6 });
  });

  it("lists the copies of a database that is gone", async () => {
    const home = await homeWithMessages();
    await clew(home, ["lossless", "backup"]);
    const copy = onlyCopyIn(dirname(databaseOf(home)));
    await rm(databaseOf(home));
    const told = await clew(home, ["lossless", "backups"]);
    expect(told.code).toBe(0);
    expect(told.output).toMatch(/nothing is kept yet\n\d{4}-\d\d-\d\d /);
    expect(told.output).toContain(copy);
    const json = await clew(home, ["lossless", "backups", "--json"]);
    expect(JSON.parse(json.output).databases[0]).toMatchObject({
      ...{ state: "missing", backups: [{ file: copy, kind: "backup" }] },
    });
  });

  it("says that the database is damaged, and copies it all the same", async () => {
    const home = await homeWithMessages();
    const db = new DatabaseSync(databaseOf(home));
    db.exec("UPDATE message SET turn = 9 WHERE seq = 2");
    db.close();
    const told = await clew(home, ["lossless", "backup"]);
    expect(told.code).toBe(1);
    expect(told.output).toContain("with the damage of the database; keep older copies.");
  });

  it("has one moment of it while a gateway answers turn after turn", async () => {
    const home = await temporaryHome();
    const chatting = startChild(
      new URL("../../testing/lossless-turns.ts", import.meta.url),
      [home, JSON.stringify(LOSSLESS)],
      { stderr: true },
    );
    onTestFinished(() => void chatting.process.kill("SIGKILL"));
    const said = () => Number(chatting.lines.at(-1) ?? 0);
    while (!(said() >= 5)) await once(chatting.process.stdout!, "data");
    const from = said();
    for (let number = 1; number <= 3; number++) {
      const told = await clew(home, ["lossless", "backup", "--json"]);
      expect(told.code).toBe(0);
      const [made] = JSON.parse(told.output).databases;
      expect(made.verification.isWhole).toBe(true);
      // A request and its reply are of one turn.
      expect(made.verification.messages).toBeGreaterThanOrEqual(2 * from);
    }
    while (said() < from + 5) await once(chatting.process.stdout!, "data");
  });
});

describe("clew lossless retain", () => {
  it("lets go of what the settings, or what is typed, say, and of nothing without either", async () => {
    const home = await homeWithMessages();
    const nothing = await clew(home, ["lossless", "retain"]);
    expect(nothing).toMatchObject({
      code: 2,
      errors: expect.stringContaining("Everything is kept for ever: say otherwise by --days"),
    });
    expect(await clew(home, ["lossless", "retain", "--days", "many"])).toMatchObject({ code: 2 });
    expect(await clew(home, ["lossless", "retain", "--days", "100000"])).toMatchObject({
      ...{
        code: 0,
        output: expect.stringMatching(
          /^No message is known to be older than 100,000 days\. 6 messages of .* Nothing was changed/,
        ),
      },
    });
    const config = { plugins: { entries: { lossless: { config: { keepDays: 1 } } } } };
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const planned = await clew(home, ["lossless", "retain"]);
    expect(planned.output).toMatch(
      /^Would no longer be kept: 6 messages said more than 1 day ago\. 6 messages of /,
    );
    const told = await clew(home, ["lossless", "retain", "--yes", "--json"]);
    expect(JSON.parse(told.output).databases[0]).toMatchObject({ state: "done", gone: 6 });
    const status = await clew(home, ["lossless", "status"]);
    expect(status.output).toContain("6 messages (6 no longer kept)");
    expect(await clew(home, ["lossless", "verify"])).toMatchObject({ code: 0 });
    expect(await clew(await temporaryHome(), ["lossless", "retain", "--days", "1"])).toMatchObject({
      ...{ code: 0, output: expect.stringContaining("nothing is kept yet") },
    });
  });
});

describe("clew lossless restore", () => {
  it("puts a backup of another home and layout in the place, and sessions go on", async () => {
    const old = await homeWithSession(["Remember the word marigold.", "And the number 17."]);
    await clew(old, ["lossless", "backup", "--to", join(old, "backups")]);
    const copy = onlyCopyIn(join(old, "backups"));
    const before = losslessRows(old);

    // Another home, with the database in another place, as seen from which the agent is elsewhere.
    const home = await temporaryHome();
    const file = join(home, "some", "place", "all.db");
    const config = {
      plugins: { ...LOSSLESS.plugins, entries: { lossless: { config: { databasePath: file } } } },
    };
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const told = await clew(home, ["lossless", "restore", copy]);
    expect(told).toMatchObject({ code: 0 });
    expect(told.output).toContain(`Restored ${file} from ${copy}: ${before.length} messages`);
    expect(await clew(home, ["lossless", "verify"])).toMatchObject({ code: 0 });

    const { say, stop } = await startServedGateway(config, home);
    await say("What was the word?");
    const { text } = await say("/lossless status");
    const [, messages] = /^This session: (\d+) messages of 2 conversations\.$/m.exec(text)!;
    expect(Number(messages)).toBeGreaterThan(before.length);
    await stop();
    const db = new DatabaseSync(file, { readOnly: true });
    onTestFinished(() => db.close());
    expect(db.prepare("SELECT DISTINCT owner FROM transcript").all()).toEqual([
      { owner: "../../agents/main" },
    ]);
  });

  it("keeps what it replaces", async () => {
    const home = await homeWithMessages();
    await clew(home, ["lossless", "backup"]);
    const copy = onlyCopyIn(dirname(databaseOf(home)));
    const store = openMessageStore(databaseOf(home));
    await store.ingest("later", conversation({ turns: 2 }));
    store.close();
    const told = await clew(home, ["lossless", "restore", copy, "--json"]);
    const restored = JSON.parse(told.output);
    expect(restored).toMatchObject({ file: databaseOf(home), verification: { messages: 6 } });
    const kept = new DatabaseSync(restored.kept, { readOnly: true });
    expect(kept.prepare("SELECT count(*) AS rows FROM message").get()).toEqual({ rows: 10 });
    kept.close();
    expect((await clew(home, ["lossless", "status"])).output).toContain("6 messages");
    expect((await clew(home, ["lossless", "backups"])).output).toContain("(replaced) ");
    expect(
      readdirSync(dirname(databaseOf(home))).filter((name) => name.includes("restoring")),
    ).toEqual([]);
  });

  it("is refused while a gateway runs, and while anybody has the database open", async () => {
    const home = await homeWithSession(["Hello."]);
    await clew(home, ["lossless", "backup", "--to", join(home, "b")]);
    const copy = onlyCopyIn(join(home, "b"));
    const open = openMessageStore(databaseOf(home));
    expect(await clew(home, ["lossless", "restore", copy])).toMatchObject({
      ...{ code: 1, errors: expect.stringContaining("another program has it open") },
    });
    open.close();
    const before = await readFile(databaseOf(home));
    const { stop } = await startServedGateway(LOSSLESS, home);
    expect(await clew(home, ["lossless", "restore", copy])).toMatchObject({
      ...{ code: 1, errors: expect.stringMatching(/runs \(process \d+\).* \[GATEWAY_RUNNING\]/) },
    });
    await stop();
    expect(await readFile(databaseOf(home))).toEqual(before);
  });

  it("refuses what is no backup, and one that is damaged, and leaves the database", async () => {
    const home = await homeWithMessages();
    await writeFile(join(home, "some.txt"), "no database ".repeat(900));
    mkdirSync(join(home, "folder"));
    const foreign = new DatabaseSync(join(home, "foreign.db"));
    foreign.exec("CREATE TABLE other (id INTEGER)");
    foreign.close();
    await clew(home, ["lossless", "backup"]);
    const copy = onlyCopyIn(dirname(databaseOf(home)));
    const db = new DatabaseSync(copy);
    db.exec("DELETE FROM message WHERE seq = 2");
    db.close();
    const before = await readFile(databaseOf(home));
    for (const [file, code, said] of [
      [join(home, "nothing"), 1, "There is no backup "],
      [join(home, "some.txt"), 1, "it is damaged, or not the whole of a database"],
      [join(home, "folder"), 2, "is no file; name a backup."],
      [join(home, "foreign.db"), 1, "it is no database of the lossless engine"],
      [databaseOf(home), 2, "is the database itself"],
      [copy, 1, "are not as stored (message 2 of conversation 1 is gone); restore an older backup"],
    ] as const) {
      const told = await clew(home, ["lossless", "restore", file]);
      expect([told.code, told.errors]).toEqual([code, expect.stringContaining(said)]);
      expect(told.errors.split("\n")).toHaveLength(1);
    }
    expect(await readFile(databaseOf(home))).toEqual(before);
    expect(await clew(home, ["lossless", "restore", copy, "--force"])).toMatchObject({ code: 0 });
  });

  it("asks which of several databases is meant", async () => {
    const home = await temporaryHome();
    const agents = { list: [{ id: "main" }, { id: "writer" }] };
    await writeFile(join(home, "clew.json"), JSON.stringify({ agents }));
    expect(await clew(home, ["lossless", "restore", "x"])).toMatchObject({
      ...{ code: 2, errors: expect.stringContaining("(main, writer); say by --agent which") },
    });
  });
});
