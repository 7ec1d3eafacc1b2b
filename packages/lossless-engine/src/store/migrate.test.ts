import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { backupPath, migrate } from "./migrate.ts";
import type { Migration } from "./migrations.ts";

const FIRST = "CREATE TABLE one (text TEXT)";
const SECOND = "CREATE TABLE two (text TEXT); INSERT INTO two SELECT text FROM one";

/** Each makes the next version. */
const steps = (...changes: string[]): Migration[] =>
  changes.map((sql, from) => ({ from: [from], to: from + 1, sql }));

function openFile(path = join(temporaryFolder(), "some.db")) {
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  const versionOf = () => db.prepare("PRAGMA user_version").get()?.user_version;
  return { db, path, versionOf };
}

describe("migrations", () => {
  it("make an empty file the newest version, without a copy of nothing", () => {
    const { db, path, versionOf } = openFile();
    migrate(db, path, steps(FIRST, SECOND));
    expect(versionOf()).toBe(2);
    expect(readdirSync(join(path, ".."))).toEqual(["some.db"]);
  });

  it("keep a copy of the file as it was before each", () => {
    const { db, path, versionOf } = openFile();
    migrate(db, path, steps(FIRST));
    db.exec("INSERT INTO one VALUES ('kept')");
    migrate(db, path, steps(FIRST, SECOND));
    expect(versionOf()).toBe(2);
    const before = openFile(backupPath(path, 1));
    expect(before.versionOf()).toBe(1);
    expect(before.db.prepare("SELECT text FROM one").all()).toEqual([{ text: "kept" }]);
  });

  it("change nothing when one fails, and go on where they stopped", () => {
    const { db, path, versionOf } = openFile();
    migrate(db, path, steps(FIRST));
    expect(() =>
      migrate(db, path, steps(FIRST, `${SECOND}; CREATE TABLE one (text TEXT)`)),
    ).toThrow();
    expect(versionOf()).toBe(1);
    expect(db.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "one" }]);
    migrate(db, path, steps(FIRST, SECOND));
    expect(versionOf()).toBe(2);
  });

  it("do not begin where no copy can be written", () => {
    const { db, path, versionOf } = openFile();
    migrate(db, path, steps(FIRST));
    // What `VACUUM INTO` would do on a full disk: it does not come to its end.
    db.exec("BEGIN");
    expect(() => migrate(db, path, steps(FIRST, SECOND))).toThrow();
    db.exec("ROLLBACK");
    expect(versionOf()).toBe(1);
    expect(readdirSync(join(path, "..")).filter((name) => !name.startsWith("some.db"))).toEqual([]);
  });

  it("run once when another process was faster", () => {
    const { db, path } = openFile();
    migrate(db, path, steps(FIRST));
    const other = openFile(path);
    migrate(other.db, path, steps(FIRST, SECOND));
    migrate(db, path, steps(FIRST, SECOND));
    expect(db.prepare("SELECT count(*) AS rows FROM two").get()).toEqual({ rows: 0 });
  });

  it("lead on from several versions at once, with one copy", () => {
    const { db, path, versionOf } = openFile();
    migrate(db, path, steps(FIRST));
    const joined = [
      { from: [0], to: 3, sql: `${FIRST}; ${SECOND}` },
      { from: [1, 2], to: 3, sql: SECOND },
    ];
    migrate(db, path, joined);
    expect(versionOf()).toBe(3);
    expect(readdirSync(join(path, "..")).toSorted()).toEqual(["some.db", "some.db.version-1"]);
  });

  it("refuse a version that nothing leads on from, and leave the file as it is", () => {
    const { db, path, versionOf } = openFile();
    migrate(db, path, steps(FIRST, SECOND));
    const later = [{ from: [0, 1], to: 3, sql: SECOND }];
    expect(() => migrate(db, path, later)).toThrow(/of an unknown version, 2; move it away/);
    expect(versionOf()).toBe(2);
  });

  it("refuse a file of a newer release, and leave it as it is", () => {
    const { db, path, versionOf } = openFile();
    migrate(db, path, steps(FIRST, SECOND));
    expect(() => migrate(db, path, steps(FIRST))).toThrow(/written by a newer release/);
    expect(versionOf()).toBe(2);
  });

  it("refuse another program's database, and leave it as it is", () => {
    const { db, path, versionOf } = openFile();
    db.exec("CREATE TABLE theirs (text TEXT)");
    expect(() => migrate(db, path, steps(FIRST))).toThrow(/another program's database/);
    expect(versionOf()).toBe(0);
  });
});
