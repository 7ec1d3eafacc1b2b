import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { claimHome } from "./claim.ts";
import { readGatewayFile } from "./gateway-file.ts";
import { hashOfHome } from "./identity.ts";
import { prepareHome } from "./prepare-home.ts";

describe("a home that can be written", () => {
  it("is made with the folders above it, and nothing is left of the attempt", async () => {
    const home = join(await temporaryHome(), "a/b/home");
    expect(await prepareHome(home)).toBeNull();
    expect(await readdir(home)).toEqual([]);
    expect(await prepareHome(home)).toBeNull();
  });

  it("has one name, however its path is spelled", async () => {
    const folder = await temporaryHome();
    await mkdir(join(folder, "home"));
    await symlink(join(folder, "home"), join(folder, "link"));
    expect(hashOfHome(join(folder, "link"))).toBe(hashOfHome(join(folder, "home")));
    expect(hashOfHome(folder)).not.toBe(hashOfHome(join(folder, "home")));
  });
});

describe("a home that cannot be written", () => {
  it("is said to be a file, or to be below one", async () => {
    const file = join(await temporaryHome(), "file");
    await writeFile(file, "");
    for (const home of [file, join(file, "home")])
      expect(await prepareHome(home)).toBe(
        `Clew cannot keep its files in ${home}: a part of the path is not a folder; set CLEW_HOME to a folder you may write to.`,
      );
  });

  it.runIf(process.platform === "linux")("is found out at once below /proc", async () => {
    expect(await prepareHome("/proc/nope/home")).toMatch(/^Clew cannot keep its files in \/proc/);
  });

  it.skipIf(process.getuid?.() === 0)("is said to be read-only", async () => {
    const home = await temporaryHome();
    await chmod(home, 0o500);
    expect(await prepareHome(home)).toContain("permission denied");
  });
});

describe("a claimed home", () => {
  it("is refused to a second gateway until the first lets go of it", async () => {
    const home = await temporaryHome();
    const first = await claimHome(home);
    if (!first.claimed) throw new Error(first.reason);
    const refusals = async () => {
      const second = await claimHome(home);
      return second.claimed ? null : second.reason;
    };
    const process_ = `(process ${process.pid}); stop that one first, or set CLEW_HOME to another folder.`;
    expect(await refusals()).toBe(`The gateway of ${home} is just starting ${process_}`);
    first.announce(4321);
    expect(await refusals()).toBe(
      `The gateway of ${home} runs at http://127.0.0.1:4321 ${process_}`,
    );
    await first.release();
    expect(await readdir(home)).toEqual([]);
    const third = await claimHome(home);
    expect(third.claimed).toBe(true);
    // Late, the first must not take away what is the third's.
    if (third.claimed) third.announce(4322);
    await first.release();
    expect(readGatewayFile(home)).toMatchObject({ port: 4322 });
    if (third.claimed) await third.release();
  });

  it("says which file to delete when nobody can tell who claimed it", async () => {
    const home = await temporaryHome();
    const file = join(home, "gateway.lock");
    await writeFile(file, "?");
    expect(await claimHome(home)).toEqual({
      claimed: false,
      reason: expect.stringContaining(`delete that file`),
    });
    const owner = { token: "t", pid: 1, started: "x", host: "attic", since: "2026-01-01" };
    await writeFile(file, JSON.stringify(owner));
    expect(await claimHome(home)).toEqual({
      claimed: false,
      reason: expect.stringContaining(`runs on attic (process 1, since 2026-01-01)`),
    });
  });
});
