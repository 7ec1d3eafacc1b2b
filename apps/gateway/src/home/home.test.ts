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
    await prepareHome(home);
    expect(await readdir(home)).toEqual([]);
    await prepareHome(home);
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
      await expect(prepareHome(home)).rejects.toMatchObject({
        code: "STORAGE_FAILED",
        message: `The home ${home} cannot be written: a part of the path is not a folder; set CLEW_HOME to a folder you may write to and try again.`,
      });
  });

  it.runIf(process.platform === "linux")("is found out at once below /proc", async () => {
    await expect(prepareHome("/proc/nope/home")).rejects.toThrow("no folder can be created there");
  });

  it.skipIf(process.getuid?.() === 0)("is said to be read-only", async () => {
    const home = await temporaryHome();
    await chmod(home, 0o500);
    await expect(prepareHome(home)).rejects.toThrow("permission denied");
  });
});

describe("a claimed home", () => {
  const refusal = (home: string) =>
    claimHome(home).then(
      () => undefined,
      (error: unknown) => error,
    );

  it("is refused to a second gateway until the first lets go of it", async () => {
    const home = await temporaryHome();
    const first = await claimHome(home);
    const next = `(process ${process.pid}); stop that one first, or set CLEW_HOME to another folder.`;
    expect(await refusal(home)).toMatchObject({
      code: "GATEWAY_RUNNING",
      message: `The gateway of ${home} is just starting ${next}`,
    });
    first.announce(4321);
    expect(await refusal(home)).toMatchObject({
      message: `The gateway of ${home} runs at http://127.0.0.1:4321 ${next}`,
    });
    await first.release();
    expect(await readdir(home)).toEqual([]);
    const third = await claimHome(home);
    third.announce(4322);
    // Late, the first must not take away what is the third's.
    await first.release();
    expect(readGatewayFile(home)).toMatchObject({ port: 4322 });
    await third.release();
  });

  it("says which file to delete when nobody can tell who claimed it", async () => {
    const home = await temporaryHome();
    const file = join(home, "gateway.lock");
    await writeFile(file, "?");
    expect(await refusal(home)).toMatchObject({
      message: expect.stringContaining(`${file} cannot be read`),
    });
    const owner = { token: "t", pid: 1, started: "x", host: "attic", since: "2026-01-01" };
    await writeFile(file, JSON.stringify(owner));
    expect(await refusal(home)).toMatchObject({
      message: expect.stringContaining("runs on attic (process 1, since 2026-01-01)"),
    });
  });
});
