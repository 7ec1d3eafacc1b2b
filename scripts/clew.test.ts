import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";

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
