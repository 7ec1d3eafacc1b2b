import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { namedWithIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { VERSIONS } from "./__fixtures__/before-release.ts";
import { withTrigrams, withWords } from "./candidates.ts";
import { conversationsOf } from "./conversations.ts";
import { cursorOf } from "./cursors.ts";
import { filesIn } from "./files.ts";
import { holdingsOf } from "./health.ts";
import { readMessages, storeMessages } from "./messages.ts";
import { backupPath } from "./migrate.ts";
import { APPLICATION_ID } from "./migrations.ts";
import { backlogOf, indexMore } from "./search-index.ts";
import { useStore } from "./store.ts";

const everywhere = { conversations: null, limit: 10 };
const session = { sessionId: "s", sessionKey: "k" };
const LONG = "a long text";

/** A file as that version left it, with something in every table that lasts. */
function databaseOf(version: number): string {
  const file = join(temporaryFolder(), "lossless.db");
  const db = new DatabaseSync(file);
  for (const change of VERSIONS.slice(0, version)) db.exec(change);
  db.exec(`
    PRAGMA user_version = ${version}; PRAGMA application_id = ${APPLICATION_ID};
    INSERT INTO conversation (id, turns) VALUES (1, 1);
    INSERT INTO transcript (session_id, session_key, conversation) VALUES ('s', 'k', 1);
    INSERT INTO message VALUES
      (1, 1, 'a', 1, 'user', 1, 0, '{"role":"user","content":"old lighthouses"}'),
      (2, 1, 'b', 1, 'user', 2, 4, '{"role":"user","content":""}');
    INSERT INTO payload VALUES (7, x'${createHash("sha256").update(LONG).digest("hex")}', '${LONG}');
    INSERT INTO payload_use VALUES (2, '["content"]', 7);
    INSERT INTO advancement VALUES (1, 'turn 1');
    INSERT INTO cursor VALUES (1, 20, 10, x'03', 'b');
    INSERT INTO words (rowid, text) VALUES (1, 'old lighthouses');
    UPDATE watermark SET indexed = 1;
  `);
  db.close();
  return file;
}

describe("a database of a version before the first release", () => {
  it.each(VERSIONS.map((_, at) => at + 1))("%i keeps all that it was told", (version) => {
    const file = databaseOf(version);
    const { store, release } = useStore(file);
    onTestFinished(release);
    const copies = readdirSync(dirname(file)).filter((name) => name.includes("version"));
    expect(copies.map((name) => join(dirname(file), name))).toEqual([backupPath(file, version)]);
    expect(holdingsOf(store)).toMatchObject({ messages: 2, conversations: 1 });
    expect(readMessages(store, { conversation: 1, limit: 9 })).toMatchObject([
      { seq: 1, name: "a", message: { content: "old lighthouses" } },
      { seq: 2, name: "b", message: { content: LONG }, hasFiles: true },
    ]);
    expect(filesIn(store, 2)).toMatchObject([{ text: LONG }]);
    expect(cursorOf(store, session)).toMatchObject({ bytes: 20, entry: "b" });
    const told = (messages: Parameters<typeof namedWithIds>[0], advancementKey: string) =>
      storeMessages(store, {
        ...{ session, from: "told", advancementKey },
        messages: namedWithIds(messages, "n"),
      });
    expect(told([], "turn 1").isDuplicate).toBe(true);
    expect(told([user("a new lighthouse")], "turn 2").added).toBe(1);
    expect(backlogOf(store)).toBe(3);
    while (!indexMore(store, () => true));
    expect(withWords(store, "lighthouse", everywhere)).toEqual([3, 1]);
    expect(withTrigrams(store, "ld light", everywhere)).toEqual([1]);
  });

  it("becomes the same as a new one", () => {
    const schemaOf = (file: string) => {
      useStore(file).release();
      const db = new DatabaseSync(file, { readOnly: true });
      const schema = db.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
      const version = db.prepare("PRAGMA user_version").get();
      db.close();
      return { schema, version };
    };
    const anew = schemaOf(join(temporaryFolder(), "lossless.db"));
    for (const [at] of VERSIONS.entries()) expect(schemaOf(databaseOf(at + 1))).toEqual(anew);
  });

  it("belongs to whoever goes on with its sessions first", () => {
    const { store, release } = useStore(databaseOf(5));
    onTestFinished(release);
    const [one, other] = ["one", "other"].map((owner) => ({ ...session, owner }));
    const tell = (of: typeof session, prefix: string) =>
      storeMessages(store, {
        ...{ session: of, from: "told" },
        messages: namedWithIds([user("on it goes", { timestamp: 9 })], prefix),
      });
    const conversations = (of: typeof session) => store.read((sql) => conversationsOf(sql, of));
    const next = { ...one!, sessionId: "s2" };
    tell(next, "n");
    expect(conversations(next)).toEqual([2, 1]);
    tell(other!, "o");
    expect(conversations(other!)).toEqual([3]);
    tell(one!, "p");
    expect(conversations(one!)).toEqual([2, 1]);
  });
});
