import { closeSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PluginSubagents, RuntimeContext } from "@clew/plugin-sdk/core";
import { conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { engineOn } from "../engine.ts";
import { createStores } from "../stores.ts";
import { createSpendings } from "../summaries/spending.ts";
import { withIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { researchBy } from "../tools/by-session.ts";
import { createGrants } from "../tools/grants.ts";
import { createReach } from "../tools/reach.ts";
import { recallTools } from "../tools/tools.ts";
import { losslessCommand } from "./lossless.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const MOMENT = Date.UTC(2026, 0, 2, 3, 4, 5);

async function setUp() {
  const agentDir = temporaryFolder();
  const reach = createReach();
  const stores = reach.watching(createStores(agentDir, {}));
  const engine = engineOn(stores, { onStored: reach.noteStored });
  onTestFinished(() => engine.dispose?.());
  const messages = withIds(conversation({ turns: 100, tools: 1, toolResultChars: 5_000 }));
  const command = losslessCommand({ reach, now: () => MOMENT });
  const run = async (args?: string, senderIsOwner = true) =>
    (await command.handler({ ...session, senderIsOwner, ...(args !== undefined && { args }) }))
      .text;
  const tell = () => engine.ingestBatch!({ ...session, messages });
  return { agentDir, engine, run, tell, messages };
}

/** Writes over the page of a table that is number `at` of those with rows. */
function damagePage(file: string, table: string, at: number): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const pages = db
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .all(table)
    .map(({ pageno }) => Number(pageno));
  const size = Number(db.prepare("PRAGMA page_size").get()?.page_size);
  db.close();
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(size, 0xff), 0, size, (pages.at(at)! - 1) * size);
  closeSync(handle);
}

/** A session whose model is asked for words and never answers, maintained as often as named. */
async function withoutAnswers(times: number) {
  const reach = createReach();
  const spendings = createSpendings();
  const stores = reach.watching(createStores(temporaryFolder(), {}));
  const messages = withIds(conversation({ turns: 100, tools: 1, toolResultChars: 5_000 }));
  const complete = () => Promise.reject(new Error("no"));
  for (let time = 0; time < times; time++) {
    // Some hosts make another engine for each turn.
    const engine = engineOn(stores, { summaries: "model", spendings });
    await engine.ingestBatch!({ ...session, messages });
    const runtimeContext = {
      ...{ llm: { complete }, allowDeferredCompactionExecution: true },
    } as unknown as RuntimeContext;
    await engine.maintain!({ ...session, sessionFile: "none.jsonl", runtimeContext });
  }
  onTestFinished(() => stores.release());
  const { handler } = losslessCommand({ reach, spendings, now: () => MOMENT });
  return async () => (await handler({ ...session, args: "status" })).text;
}

const fileIn = (agentDir: string) => join(agentDir, "clew-lossless", "lossless.db");

describe("/lossless", () => {
  it("says how often a model was asked for words, and until when it is left alone", async () => {
    const status = await withoutAnswers(3);
    expect(await status()).toMatch(
      /^Words of summaries: a model was asked \d of at most 24 times in ten minutes; it brought nothing 4 times in a row, and it is asked again in 30 min\.$/m,
    );
  });

  it("says what the database and the session hold, without a word and by status", async () => {
    const { run, tell, messages, agentDir, engine } = await setUp();
    expect(await run()).toMatch(/has not answered in this session/);
    await tell();
    const told = await run("status");
    expect(told).toMatch(
      new RegExp(
        `^${messages.length} messages of 1 conversation, [\\d.]+ MB in ${fileIn(agentDir)}`,
      ),
    );
    expect(told).toMatch(
      /the search index is complete but for the newest \d+ messages, which the next search adds first\.$/m,
    );
    expect(await run()).toBe(told);
    expect(told).not.toContain("Words of summaries");
    expect(await engine.control({ operation: "doctor" })).toEqual({
      ok: true,
      text: `${told.split(".\nThis session")[0]}; all of it can be read`,
    });
    expect(await engine.control({ operation: "rotate" })).toMatchObject({ ok: false });
  });

  it("says by status that not all is stored, and since when", async () => {
    const { run, tell, agentDir, engine } = await setUp();
    await tell();
    expect(await run("status")).not.toContain("Not all is stored");
    const db = new DatabaseSync(fileIn(agentDir));
    db.exec("BEGIN IMMEDIATE");
    const more = withIds(conversation({ turns: 1 }), "more");
    await expect(engine.ingestBatch!({ ...session, messages: more })).rejects.toThrow();
    db.exec("ROLLBACK");
    db.close();
    expect(await run("status")).toMatch(
      /^Not all is stored: what was said since .* may be missing/m,
    );
    await engine.ingestBatch!({ ...session, messages: more });
    expect(await run("status")).not.toContain("Not all is stored");
  });

  it("says by status who knows what an earlier process could not store", async () => {
    const { tell, agentDir, engine } = await setUp();
    await tell();
    const stores = () => createStores(agentDir, {});
    const reach = createReach();
    const { handler } = losslessCommand({ reach, storesOf: stores });
    const status = async () => (await handler({ ...session, senderIsOwner: true })).text;
    expect(await status()).toMatch(/conversation\.\nNothing was told of it .* \/engine\)\.$/);
    const later = engineOn(reach.watching(stores()), { onStored: reach.noteStored });
    onTestFinished(() => later.dispose?.());
    await later.ingestBatch!({ ...session, messages: withIds(conversation({ turns: 1 }), "n") });
    expect(await status()).not.toContain("Nothing was told");
    await engine.dispose?.();
  });

  it("answers questions before any turn of a process, and says whom it cannot answer", async () => {
    const { tell, agentDir, engine } = await setUp();
    await tell();
    const said = withIds([user("The light keeper is called Oddny.")], "k");
    await engine.ingestBatch!({ ...session, messages: said });
    await engine.dispose?.();
    const [reach, grants] = [createReach(), createGrants()];
    const subagent = {
      // What the child session reads, which has no turn of its own in this test.
      run: async ({ sessionKey, message }: { sessionKey: string; message: string }) => {
        const child = recallTools({ reach, grants }).at(-1)!.of({ sessionId: "c", sessionKey })!;
        const { content } = await child.execute("x", { query: message.replace("Question:", "") });
        return { runId: content.map(({ text }) => text).join("") };
      },
      waitForRun: async () => ({ status: "ok" }),
      getSessionMessages: async () => ({ messages: [{ role: "assistant", content: "Oddny." }] }),
      deleteSession: async () => {},
    } as unknown as PluginSubagents;
    const asking = (withSessions: boolean) => {
      const research = researchBy({ subagent: withSessions ? subagent : undefined, grants });
      const [tool] = recallTools({ reach, grants, research }).slice(2);
      const { handler } = losslessCommand({
        reach,
        storesOf: (agentId) => createStores(agentId ?? agentDir, {}),
        async ask(of, prompt) {
          const { content } = await tool!.of(of)!.execute("ask", { prompt, thorough: true });
          return content.map(({ text }) => text).join("");
        },
      });
      return async (of: object = session) =>
        (await handler({ ...session, ...of, args: "ask How is the keeper called?" })).text;
    };
    expect(await asking(true)()).toBe("Oddny.");
    expect(await asking(false)()).toContain("called Oddny");
    // Nothing of it stays open, and the session is not taken for one that was told.
    expect(reach.hasMet(session)).toBe(false);
    expect(await asking(false)({ sessionId: "s9", sessionKey: "agent:main:s9" })).toContain(
      "Nothing is stored that holds words of this question.",
    );
    expect(await asking(false)({ agentId: temporaryFolder() })).toMatch(
      /^Nothing is kept yet: there is no database /,
    );
    const { handler } = losslessCommand({ reach, ask: async () => "never" });
    expect(await handler({ ...session, args: "ask Who?" })).toMatchObject({
      text: expect.stringContaining("has not answered in this session"),
    });
  });

  it("names by doctor the messages that cannot be read", async () => {
    const { run, tell, messages, agentDir } = await setUp();
    await tell();
    expect(await run("doctor")).toContain(`${messages.length} messages looked at, all can be read`);
    const db = new DatabaseSync(fileIn(agentDir));
    db.exec("UPDATE message SET body = 'no JSON' WHERE seq IN (3, 40)");
    db.close();
    const [found] = (await run("doctor")).split("\n");
    expect(found).toBe(
      `${messages.length} messages looked at. 2 messages cannot be read: 3, 40. They are read again from the transcripts when their sessions go on after a restart.`,
    );
  });

  it("tells a host's doctor of damage, too", async () => {
    const { engine, run, tell, agentDir } = await setUp();
    await tell();
    const db = new DatabaseSync(fileIn(agentDir));
    db.exec("UPDATE message SET body = 'no JSON' WHERE seq IN (3, 40)");
    db.close();
    const told = {
      ok: false,
      text: `2 messages cannot be read: 3, 40 (in ${fileIn(agentDir)}); "/lossless doctor" says what to do`,
    };
    expect(await engine.control({ operation: "doctor" })).toEqual(told);
    await run("doctor");
    expect(await engine.control({ operation: "doctor" })).toEqual(told);
  });

  it.each([0, 2, -1])("goes by doctor on past a damaged page, number %i of them", async (at) => {
    const { run, tell, messages, agentDir, engine } = await setUp();
    await tell();
    await engine.dispose!();
    damagePage(fileIn(agentDir), "message", at);
    const told = await run("doctor");
    expect(told).toContain(`${messages.length} messages looked at. `);
    const [, count, names] = / (\d+) messages? cannot be read: ([\d, …]+): their pages/.exec(told)!;
    expect(Number(count)).toBeGreaterThan(0);
    expect(Number(count)).toBeLessThan(40);
    for (const seq of names!.match(/\d+/g)!)
      expect(Number(seq)).toBeLessThanOrEqual(messages.length);
    expect(told).toContain("Move the database away while the host is stopped");
  });

  it.each(["words_data", "trigram_leaf"])("says by doctor that %s is damaged", async (table) => {
    const { run, tell, messages, agentDir, engine } = await setUp();
    await tell();
    await engine.maintain!({ ...session } as never);
    await engine.dispose!();
    damagePage(fileIn(agentDir), table, 0);
    const told = await run("doctor");
    expect(told).toContain(`${messages.length} messages looked at, all can be read.`);
    expect(told).toContain("The search index is damaged: searches fail. Move the database away");
  });

  it("copies the whole database by backup, for its owner alone", async () => {
    const { run, tell, messages, agentDir } = await setUp();
    await tell();
    expect(await run("backup", false)).toMatch(/^Only the owner/);
    const copy = `${fileIn(agentDir)}.copy-2026-01-02T03-04-05-000Z`;
    expect(await run("backup")).toBe(
      `Copied to ${copy}: ${messages.length} messages, all as they were stored.`,
    );
    const db = new DatabaseSync(copy, { readOnly: true });
    onTestFinished(() => db.close());
    expect(db.prepare("SELECT count(*) AS number FROM message").get()).toEqual({
      number: messages.length,
    });
    expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  });

  it("names the command that forgets, as it can be pasted into a shell", async () => {
    const { run, tell } = await setUp();
    await tell();
    expect(await run("forget #2")).toContain("then run clew lossless forget '#2' --yes.");
    const text = "reading 1 of 'no' file";
    expect(await run(`forget ${text}`)).toBe("Nothing of that is kept.");
    expect(await run("forget xx xx")).toMatch(/--text 'xx xx' --yes\.$|Nothing of that is kept/);
  });

  it("lists the copies beside the database, and says how one takes its place", async () => {
    const { run, tell, agentDir } = await setUp();
    await tell();
    expect(await run("backups")).toBe(`There is no copy of ${fileIn(agentDir)} beside it.`);
    await run("backup");
    expect(await run("backups")).toMatch(/ MB {2}\S+\.copy-2026-01-02T03-04-05-000Z$/);
    expect(await run("restore")).toContain("stop the gateway, then run clew lossless restore FILE");
    for (const word of ["backups", "restore"])
      expect(await run(word, false)).toMatch(/^Only the owner/);
  });

  it("exports all sessions and imports session files, for its owner, by whole paths", async () => {
    const { run, tell, messages, agentDir } = await setUp();
    await tell();
    const folder = `${fileIn(agentDir)}.export-2026-01-02T03-04-05-000Z`;
    expect(await run("export")).toBe(
      `Exported ${messages.length} messages of ${fileIn(agentDir)} into 1 session file in ${folder}.`,
    );
    expect(await run(`import ${folder}`)).toBe(
      `Imported 0 messages from 1 session file into ${fileIn(agentDir)}; ${messages.length} messages of them were there already.`,
    );
    expect(await run("export")).toMatch(/is there already; name another folder\.$/);
    expect(await run("import /nowhere at all")).toMatch(/^There is nothing at \/nowhere at all/);
    expect(await run("import")).toMatch(/^Name the file/);
    expect(await run("export here")).toMatch(/^Name a whole path/);
    for (const word of ["export", "import /x"])
      expect(await run(word, false)).toMatch(/^Only the owner/);
  });

  it("says by backup that what it copied is damaged", async () => {
    const { run, tell, agentDir, engine } = await setUp();
    await tell();
    await engine.dispose!();
    damagePage(fileIn(agentDir), "words_data", 0);
    expect(await engine.control({ operation: "doctor" })).toMatchObject({
      ...{ ok: false, text: expect.stringContaining("the search index is damaged") },
    });
    expect(await run("backup")).toMatch(
      /^Copied to .*, with the damage of the database; keep older copies\. \d+ things? (?:is|are) not as stored:/,
    );
  });

  it("leaves no half copy where a backup does not come to its end", async () => {
    const { run, tell, agentDir } = await setUp();
    await tell();
    const copy = `${fileIn(agentDir)}.copy-2026-01-02T03-04-05-000Z`;
    // Where the copy is to stand is something that no file takes the place of.
    mkdirSync(copy);
    await expect(run("backup")).rejects.toThrow();
    expect(readdirSync(dirname(copy)).filter((name) => name.endsWith(".unfinished"))).toEqual([]);
  });

  it("keeps database and copies for their owner alone, as hosts keep their sessions", async () => {
    const { run, tell, agentDir } = await setUp();
    await tell();
    await run("backup");
    const folder = dirname(fileIn(agentDir));
    const rights = (path: string) => statSync(path).mode & 0o077;
    expect(rights(folder)).toBe(0);
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const name of files) expect([name, rights(join(folder, name))]).toEqual([name, 0]);
  });

  it("lists its words by help, and for a word that it does not know", async () => {
    const { run, tell } = await setUp();
    await tell();
    expect(await run("help")).toMatch(/^\/lossless status /);
    expect(await run("rotate")).toMatch(/^There is no "\/lossless rotate"\.\n\/lossless status /);
  });
});
