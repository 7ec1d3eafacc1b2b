import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { acquireLock, isInForce, type Lock, readOwner } from "./lock.ts";

async function lockFile(): Promise<string> {
  return join(await temporaryHome(), "it.lock");
}

async function acquired(file: string): Promise<Lock> {
  const outcome = await acquireLock(file);
  if (!outcome.held) throw new Error(`held by ${JSON.stringify(outcome.owner)}`);
  return outcome.lock;
}

const deadOwner = (token: string) =>
  JSON.stringify({ token, pid: 2 ** 22 + 1, started: "once", host: hostname(), since: "2026" });

describe("a lock", () => {
  it("is held by one until it is released, and leaves nothing behind", async () => {
    const file = await lockFile();
    const lock = await acquired(file);
    expect(await lock.isHeld()).toBe(true);
    expect(await acquireLock(file)).toMatchObject({ held: false, owner: { pid: process.pid } });
    await lock.release();
    expect(await lock.isHeld()).toBe(false);
    expect(await readdir(dirname(file))).toEqual([]);
  });

  it("that others replaced meanwhile stays theirs when the first lets go", async () => {
    const file = await lockFile();
    const lock = await acquired(file);
    await writeFile(file, deadOwner("theirs"));
    await lock.release();
    expect(await readOwner(file)).toMatchObject({ token: "theirs" });
  });

  it("of a dead process is taken over, together with what an earlier attempt left", async () => {
    const file = await lockFile();
    await writeFile(file, deadOwner("first"));
    await writeFile(`${file}.first`, deadOwner("second"));
    const lock = await acquired(file);
    expect(lock.takenFrom).toMatchObject({ token: "second", isCopy: false });
    expect(await readdir(dirname(file))).toEqual(["it.lock"]);
    expect(await lock.isHeld()).toBe(true);
  });

  it("of a dead process takes along the drafts that dead ones left, and no others", async () => {
    const file = await lockFile();
    await writeFile(file, deadOwner("first"));
    const draftOf = (name: string) => join(dirname(file), `other.lock.draft-${name}`);
    await writeFile(draftOf("0a"), deadOwner("dead"));
    const alive = { token: "alive", pid: process.pid, started: null, host: hostname() };
    await writeFile(draftOf("0b"), JSON.stringify({ ...alive, since: "2026" }));
    await acquired(file);
    expect((await readdir(dirname(file))).sort()).toEqual(["it.lock", "other.lock.draft-0b"]);
  });

  it("of a process whose start nobody knows is in force while there is such a process", async () => {
    const file = await lockFile();
    const owner = { token: "t", started: null, host: hostname(), since: "2026" };
    for (const [pid, inForce] of [
      [process.pid, true],
      [2 ** 22 + 1, false],
    ] as const) {
      await writeFile(file, JSON.stringify({ ...owner, pid }));
      expect(await isInForce((await readOwner(file))!)).toBe(inForce);
    }
  });

  it("locks nothing in a copy of its folder, and the copy's lock nothing in the original", async () => {
    const [home, copy] = [await temporaryHome(), join(await temporaryHome(), "copy")];
    const lock = await acquired(join(home, "it.lock"));
    await cp(home, copy, { recursive: true });
    const copied = await acquired(join(copy, "it.lock"));
    expect(copied.takenFrom).toMatchObject({ pid: process.pid, isCopy: true });
    expect(await readdir(copy)).toEqual(["it.lock"]);
    expect(await lock.isHeld()).toBe(true);
    expect(await acquireLock(join(home, "it.lock"))).toMatchObject({ held: false });
    await copied.release();
    expect(await lock.isHeld()).toBe(true);
  });

  it("stays in force when its folder is moved, or its content written anew", async () => {
    const home = await temporaryHome();
    await mkdir(join(home, "a"));
    await acquired(join(home, "a/it.lock"));
    await rename(join(home, "a"), join(home, "b"));
    const moved = join(home, "b/it.lock");
    expect(await acquireLock(moved)).toMatchObject({ held: false, owner: { isCopy: false } });
    await rename(join(home, "b"), join(home, "a"));
    await cp(join(home, "a/it.lock"), join(home, "a/restored"));
    await rename(join(home, "a/restored"), join(home, "a/it.lock"));
    expect(await acquireLock(join(home, "a/it.lock"))).toMatchObject({ held: false });
    expect(await readFile(join(home, "a/it.lock"), "utf8")).not.toContain(home);
  });

  it("that cannot be read is nobody's to take", async () => {
    const file = await lockFile();
    await writeFile(file, "?");
    expect(await acquireLock(file)).toEqual({ held: false, owner: null, file });
    expect(await readdir(dirname(file))).toEqual(["it.lock"]);
  });
});
