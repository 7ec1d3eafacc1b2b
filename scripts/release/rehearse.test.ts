import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLoopbackRegistry } from "../../apps/gateway/src/testing/registry.ts";
import { copyCheckout } from "./copy.ts";
import { guideFiles } from "./rehearse.ts";
import { cleanEnvironment, run } from "./run.mjs";

const exec = promisify(execFile);

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "clew-rehearse-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("the rehearsal", () => {
  it("says what it does with --help", async () => {
    const { stdout } = await exec(process.execPath, ["scripts/release/rehearse.ts", "--help"]);
    expect(stdout).toMatch(/^Usage: pnpm release:rehearse/);
  });

  it("leaves nothing behind when it is interrupted", async () => {
    const temporary = scratch();
    const child: ChildProcess = spawn(process.execPath, ["scripts/release/rehearse.ts"], {
      stdio: "ignore",
      env: { ...process.env, TMPDIR: temporary },
    });
    const ended = once(child, "exit");
    const made = () => readdirSync(temporary).filter((name) => name.startsWith("clew-rehearsal-"));
    while (made().length === 0 && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(made()).toEqual([]);
  });

  it("finds every file the plugin author guide shows", () => {
    const guide = readFileSync("docs/plugin-author-guide.md", "utf8");
    const files = Object.fromEntries(guideFiles(guide).map(({ file, text }) => [file, text]));
    expect(Object.keys(files)).toHaveLength(5);
    expect(JSON.parse(files["package.json"]!)).toHaveProperty("openclaw.extensions");
    expect(files["src/engine.ts"]).toContain("definePluginEntry");
    expect(files["src/engine.test.ts"]).toContain("testEngine");
  });
});

describe("the copy of a checkout", () => {
  it("has what git knows or would take, as it is now, in a repository of its own", async () => {
    const from = scratch();
    const to = scratch();
    const env = cleanEnvironment(from);
    const git = (...args: string[]) => exec("git", args, { cwd: from });
    await git("init", "-q");
    for (const name of ["kept", "changed", "deleted", ".gitignore"])
      await writeFile(join(from, name), name === ".gitignore" ? "ignored\n" : "old");
    await git("add", "-A");
    await writeFile(join(from, "changed"), "new");
    await writeFile(join(from, "ignored"), "");
    await mkdir(join(from, "folder"));
    await writeFile(join(from, "folder/untracked"), "");
    await rm(join(from, "deleted"));
    await copyCheckout(from, to, { env });
    expect(readdirSync(to).sort()).toEqual([".git", ".gitignore", "changed", "folder", "kept"]);
    expect(await readFile(join(to, "changed"), "utf8")).toBe("new");
    expect((await exec("git", ["status", "--porcelain"], { cwd: to })).stdout).toBe("");
  });
});

describe("the loopback registry", () => {
  it("takes what npm publishes, once, and gives it back to npm install", async () => {
    const folder = scratch();
    const registry = await startLoopbackRegistry();
    onTestFinished(() => registry.close());
    const env = cleanEnvironment(folder, {
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, "cache"),
    });
    const library = await mkdtemp(join(folder, "library-"));
    const manifest = { name: "@clew/rehearsed", version: "1.2.3", main: "index.js" };
    await writeFile(join(library, "package.json"), JSON.stringify(manifest));
    await writeFile(join(library, "index.js"), "module.exports = 42;");
    const host = registry.url.replace("http:", "");
    await writeFile(join(library, ".npmrc"), `${host}/:_authToken=rehearsal\n`);
    await run("npm", ["publish"], { cwd: library, env });
    await expect(run("npm", ["publish"], { cwd: library, env })).rejects.toThrow(
      /previously published|before/,
    );
    expect(registry.published).toEqual(["@clew/rehearsed@1.2.3"]);
    const person = await mkdtemp(join(folder, "person-"));
    await run("npm", ["install", "@clew/rehearsed"], { cwd: person, env });
    const installed = join(person, "node_modules/@clew/rehearsed/index.js");
    expect(await readFile(installed, "utf8")).toContain("42");
  });

  it("sends npm to another registry for what is not ours, and never for what is", async () => {
    const registry = await startLoopbackRegistry({ upstream: "https://registry.clew.test/" });
    onTestFinished(() => registry.close());
    const ask = (path: string) => fetch(`${registry.url}${path}`, { redirect: "manual" });
    const other = await ask("/zod");
    expect([other.status, other.headers.get("location")]).toEqual([
      307,
      "https://registry.clew.test/zod",
    ]);
    expect((await ask("/@clew%2fplugin-sdk")).status).toBe(404);
  });
});
