import { spawnSync } from "node:child_process";
import { chmod, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { claimHome } from "./claim.ts";
import { readGatewayFile } from "./gateway-file.ts";
import { hashOfHome } from "./identity.ts";
import { prepareHome } from "./prepare-home.ts";

const PREPARE = new URL("./prepare-home.ts", import.meta.url).href;
const CLAIM = new URL("./claim.ts", import.meta.url).href;

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

  it.skipIf(process.platform === "win32")("is found out by writing: the disk is full", async () => {
    const home = await temporaryHome();
    const script = `import { prepareHome } from ${JSON.stringify(PREPARE)};
      await prepareHome(${JSON.stringify(home)}).catch(({ code, message }) => console.log(code, message));`;
    const args = ["--conditions=@clew/source", "--input-type=module", "--eval", script];
    // Files may be made, but no byte written.
    const shell = `trap "" XFSZ; ulimit -f 0; exec "$@"`;
    const ran = spawnSync("/bin/sh", ["-c", shell, "sh", process.execPath, ...args]);
    expect(String(ran.stdout)).toMatch(/^STORAGE_FAILED .* may not grow further /);
    expect(await readdir(home)).toEqual([]);
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
    const next = "stop that one first, or set CLEW_HOME to another folder.";
    const starting = `The gateway of ${home} runs, or is just starting (process ${process.pid}, since `;
    expect(await refusal(home)).toMatchObject({
      code: "GATEWAY_RUNNING",
      message: expect.stringMatching(starting.replace("(", "\\(")),
    });
    first.announce(4321);
    expect(await refusal(home)).toMatchObject({
      message: `The gateway of ${home} runs at http://127.0.0.1:4321 (process ${process.pid}); ${next}`,
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

  it.each<[string, (file: string) => Promise<unknown>]>([
    ["removed", (file) => rm(file)],
    ["emptied", (file) => writeFile(file, "")],
    ["replaced", (file) => writeFile(file, JSON.stringify({ port: 1, secret: "another's" }))],
  ])("is announced again when its file was %s", async (_, damage) => {
    const home = await temporaryHome();
    const claim = await claimHome(home, { lookMs: 5 });
    claim.announce(4321);
    const file = join(home, "gateway.json");
    await damage(file);
    await expect.poll(() => readGatewayFile(home)).toMatchObject({ port: 4321 });
    await claim.release();
    expect(readGatewayFile(home)).toBeNull();
  });

  it("is not announced again by a gateway that lost it", async () => {
    const home = await temporaryHome();
    const first = await claimHome(home, { lookMs: 5 });
    first.announce(4321);
    await rm(join(home, "gateway.lock"));
    const second = await claimHome(home);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readGatewayFile(home)).toBeNull();
    await first.release();
    await second.release();
  });

  it("cannot be announced where its file is a folder, which is said in one sentence", async () => {
    const home = await temporaryHome();
    await mkdir(join(home, "gateway.json"));
    expect(await refusal(home)).toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringMatching(/gateway\.json cannot be written: [^\n]*; move it away/),
    });
    expect(await readdir(home)).toEqual(["gateway.json"]);
  });

  it("is withdrawn by a process that ends without letting go of it", async () => {
    const home = await temporaryHome();
    const script = `import { claimHome } from ${JSON.stringify(CLAIM)};
      (await claimHome(${JSON.stringify(home)})).announce(4321);
      process.exit(3);`;
    const args = ["--conditions=@clew/source", "--input-type=module", "--eval", script];
    expect(spawnSync(process.execPath, args).status).toBe(3);
    expect(await readdir(home)).toEqual(["gateway.lock"]);
    await (await claimHome(home)).release();
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
