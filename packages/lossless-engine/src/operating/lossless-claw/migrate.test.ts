import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openMessageStore } from "../../library/message-store.ts";
import { forget } from "../../store/forget.ts";
import { readLosslessClaw } from "../../store/lossless-claw/read.ts";
import { numbersOf } from "../../store/seek.ts";
import { useStore } from "../../store/store.ts";
import { READER } from "../../summaries/facts.ts";
import { buildLosslessClaw, type ClawDatabase } from "../../testing/lossless-claw.ts";
import { sessionFile } from "../../testing/session-file.ts";
import { conversationMessages } from "../../testing/stored.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { type MigrateOptions, migrateLosslessClaw } from "./migrate.ts";

const KEY = "agent:main:main";

/** A folder with a database of lossless-claw, and one where its sessions are to go. */
function setUp(build: (database: ClawDatabase, folder: string) => void) {
  const folder = temporaryFolder();
  const from = join(folder, "lcm.db");
  const database = buildLosslessClaw(from);
  build(database, folder);
  database.db.close();
  const agentDir = temporaryFolder();
  const place = { file: join(agentDir, "clew-lossless", "lossless.db"), agentDir };
  const migrate = (more: Partial<MigrateOptions> & { sessions?: string } = {}) => {
    const { sessions, ...options } = more;
    const sessionFile = (id: string) => sessions && join(sessions, `${id}.jsonl`);
    const placeOf = () => ({ ...place, sessionFile });
    return migrateLosslessClaw({ from, placeOf, scratch: temporaryFolder(), ...options });
  };
  const stored = (sessionId = "s1", sessionKey = KEY): AgentMessage[] => {
    const { store, release } = useStore(place.file);
    try {
      return conversationMessages(store, { sessionId, sessionKey, owner: ".." });
    } finally {
      release();
    }
  };
  return { folder, from, place, migrate, stored };
}

/** What a message says, without what a store or a clock adds. */
const said = ({ __openclaw: _, timestamp: __, ...message }: AgentMessage) => message;

const conversationOf = (db: DatabaseSync) =>
  db.prepare("SELECT count(*) AS messages FROM messages").get() as { messages: number };

const filesOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );

describe("a migration from lossless-claw", () => {
  it("carries messages with their calls and results, and nothing twice", async () => {
    const told = conversation({ turns: 20, tools: 2 });
    const { migrate, stored, place } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), told);
    });
    const first = await migrate();
    expect(first).toMatchObject({
      ...{ conversations: 1, messages: told.length, added: told.length, withoutId: told.length },
      ...{ rewritten: 0, missingFiles: [], left: [] },
    });
    expect(stored().map(({ role }) => role)).toEqual(told.map(({ role }) => role));
    const shape = (message: AgentMessage) => {
      const { role, content, toolCallId, toolName, isError } = said(message) as never;
      return { role, content, toolCallId, toolName, isError };
    };
    expect(stored().map(shape)).toEqual(told.map(shape));
    expect(stored()[1]?.timestamp).toBe(Date.UTC(2026, 0, 1, 0, 0, 1));
    expect(await migrate()).toMatchObject({ messages: told.length, added: 0 });
    const store = openMessageStore(place.file);
    onTestFinished(() => store.close());
    expect(await store.verify()).toMatchObject({ isWhole: true, messages: told.length });
  });

  it("takes from session files what they tell, with its id and time, in the right order", async () => {
    const told = conversation({ turns: 10 });
    const { migrate, stored, folder } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), [...told, user("ok"), assistant("done")]);
    });
    // The host cut the file's beginning off, and went on after lossless-claw was removed.
    const file = sessionFile("s1", "e", {
      ...{ path: join(folder, "s1.jsonl"), sessionKey: KEY, timestamp: "2026-01-01T00:00:00.000Z" },
    });
    file.say(...told.slice(8), user("ok"), assistant("done"), user("ok"));
    const migration = await migrate({ sessions: folder });
    expect(migration).toMatchObject({ messages: 22, fromTranscripts: 14, added: 23, withoutId: 8 });
    const messages = stored();
    const texts = messages.map((message) => said(message));
    expect(texts).toEqual(
      [
        ...told.slice(0, 8).map((message) => expect.objectContaining({ role: message.role })),
        ...told.slice(8),
        user("ok"),
        assistant("done"),
        user("ok"),
      ].map((message) => ("role" in message ? said(message as AgentMessage) : message)),
    );
    expect(messages.map(({ __openclaw }) => __openclaw?.id).slice(7, 10)).toEqual([
      ...["lossless-claw:1:8", "e0", "e1"],
    ]);
    expect(migration.text).toContain("14 messages as their session files have them, whole.");
  });

  it("knows messages by the ids of their entries, where they have some", async () => {
    const told = conversation({ turns: 3 });
    const { migrate, stored } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), told, (at) => `entry-${at}`);
    });
    expect(await migrate()).toMatchObject({ withoutId: 0 });
    expect(stored().map(({ __openclaw }) => __openclaw?.id)).toEqual(
      told.map((_, at) => `entry-${at}`),
    );
  });

  it("quotes summaries behind what they were made of, found under their old ids", async () => {
    const told = conversation({ turns: 4 });
    const { migrate, stored, place } = setUp((claw) => {
      const id = claw.conversation("s1", KEY);
      const seqs = claw.say(id, told);
      const content = "They spoke of a marmoset.";
      claw.summary({ id: "sum_leaf", conversation: id, depth: 0, content, of: seqs.slice(0, 4) });
      const above = { conversation: id, depth: 1, content: "All of it." };
      claw.summary({ id: "sum_top", ...above, of: ["sum_leaf", "sum_top"] });
    });
    expect(await migrate()).toMatchObject({ summaries: 2, added: told.length + 2 });
    const [leaf, top] = stored().slice(4, 6);
    expect(leaf).toMatchObject({ role: "custom", customType: "lossless-claw.summary" });
    expect(String((leaf as { content?: unknown }).content)).toBe(
      "Summary sum_leaf of lossless-claw (leaf, depth 0, 2026-01-01 00:00:00 to 2026-01-01 01:00:00, by some-model), quoted:\n\nThey spoke of a marmoset.",
    );
    expect(String((top as { content?: unknown }).content)).toContain("sum_top");
    const store = openMessageStore(place.file);
    onTestFinished(() => store.close());
    const { found } = await store.search({ query: "marmoset" });
    expect(found).toHaveLength(1);
  });

  it("says which sessions had no key, as nothing goes on with them", async () => {
    const { migrate } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), [user("hello")]);
      for (const session of ["lost-1", "lost-2"])
        claw.say(claw.conversation(session, null), [user(`hello from ${session}`)]);
    });
    const { withoutKey, text } = await migrate();
    expect(withoutKey).toEqual(["lost-1", "lost-2"]);
    expect(text).toContain(
      "2 sessions had no key, by which a session goes on: lost-1, lost-2. What they said is found where tools are asked for allConversations.",
    );
  });

  it("leaves summaries behind where that is asked for", async () => {
    const { migrate, stored } = setUp((claw) => {
      const id = claw.conversation("s1", KEY);
      const of = claw.say(id, [user("hello")]);
      claw.summary({ id: "sum_1", conversation: id, depth: 0, content: "Hello.", of });
    });
    expect(await migrate({ summaries: false })).toMatchObject({ summaries: 0, added: 1 });
    expect(stored()).toHaveLength(1);
  });

  it("puts long texts back from its own files, and names those that are gone or anybody's", async () => {
    const long = "a very long output\n".repeat(9_000);
    const lost: string[] = [];
    const { migrate, stored } = setUp((claw, folder) => {
      const id = claw.conversation("s1", KEY);
      const told = conversation({ turns: 4, tools: 1 });
      const seqs = claw.say(id, told);
      const results = seqs.filter((_, at) => told[at]!.role === "toolResult");
      const own = join(folder, "lcm-files");
      mkdirSync(own);
      writeFileSync(join(folder, "private.txt"), "of somebody else");
      symlinkSync(join(folder, "private.txt"), join(own, "link.txt"));
      const places = ["here.txt", "gone.txt", "strange.txt", "link.txt"];
      for (const [at, name] of places.entries()) {
        const file = join(own, name === "link.txt" ? "moved.txt" : name);
        lost.push(claw.moveOut({ conversation: id, text: long, message: results[at]!, file }));
      }
      const put = claw.db.prepare(
        "UPDATE large_files SET storage_uri = ?, byte_size = NULL WHERE file_id = ?",
      );
      put.run("/nowhere", lost[1]!);
      put.run(join(folder, "private.txt"), lost[2]!);
      put.run(join(own, "link.txt"), lost[3]!);
    });
    const migration = await migrate();
    const [, ...missing] = lost;
    expect(migration.missingFiles).toEqual(missing);
    expect(migration.text).toContain(`references stand in the messages: ${missing.join(", ")}.`);
    const texts = stored().flatMap((message) =>
      message.role === "toolResult" ? [JSON.stringify(message.content)] : [],
    );
    expect(texts).toEqual([
      JSON.stringify([{ type: "text", text: long }]),
      ...missing.map((id) => JSON.stringify([{ type: "text", text: `[LCM Tool Output: ${id}]` }])),
    ]);
  });

  it.each([
    ["are below zero", "UPDATE messages SET seq = seq - 300"],
    ["are all the same", "UPDATE messages SET seq = 5"],
  ])("leaves no message behind whose numbers %s", async (_, sql) => {
    const { migrate, stored } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), conversation({ turns: 100 }));
      claw.db.exec("CREATE TABLE m AS SELECT * FROM messages; DROP TABLE messages");
      claw.db.exec(`ALTER TABLE m RENAME TO messages; ${sql}`);
    });
    expect((await migrate()).left).toEqual([]);
    expect(stored()).toHaveLength(200);
  });

  it("leaves no message behind that has no number", async () => {
    const { migrate, stored } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), conversation({ turns: 100 }));
      claw.db.exec("CREATE TABLE m AS SELECT * FROM messages; DROP TABLE messages");
      claw.db.exec("ALTER TABLE m RENAME TO messages; UPDATE messages SET seq = NULL");
    });
    expect((await migrate()).left).toEqual([]);
    expect(stored()).toHaveLength(200);
  });

  it.each([
    ["seq", "messages SET seq = 9223372036854775807 WHERE seq = 3"],
    ["depth", "summaries SET depth = 9223372036854775807"],
    ["ordinal", "message_parts SET ordinal = 9223372036854775807 WHERE message_id = 3"],
  ])("is carried around numbers that JavaScript does not have (%s)", async (_name, change) => {
    const { migrate, stored } = setUp((claw) => {
      const id = claw.conversation("s1", KEY);
      const messages = claw.say(id, conversation({ turns: 5 }));
      claw.summary({ id: "sum", conversation: id, depth: 0, content: "Five turns.", of: messages });
      claw.db.exec(`UPDATE ${change}`);
    });
    expect((await migrate()).left).toEqual([]);
    expect(stored()).toHaveLength(11);
  });

  it("names rows whose own numbers JavaScript does not have", async () => {
    const { migrate, stored } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), conversation({ turns: 5 }));
      claw.db.exec("UPDATE messages SET message_id = 9223372036854775807 WHERE message_id = 3");
    });
    expect((await migrate()).left).toEqual(["a row of messages whose number is beyond 2^53"]);
    expect(stored()).toHaveLength(9);
  });

  it("tells how much belongs to conversations that are not there", async () => {
    const { migrate } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), conversation({ turns: 5 }));
      claw.db.exec("UPDATE messages SET conversation_id = 999 WHERE message_id > 2");
    });
    const { left, text } = await migrate();
    expect(left).toEqual(["8 messages of conversation 999, which is not there"]);
    expect(text).toContain("Not carried:\n  8 messages of conversation 999");
  });

  it("loses no message that has the id of another, and tells how often one is there again", async () => {
    const [first, second] = [user("one"), user("two")];
    const { migrate, stored } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), [first, second, first, user("one")], () => "same");
    });
    const { messages, added, left } = await migrate();
    expect({ messages, added, left }).toEqual({
      ...{ messages: 2, added: 2 },
      left: [`2 messages of the session ${KEY} told once more under the same id`],
    });
    expect(stored().map(said)).toEqual([first, second].map(said));
  });

  it("takes no role from what every object has", async () => {
    const { migrate, stored } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), [user("one"), user("two")]);
      claw.db.prepare("UPDATE message_parts SET metadata = ?").run('{"originalRole":"__proto__"}');
    });
    expect((await migrate()).left).toEqual([]);
    expect(stored().map(({ role }) => role)).toEqual(["user", "user"]);
  });

  it("keeps apart what was said before and after a reset, and other agents' sessions", async () => {
    const { migrate, stored, place } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY, false), [user("before")]);
      claw.say(claw.conversation("s1", KEY), [user("after")]);
      claw.say(claw.conversation("s9", "agent:gone:main"), [user("of nobody")]);
      claw.db.exec("INSERT INTO focus_briefs VALUES ('brief')");
    });
    const migration = await migrate({
      placeOf: (key) => (key === KEY ? place : undefined),
    });
    expect(migration.left).toEqual([
      "the session agent:gone:main is of an agent that is not configured here",
      "1 rows of focus_briefs have no counterpart",
    ]);
    expect(stored("s1").map((message) => said(message))).toEqual([said(user("after"))]);
    expect(stored("s1#1").map((message) => said(message))).toEqual([said(user("before"))]);
  });

  it("reads a database without parts, and parts of kinds that no message has", async () => {
    const { migrate, stored } = setUp((claw) => {
      const id = claw.conversation("s1", null);
      const [message] = claw.say(id, [user("one")]);
      claw.db
        .prepare(
          "INSERT INTO message_parts (part_id, message_id, ordinal, part_type, metadata) VALUES ('p', ?, 9, 'patch', '{\"hash\":1}')",
        )
        .run(message!);
      claw.say(id, [assistant("two")]);
      claw.db.exec("DELETE FROM message_parts WHERE message_id = 2");
      claw.db.exec("UPDATE messages SET role = 'system' WHERE message_id = 3");
    });
    expect(await migrate()).toMatchObject({ rewritten: 1, messages: 2 });
    expect(stored("s1", "").map((message) => said(message))).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: '{"hash":1}' },
        ],
      },
      expect.objectContaining({ role: "assistant", content: [{ type: "text", text: "two" }] }),
    ]);
  });

  it("writes nothing when it only tells", async () => {
    const { migrate, place } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), conversation({ turns: 3 }));
    });
    const { text, added } = await migrate({ dryRun: true });
    expect(text).toMatch(/^Would carry 6 messages and 0 summaries of 1 conversation in /);
    expect(added).toBe(0);
    expect(existsSync(place.file)).toBe(false);
  });

  it("changes no byte of the source, also with a journal beside it", async () => {
    const folder = temporaryFolder();
    const from = join(folder, "lcm.db");
    const open = buildLosslessClaw(from, { journal: "WAL" });
    onTestFinished(() => open.db.close());
    open.say(open.conversation("s1", KEY), conversation({ turns: 5 }));
    const agentDir = temporaryFolder();
    const placeOf = () => ({ file: join(agentDir, "lossless.db"), agentDir });
    const scratch = temporaryFolder();
    // Still open elsewhere, and what was said is in the journal only.
    expect(statSync(`${from}-wal`).size).toBeGreaterThan(0);
    const journals = ({ "lcm.db-shm": _, ...files }: Record<string, string>) => files;
    const before = journals(filesOf(folder));
    expect(await migrateLosslessClaw({ from, placeOf, scratch })).toMatchObject({ messages: 10 });
    expect(journals(filesOf(folder))).toEqual(before);
    // A copy of both, as of a machine that crashed.
    const crashed = temporaryFolder();
    for (const suffix of ["", "-wal"])
      await copyFile(`${from}${suffix}`, join(crashed, `lcm.db${suffix}`));
    const copied = filesOf(crashed);
    const again = { from: join(crashed, "lcm.db"), placeOf, scratch };
    expect(await migrateLosslessClaw(again)).toMatchObject({ messages: 10, added: 0 });
    expect(filesOf(crashed)).toEqual(copied);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it("reads one moment of a database that is written to meanwhile", async () => {
    const folder = temporaryFolder();
    const from = join(folder, "lcm.db");
    const claw = buildLosslessClaw(from);
    claw.say(claw.conversation("s1", KEY), conversation({ turns: 200, tools: 1 }));
    const writer = new DatabaseSync(from, { timeout: 0 });
    onTestFinished(() => {
      writer.close();
      claw.db.close();
    });
    const { messages } = conversationOf(writer);
    let refused = 0;
    const writing = setInterval(() => {
      try {
        writer.exec("DELETE FROM messages WHERE seq % 7 = 3; UPDATE messages SET content = ''");
      } catch {
        refused++;
      }
    }, 1);
    const agentDir = temporaryFolder();
    const placeOf = () => ({ file: join(agentDir, "lossless.db"), agentDir });
    const migration = await migrateLosslessClaw({ from, placeOf, scratch: folder });
    clearInterval(writing);
    expect(migration).toMatchObject({ messages, left: [] });
    expect(refused).toBeGreaterThan(0);
  });

  it("says that a file is none of lossless-claw's", async () => {
    const { place, migrate } = setUp(() => {});
    await expect(migrate({ from: join(temporaryFolder(), "none.db") })).rejects.toThrow(
      /^There is no file /,
    );
    const { release } = useStore(place.file);
    release();
    await expect(migrate({ from: place.file })).rejects.toThrow(
      /is no database of lossless-claw: it has no tables conversations and messages/,
    );
  });

  it("carries the settings that have a counterpart, and says why others have none", async () => {
    const { migrate } = setUp(() => {});
    const { settings, text } = await migrate({
      settings: {
        ...{ ignoreSessionPatterns: ["agent:*:cron:**"], statelessSessionPatterns: [] },
        ...{ summaryTimeoutMs: 45_000, circuitBreakerCooldownMs: 600_000 },
        ...{ contextThreshold: 0.75, leafChunkTokens: 20_000, dbPath: "/x", nonsense: 1 },
        summaryModel: "some-model",
      },
    });
    expect(settings.carried).toEqual({
      ...{ ignoreSessionPatterns: ["agent:*:cron:**"] },
      ...{ summaryTimeoutSeconds: 45, summaryRestMinutes: 10 },
    });
    expect(settings.dropped.map(({ key }) => key)).toEqual([
      ...["contextThreshold", "leafChunkTokens", "dbPath", "nonsense", "summaryModel"],
    ]);
    expect(text).toContain(
      `Setting summaryModel has no counterpart: code makes the summaries, and with summaries: "model" the session's own model adds words to them.`,
    );
    expect(text).toContain(
      `clew config set plugins.entries.lossless.config.ignoreSessionPatterns '["agent:*:cron:**"]'`,
    );
    expect(text).toContain(
      "Setting nonsense has no counterpart: it is no setting of lossless-claw that is known here.",
    );
  });
});

const REAL = process.env.CLEW_TEST_LOSSLESS_CLAW;

/** The store forgets every message that says this. */
async function forgetText(file: string, text: string): Promise<void> {
  const { store, release } = useStore(file);
  try {
    const numbers = await numbersOf(
      (ask) => store.read(ask),
      (message) => JSON.stringify(message).includes(text),
    );
    expect(forget(store, { numbers, sessions: [] }, READER)).toBeGreaterThan(0);
  } finally {
    release();
  }
}

const ENDLESS =
  "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS rowid, x AS conversation_id, x AS file_id FROM c WHERE x < 0";

describe("a database of lossless-claw that somebody made up", () => {
  it.each([
    ["a view", `DROP TABLE focus_briefs; ${ENDLESS.replace("endless", "focus_briefs")}`],
    ["a view", `DROP TABLE large_files; ${ENDLESS.replace("endless", "large_files")}`],
    ["a view", `DROP TABLE large_files; ${ENDLESS.replace("endless", "Large_Files")}`],
    [
      "a search index over a view",
      `${ENDLESS}; DROP TABLE large_files; CREATE VIRTUAL TABLE large_files USING fts5 (file_id, conversation_id, content = 'endless')`,
    ],
    [
      "a search index over a view, called otherwise,",
      `${ENDLESS}; DROP TABLE large_files; CREATE VIRTUAL TABLE large_files USING fts5 (file_id, conversation_id, content = 'endless'); PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'CREATE VIRTUAL', 'create/**/ VIRTUAL'), rootpage = 2 WHERE name = 'large_files'`,
    ],
  ])("is refused with a sentence where it has %s in a table's place", async (_, sql) => {
    const { migrate } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), conversation({ turns: 2 }));
      claw.db.enableDefensive?.(false);
      for (const statement of sql.split(";")) claw.db.exec(statement);
    });
    await expect(migrate()).rejects.toThrow(
      /is no database of lossless-claw: (?:large_files|Large_Files|focus_briefs) is no table of it/,
    );
  });

  it("is not computed with: columns that follow from others are none of it", async () => {
    const { migrate, stored } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), [user("one"), user("two")]);
      claw.db.exec(
        "ALTER TABLE messages ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(600000000))) VIRTUAL",
      );
    });
    expect((await migrate()).left).toEqual([]);
    expect(stored()).toHaveLength(2);
  });

  it("is read in time where each summary is made of two, and each of those of both below", async () => {
    const { migrate, stored } = setUp((claw) => {
      const id = claw.conversation("s1", KEY);
      const of = claw.say(id, [user("one"), user("two"), user("three")]);
      const leaf = { conversation: id, depth: 0, content: "Leaf." };
      claw.summary({ id: "sum_0_0", ...leaf, of: of.slice(0, 1) });
      claw.summary({ id: "sum_0_1", ...leaf, of: of.slice(1, 2) });
      for (let depth = 1; depth < 60; depth++)
        for (const side of [0, 1])
          claw.summary({
            ...{ id: `sum_${depth}_${side}`, conversation: id, depth, content: "Above." },
            of: [`sum_${depth - 1}_0`, `sum_${depth - 1}_1`, "sum_59_0"],
          });
    });
    expect(await migrate()).toMatchObject({ summaries: 120, left: [] });
    expect(stored().map(({ role }) => role)).toEqual([
      ...["user", "custom", "user", ...Array(119).fill("custom"), "user"],
    ]);
  });

  it("leaves out what is larger than any message, and says so", async () => {
    const { migrate, stored } = setUp((claw, folder) => {
      const id = claw.conversation("s1", KEY);
      const [first, , third] = claw.say(id, conversation({ turns: 2, tools: 1 }));
      claw.say(id, [user("behind")]);
      const large = 70 * 1024 * 1024;
      claw.db
        .prepare("UPDATE message_parts SET metadata = zeroblob(?) WHERE message_id = ?")
        .run(large, first!);
      mkdirSync(join(folder, "lcm-files"));
      const file = join(folder, "lcm-files", "large.txt");
      claw.moveOut({ conversation: id, message: third!, file, text: "short" });
      claw.db.exec("UPDATE large_files SET byte_size = NULL");
      truncateSync(file, 5 * 1024 * 1024 * 1024);
    });
    const { left, text, missingFiles, messages } = await migrate();
    expect(left).toEqual([`message 1 of the session ${KEY} is larger than 64 MB`]);
    expect(messages).toBe(8);
    expect(missingFiles).toEqual(["file_3"]);
    expect(text).toContain("1 file not there, changed since or larger than 64 MB;");
    expect(
      stored()
        .map((message) => JSON.stringify(message))
        .join(),
    ).toContain("behind");
  });

  it("is refused where its folder of files is a link, unless somebody names that", async () => {
    const elsewhere = temporaryFolder();
    const file = join(elsewhere, "private.txt");
    const { migrate, stored, folder } = setUp((claw, folder) => {
      const id = claw.conversation("s1", KEY);
      const [, , result] = claw.say(id, conversation({ turns: 1, tools: 1 }));
      claw.moveOut({ conversation: id, message: result!, file, text: "of somebody else" });
      symlinkSync(elsewhere, join(folder, "lcm-files"));
    });
    const { left, missingFiles } = await migrate();
    expect(left).toEqual([
      `what it moved to files: ${join(folder, "lcm-files")} is a link to another folder; name that one (--files) if it is lossless-claw's`,
    ]);
    expect(missingFiles).toEqual(["file_3"]);
    expect(JSON.stringify(stored())).not.toContain("of somebody else");
    const named = setUp((claw) => {
      const id = claw.conversation("s1", KEY);
      const [, , result] = claw.say(id, conversation({ turns: 1, tools: 1 }));
      claw.moveOut({ conversation: id, message: result!, file, text: "of somebody else" });
    });
    expect((await named.migrate({ filesFolder: join(folder, "lcm-files") })).left).toEqual([]);
    expect(JSON.stringify(named.stored())).toContain("of somebody else");
  });

  it("is refused where its pages bring the same rows again and again", async () => {
    const { migrate, from } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), [user("one")]);
      const rows =
        "WITH r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 90) SELECT n FROM r";
      claw.db.exec(`INSERT INTO focus_briefs ${rows}; CREATE TABLE spare (a)`);
    });
    const db = new DatabaseSync(from);
    db.enableDefensive?.(false);
    const rootOf = (table: string) =>
      Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.rootpage);
    const [leaf, spare] = [rootOf("focus_briefs"), rootOf("spare")];
    db.exec(`PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE name = 'spare';
      UPDATE sqlite_schema SET rootpage = ${spare} WHERE name = 'focus_briefs'`);
    db.close();
    // A page above others that has six hundred times the same one below it.
    const bytes = readFileSync(from);
    const size = bytes.readUInt16BE(16);
    const page = bytes.subarray((spare - 1) * size, spare * size);
    const cell = size - 5;
    page.writeUInt8(5, 0);
    page.writeUInt16BE(600, 3);
    page.writeUInt16BE(cell, 5);
    page.writeUInt32BE(leaf, 8);
    for (let at = 0; at < 600; at++) page.writeUInt16BE(cell, 12 + 2 * at);
    page.writeUInt32BE(leaf, cell);
    page.writeUInt8(90, cell + 4);
    writeFileSync(from, bytes);
    await expect(migrate()).rejects.toThrow(
      /its table focus_briefs brings more rows than the file has room for; mend it/,
    );
  });

  it("is carried where a session file cannot be read, which is named", async () => {
    const { migrate, stored, folder } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), [user("one")]);
    });
    writeFileSync(join(folder, "s1.jsonl"), "no session\n");
    const { left } = await migrate({ sessions: folder });
    expect(left).toEqual([expect.stringContaining("s1.jsonl is no session file")]);
    expect(stored()).toHaveLength(1);
  });

  it("is named where it is no database at all", async () => {
    const from = join(temporaryFolder(), "lcm.db");
    writeFileSync(from, "no database ".repeat(500));
    const { migrate } = setUp(() => {});
    await expect(migrate({ from })).rejects.toThrow(
      `${from} is no database of lossless-claw: it is no SQLite database; name its lcm.db.`,
    );
  });
});

describe("what was forgotten here", () => {
  const told = [
    user("hello"),
    user("The word is marigold."),
    assistant("Noted: marigold."),
    user("thanks"),
  ];

  it.each([
    ["with the same id", (at: number) => `e${at}`],
    ["without an id, at another time", () => null],
  ])("stays forgotten where lossless-claw has it %s", async (_, entryId) => {
    const { migrate, stored, folder, place } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), told, entryId);
    });
    const file = sessionFile("s1", "e", {
      ...{ path: join(folder, "s1.jsonl"), sessionKey: KEY, timestamp: "2026-01-01T00:00:00.000Z" },
    });
    file.say(...told);
    await migrate({ sessions: folder });
    await forgetText(place.file, "marigold");
    const again = await migrate({ sessions: join(folder, "none") });
    expect(again.forgotten).toBe(2);
    expect(again.text).toContain("2 messages that were forgotten here stay forgotten");
    expect(JSON.stringify(stored())).not.toContain("marigold");
  });

  it("stays forgotten where all of its session was, and no more than that", async () => {
    const { migrate, stored, folder, place } = setUp((claw) => {
      claw.say(claw.conversation("s1", KEY), told);
      claw.say(claw.conversation("s2", "agent:main:other"), [user("hello"), user("hello")]);
    });
    const file = sessionFile("s1", "e", {
      ...{ path: join(folder, "s1.jsonl"), sessionKey: KEY, timestamp: "2026-01-01T00:00:00.000Z" },
    });
    file.say(...told);
    await migrate({
      sessions: folder,
      placeOf: (key) => (key === KEY ? { ...place, sessionFile: () => file.path } : undefined),
    });
    const { store, release } = useStore(place.file);
    forget(
      store,
      { numbers: [1, 2, 3, 4], sessions: [{ sessionId: "s1", sessionKey: KEY, owner: ".." }] },
      READER,
    );
    release();
    expect(await migrate({ sessions: join(folder, "none") })).toMatchObject({ forgotten: 4 });
    expect(stored()).toEqual([]);
    expect(stored("s2", "agent:main:other")).toHaveLength(2);
  });

  it("takes with it the summaries of lossless-claw that stand for it", async () => {
    const { migrate, stored, folder, place } = setUp((claw) => {
      const id = claw.conversation("s1", KEY);
      const [one, two, three, four] = claw.say(id, told);
      const leaf = { conversation: id, depth: 0 };
      claw.summary({ id: "sum_1", ...leaf, content: "Greetings.", of: [one!] });
      claw.summary({ id: "sum_2", ...leaf, content: "A word, m.", of: [two!, three!] });
      claw.summary({ id: "sum_3", ...leaf, content: "Thanks.", of: [four!] });
      claw.summary({ id: "sum_4", ...leaf, content: "Of unknown things.", of: [] });
      const above = { conversation: id, depth: 1, content: "All of it, m." };
      claw.summary({ id: "sum_5", ...above, of: ["sum_1", "sum_2", "sum_5"] });
    });
    const file = sessionFile("s1", "e", {
      ...{ path: join(folder, "s1.jsonl"), sessionKey: KEY, timestamp: "2026-01-01T00:00:00.000Z" },
    });
    file.say(...told);
    await migrate({ sessions: folder, summaries: false });
    await forgetText(place.file, "marigold");
    const { left, summaries } = await migrate({ sessions: join(folder, "none") });
    expect(summaries).toBe(2);
    expect(left).toEqual([`3 summaries of what was forgotten here, in the session ${KEY}`]);
    expect(JSON.stringify(stored())).toMatch(/Greetings.*Thanks/);
    expect(JSON.stringify(stored())).not.toMatch(/, m\.|unknown things/);
  });
});

describe("a real database of lossless-claw, named by CLEW_TEST_LOSSLESS_CLAW", () => {
  it.skipIf(REAL === undefined)("is carried whole, and stays as it is", async () => {
    const named = REAL!;
    const from = statSync(named).isDirectory() ? join(named, "lcm.db") : named;
    const before = readFileSync(from);
    const agentDir = temporaryFolder();
    const placeOf = () => ({ file: join(agentDir, "lossless.db"), agentDir });
    const scratch = temporaryFolder();
    const migration = await migrateLosslessClaw({ from, placeOf, scratch });
    console.info(migration.text);
    const source = await readLosslessClaw(from, scratch);
    onTestFinished(() => source.close());
    expect(migration.conversations).toBe(source.conversations.length);
    expect(migration.added).toBe(migration.messages + migration.summaries);
    expect(readFileSync(from).equals(before)).toBe(true);
  });
});
