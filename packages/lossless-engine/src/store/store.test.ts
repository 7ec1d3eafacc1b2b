import { globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { conversation } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { keepFromWriting } from "../testing/keep-from-writing.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { storeMessages } from "./messages.ts";
import { type Store, useStore } from "./store.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const turn = (prefix: string, turns = 1) => ({
  session,
  messages: namedWithIds(conversation({ turns, tools: 1 }), prefix),
  from: "told" as const,
});
const countOf = (store: Store) =>
  store.read((sql) => Number(sql("SELECT count(*) AS rows FROM message").get()?.rows));

function failureOf(work: () => unknown): ContextEngineError {
  try {
    work();
  } catch (error) {
    if (ContextEngineError.is(error, "STORAGE_FAILED")) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

describe("the uses of a database", () => {
  it("share one connection, which is closed with the last of them", () => {
    const file = join(temporaryFolder(), "agent", "lossless.db");
    const [one, two] = [useStore(file), useStore(file)];
    expect(one.store).toBe(two.store);
    storeMessages(one.store, turn("a"));
    one.release();
    one.release();
    expect(countOf(two.store)).toBe(4);
    two.release();
    const besideIt = () => readdirSync(dirname(file));
    expect(besideIt()).toEqual(["lossless.db"]);
    // A call that outlives it asks all the same.
    expect(countOf(two.store)).toBe(4);
    expect(besideIt()).toEqual(["lossless.db"]);
  });

  it("begin again after the last was given up", () => {
    const file = join(temporaryFolder(), "lossless.db");
    for (const [prefix, stored] of [
      ["a", 4],
      ["b", 8],
    ] as const) {
      const { store, release } = useStore(file);
      storeMessages(store, turn(prefix));
      expect(countOf(store)).toBe(stored);
      release();
    }
  });

  it("leave nothing open when the file cannot be used", () => {
    const file = join(temporaryFolder(), "lossless.db");
    writeFileSync(file, "this is no database, but as long as the header of one ".repeat(4));
    expect(failureOf(() => useStore(file)).message).toBe(
      `The lossless engine cannot use its database ${file}: it is no database; move it away, or name another file.`,
    );
    writeFileSync(file, "");
    expect(countOf(temporaryStore(file))).toBe(0);
  });
});

describe("a change that fails", () => {
  it("stores nothing of itself, and nothing of what was there is lost", () => {
    const store = temporaryStore();
    storeMessages(store, turn("a"));
    expect(() =>
      store.change((sql) => {
        sql("DELETE FROM message").run();
        throw new Error("changed my mind");
      }),
    ).toThrow("changed my mind");
    expect(countOf(store)).toBe(4);
  });

  it("says that another program is writing, and works when that one is done", () => {
    const store = temporaryStore();
    const other = new DatabaseSync(store.path);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const { message, cause } = failureOf(() => storeMessages(store, turn("a")));
    expect(message).toContain("another program is writing to it");
    // What a host recognises a busy store by.
    expect(cause).toMatchObject({ code: "ERR_SQLITE_ERROR", errcode: 5 });
    expect(countOf(store)).toBe(0);
    other.exec("COMMIT");
    expect(storeMessages(store, turn("a")).added).toBe(4);
  });

  it("says that the disk is full, keeps what was stored, and works when there is room", () => {
    const pages = vi.spyOn(DatabaseSync.prototype, "exec");
    const store = temporaryStore();
    const [db] = pages.mock.contexts as DatabaseSync[];
    pages.mockRestore();
    storeMessages(store, turn("a"));
    const { page_count: used } = db!.prepare("PRAGMA page_count").get() as { page_count: number };
    db!.exec(`PRAGMA max_page_count = ${used}`);
    expect(failureOf(() => storeMessages(store, turn("b", 40))).message).toContain(
      "the disk is full; free some space",
    );
    expect(countOf(store)).toBe(4);
    db!.exec("PRAGMA max_page_count = 1000000");
    expect(storeMessages(store, turn("b", 40)).added).toBe(160);
  });

  it("says that the file is read-only, reads it, and works when it can be written", () => {
    const file = join(temporaryFolder(), "lossless.db");
    const before = useStore(file);
    storeMessages(before.store, turn("a"));
    before.release();
    const free = keepFromWriting(file);
    const { store, release } = useStore(file);
    onTestFinished(release);
    expect(failureOf(() => storeMessages(store, turn("b"))).message).toContain("it is read-only");
    expect(countOf(store)).toBe(4);
    free();
    expect(storeMessages(store, turn("b")).added).toBe(4);
  });

  it("of a file that is a folder says so", () => {
    const folder = temporaryFolder();
    expect(failureOf(() => useStore(folder)).message).toBe(
      `The lossless engine cannot use its database ${folder}: what stands there is no file; name another path.`,
    );
  });

  it("of a folder that is a file says so", () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    expect(failureOf(() => useStore(join(file, "lossless.db"))).message).toMatch(
      /its folder cannot be made \((EEXIST|ENOTDIR)\); name another file\.$/,
    );
  });

  it.runIf(process.platform === "linux")("where no folder can be made ends and says so", () => {
    expect(failureOf(() => useStore("/proc/nowhere/at/all/lossless.db")).message).toMatch(
      /its folder cannot be made \(ENOENT\); name another file\.$/,
    );
  });
});

describe("two processes on one file", () => {
  it("see each other's messages, and store none twice", () => {
    const store = temporaryStore();
    const other = new DatabaseSync(store.path);
    onTestFinished(() => other.close());
    storeMessages(store, turn("a"));
    const rows = () => other.prepare("SELECT count(*) AS rows FROM message").get();
    expect(rows()).toEqual({ rows: 4 });
    other.exec("INSERT INTO message VALUES (100, 1, 'b0', 9, 'user', NULL, 0, '{}')");
    expect(storeMessages(store, turn("b")).added).toBe(3);
  });
});

it("no file outside this folder knows SQLite", () => {
  const source = join(import.meta.dirname, "..");
  const outside = globSync("**/*.ts", { cwd: source })
    .filter((path) => !/^(store|testing)\/|\.test\.ts$/.test(path.replaceAll("\\", "/")))
    .filter((path) =>
      /node:sqlite|\bsql\(|\bSELECT\b/.test(readFileSync(join(source, path), "utf8")),
    );
  expect(outside).toEqual([]);
});
