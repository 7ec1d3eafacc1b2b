import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";

const run = promisify(execFile);

describe("npm run clew", () => {
  it("takes relative paths from where it was typed, wherever npm goes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "clew-caller-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const settings = { agents: { defaults: { model: { primary: "ollama/typed-here" } } } };
    await writeFile(join(folder, "theirs.json"), JSON.stringify(settings));
    const clew = (typedIn: string) =>
      run(process.execPath, ["scripts/clew.mjs", "config", "import", "theirs.json"], {
        env: {
          ...process.env,
          INIT_CWD: typedIn,
          CLEW_HOME: join(folder, "home"),
          CLEW_CONFIG: "",
        },
      });
    await expect(clew(join(folder, "gone"))).rejects.toThrow(/theirs\.json/);
    await clew(folder);
    expect(await readFile(join(folder, "home/clew.json"), "utf8")).toContain("ollama/typed-here");
  });
});

describe("npm run link", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "clew-link-"));
    return () => rm(folder, { recursive: true });
  });
  const link = (PATH: string) =>
    run(process.execPath, ["scripts/link.mjs", "bin"], {
      env: { ...process.env, INIT_CWD: folder, PATH },
    });

  it("writes a command clew that runs from anywhere, and says whether it is found", async () => {
    const bin = join(folder, "bin");
    expect((await link("/nowhere")).stdout).toContain(`${bin} is not on your PATH`);
    expect((await link(`/nowhere:${bin}`)).stdout).toContain(`clew is at ${bin}/clew now`);
    const { stdout } = await run("clew", ["--version"], {
      cwd: folder,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it("leaves a command of others alone", async () => {
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin/clew"), "another program");
    await expect(link("/nowhere")).rejects.toThrow("is not ours");
    expect(await readFile(join(folder, "bin/clew"), "utf8")).toBe("another program");
  });
});
