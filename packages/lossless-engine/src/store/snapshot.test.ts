import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { conversation } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { storeMessages } from "./messages.ts";
import { IN_MEMORY, useStore } from "./store.ts";

const session = { sessionId: "s", sessionKey: "k" };

/** A database of some hundred pages, and another program's connection to it. */
function databaseInUse() {
  const store = temporaryStore();
  const messages = namedWithIds(conversation({ turns: 200, tools: 1, toolResultChars: 3_000 }));
  storeMessages(store, { session, messages, from: "told" });
  const other = new DatabaseSync(store.path);
  onTestFinished(() => other.close());
  const write = () => other.exec("INSERT INTO conversation DEFAULT VALUES");
  return { store, messages, write };
}

const conversationsIn = (file: string) => {
  const db = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => db.close());
  expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  return db.prepare("SELECT count(*) AS rows FROM conversation").get()?.rows;
};

describe("a copy of a database", () => {
  it("is of one moment and comes to its end, however often another program writes", async () => {
    const { store, write } = databaseInUse();
    const file = join(temporaryFolder(), "copy.db");
    const written: number[] = [];
    await store.copyTo(file, {
      onProgress(copied, pages) {
        expect(copied).toBeLessThanOrEqual(pages);
        written.push(copied);
        write();
        if (written.length > 1_000) throw new Error("It begins anew for ever.");
      },
    });
    expect(written.length).toBeGreaterThan(1);
    expect(conversationsIn(file)).toBe(1);
  });

  it("leaves nothing behind when it is ended", async () => {
    const { store } = databaseInUse();
    const file = join(temporaryFolder(), "copy.db");
    const ending = new AbortController();
    const { signal } = ending;
    const copying = store.copyTo(file, { signal, onProgress: () => ending.abort() });
    await expect(copying).rejects.toMatchObject({ name: "AbortError" });
    expect([file, `${file}.unfinished`].filter((path) => existsSync(path))).toEqual([]);
  });

  it("can be made of one in memory", async () => {
    const { store, release } = useStore(IN_MEMORY);
    onTestFinished(release);
    const messages = namedWithIds(conversation({ turns: 2 }));
    storeMessages(store, { session, messages, from: "told" });
    const file = join(temporaryFolder(), "copy.db");
    await store.copyTo(file);
    expect(conversationsIn(file)).toBe(1);
  });
});

describe("a snapshot", () => {
  it("says the same after another program wrote", () => {
    const { store, write } = databaseInUse();
    const snapshot = store.snapshot();
    onTestFinished(() => snapshot.close());
    const count = () =>
      snapshot.read((sql) => sql("SELECT count(*) AS rows FROM conversation").get()?.rows);
    write();
    expect(count()).toBe(1);
    write();
    expect(count()).toBe(1);
    expect(store.read((sql) => sql("SELECT count(*) AS rows FROM conversation").get()?.rows)).toBe(
      3,
    );
  });
});
