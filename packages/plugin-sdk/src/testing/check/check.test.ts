import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "clew-check-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A module that exports `createEngine`; `members` replace those of a right one. */
function engine(name: string, members: string, more = ""): string {
  const file = join(folder, `${name}.mjs`);
  const engine = `{
    info: { id: "mine", name: "Mine" },
    ingest: () => ({ ingested: false }),
    assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    compact: () => ({ ok: true, compacted: false, reason: "no" }),
    ${members}
  }`;
  writeFileSync(file, `export const createEngine = () => (${engine});\n${more}\n`);
  return file;
}

function textFile(text: string): string {
  const file = join(folder, `${text.length}.json`);
  writeFileSync(file, text);
  return file;
}

function packageFolder(content: object): string {
  const into = mkdtempSync(join(folder, "package-"));
  writeFileSync(join(into, "package.json"), JSON.stringify(content));
  return into;
}

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function run(
  args: readonly string[],
  during?: (kill: () => void, err: string, child: ChildProcess) => void,
) {
  return new Promise<Ended>((resolve, reject) => {
    const node = ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...node, MAIN, ...args], { cwd: folder });
    const ended: Ended = { code: null, out: "", err: "" };
    child.stdout.on("data", (part) => {
      ended.out += part;
    });
    child.stderr.on("data", (part) => {
      ended.err += part;
      during?.(() => child.kill("SIGINT"), ended.err, child);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...ended, code }));
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

// They start processes, on a machine that may be busy.
describe("plugin-sdk check", { timeout: 120_000 }, () => {
  it("gives the report as JSON, its progress beside it, and 0 where all is kept", async () => {
    const file = engine("right", "");
    const { code, out, err } = await run(["check", file, "--json", "--case", "order"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      engine: { id: "mine", name: "Mine" },
      ...{ passed: 1, failed: 0, results: [{ id: "order/oldest-first" }] },
    });
    expect(err).toContain("1/1 order/oldest-first");
  });

  it("says what fails, gives the session to be run again, and ends with 1", async () => {
    const file = engine(
      "cuts",
      "assemble: ({ messages }) => ({ messages: messages.slice(0, -1), estimatedTokens: 0 }),",
    );
    const first = await run(["check", file, "--case", "sessions/quiet"]);
    expect(first.code).toBe(1);
    expect(first.out).toMatch(
      /^FAILED sessions\/quiet: .*\n .*in a short and quiet session\. Smallest session: a turn.*\n/,
    );
    const session = join(folder, "session.json");
    writeFileSync(session, /--replay: (.*)/.exec(first.out)![1]!);
    expect((await run(["check", file, "--replay", session])).code).toBe(1);
    expect((await run(["check", engine("mended", ""), "--replay", session])).code).toBe(0);
  });

  it("survives engines that block or end their process, and says which case it was", async () => {
    const blocks = engine("blocks", "assemble: () => { for (;;); },");
    const ends = engine("ends", "ingest: () => process.exit(3),");
    const cases = ["--case", "order", "--case", "ingest/every-role", "--timeout", "5", "--json"];
    const [blocked, ended] = [
      await run(["check", blocks, ...cases]),
      await run(["check", ends, ...cases]),
    ];
    expect(JSON.parse(blocked.out).results).toMatchObject([
      { id: "ingest/every-role", outcome: "passed" },
      {
        id: "order/oldest-first",
        outcome: "failed",
        reason: expect.stringContaining("busy for 5 s"),
      },
    ]);
    expect(JSON.parse(ended.out).results).toMatchObject([
      { id: "ingest/every-role", outcome: "failed", reason: "It ended its process (exit code 3)." },
      {
        id: "order/oldest-first",
        outcome: "failed",
        reason: "It ended its process (exit code 3).",
      },
    ]);
  });

  it("counts what nobody waits for", async () => {
    const file = engine(
      "strays",
      "ingest: () => { setTimeout(() => Promise.reject({ lost: 1 }), 1); return { ingested: false }; },",
    );
    const cases = ["order", "compact", "process"].flatMap((one) => ["--case", one]);
    const { code, out } = await run(["check", file, ...cases]);
    expect(code).toBe(1);
    const what = 'a promise was rejected and nobody waited for it: {"lost":1}';
    expect(out).toMatch(/^FAILED order\//);
    expect(out).toContain(`  Meanwhile ${what}.`);
    expect(out).toContain(`times; the first time: ${what}.`);
    expect(out).not.toContain("ended its process");
  });

  it("takes what a host would load, and says what it cannot take, with 2", async () => {
    const entry =
      "export default { register: (api) => { api.registerTool({}); api.registerContextEngine('one', createEngine); } };";
    expect((await run(["check", engine("plugin", "", entry), "--case", "order"])).code).toBe(0);
    const wrong: [string[], RegExp][] = [
      [["check", "nowhere"], /no file, folder or installed package nowhere/],
      [["check", engine("inert", "", "export default { register() {} };")], /brings no engine/],
      [["check", folder], /has no package\.json/],
      [["check", engine("right", ""), "--case", "nothing"], /no case or group "nothing"/],
      [["check", engine("right", ""), "--sessions", "0"], /whole number/],
      [["check", engine("right", ""), "--engine", "two"], /no engine "two"/],
      [["test"], /no command "test"/],
      [["check"], /Name one engine: a module, a plugin's folder or a package/],
      [["check", engine("right", ""), "--settings", "none.json"], /file none\.json cannot be read/],
      [["check", engine("right", ""), "--settings", engine("right", "")], /holds no JSON/],
      [["check", engine("right", ""), "--replay", textFile("{}")], /holds no session; put there/],
      [
        ["check", engine("host", "", 'import "openclaw/plugin-sdk/core";')],
        /check it in one: clew/,
      ],
      [["check", packageFolder({})], /names the entry .*index\.js, which is not there/],
      [["check", packageFolder({ main: "dist/none.js" })], /which is not there; build it first/],
      [["check", engine("throws", "", "throw new Error('low');")], /cannot be imported: low/],
    ];
    for (const [args, why] of wrong) {
      const { code, out, err } = await run(args);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toMatch(why);
    }
  });

  it("is not held by a program that an engine leaves behind", async () => {
    const noted = join(folder, "left");
    const leaves = engine(
      "leaves",
      `assemble: () => {
        const left = spawn("sleep", ["600"], { stdio: "inherit", detached: true });
        left.unref();
        writeFileSync(${JSON.stringify(noted)}, String(left.pid));
        process.exit(1);
      },`,
      'import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs";',
    );
    const { code } = await run(["check", leaves, "--case", "order"]);
    process.kill(Number(readFileSync(noted, "utf8")), "SIGKILL");
    expect(code).toBe(1);
  });

  it("counts a signal of the engine to it as a failure, also one that is caught", async () => {
    const act = 'try { process.kill(process.ppid, "SIGTERM"); } catch {}';
    const file = engine("ends-us", `ingest: () => { ${act} return { ingested: false }; },`);
    const { code, out } = await run(["check", file, "--json", "--case", "order"]);
    expect(code).toBe(1);
    expect((JSON.parse(out) as { results: object[] }).results[0]).toMatchObject({
      ...{ outcome: "failed" },
      reason: expect.stringMatching(/sends a signal to the process that checks it/),
    });
  });

  it("tells what an engine throws in words that end and steer no terminal", async () => {
    const shouts = 'throw new Error("\\u001b[2J" + "x".repeat(1e7));';
    const file = engine("shouts", `assemble: () => { ${shouts} },`);
    const { out } = await run(["check", file, "--json", "--case", "order"]);
    expect(out.length).toBeLessThan(20_000);
    expect(out).toContain("[2Jxxx");
    expect(out).not.toMatch(/\\u001b/);
  });

  it("tells of a loop at import once, and not in every case", async () => {
    const loops = engine("loops", "", "for (;;);");
    const args = ["--json", "--timeout", "1", "--case", "assemble"];
    const { code, out } = await run(["check", loops, ...args]);
    const [first, ...others] = (JSON.parse(out) as { results: { reason: string }[] }).results;
    expect([code, first?.reason]).toEqual([1, expect.stringMatching(/kept its process busy/)]);
    expect(others.length).toBeGreaterThan(0);
    for (const { reason } of others) expect(reason).toMatch(/^Not run: .* before one was made/);
  });

  it("leaves no process behind when it is killed itself", async () => {
    const noted = join(folder, "looping");
    const note = `writeFileSync(${JSON.stringify(noted)}, String(process.pid));`;
    const file = engine(
      "outlives",
      `assemble: () => { ${note} for (;;); },`,
      'import { writeFileSync } from "node:fs";',
    );
    const { err } = await run(["check", file, "--case", "order"], (_, __, child) => {
      const kill = setInterval(() => {
        if (!existsSync(noted)) return;
        clearInterval(kill);
        child.kill("SIGKILL");
      }, 50);
    });
    expect(err).toContain("1/1");
    const pid = Number(readFileSync(noted, "utf8"));
    await expect.poll(() => isRunning(pid), { timeout: 120_000 }).toBe(false);
  });

  it("can be interrupted, and reports what it has", async () => {
    const file = engine("slow", "assemble: () => new Promise(() => {}),");
    const args = ["check", file, "--json", "--case", "order", "--case", "ingest/every-role"];
    const { code, out } = await run(args, (kill, err) => err.includes("2/2") && kill());
    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ interrupted: true, results: [{ outcome: "passed" }] });
  });
});
