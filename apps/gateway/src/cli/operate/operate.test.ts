// Commands that operate a gateway, against the built one.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, runClew, startClew } from "../../testing/command.ts";
import { homeWithOwnPort, temporaryHome } from "../../testing/home.ts";
import { followFile } from "./follow-file.ts";
import { launchdPlist, type ServicePlan, systemdUnit } from "./service-files.ts";
import { describeTime } from "./status.ts";

async function startGateway(home: string) {
  const child = startClew(home, ["start", "--port", "0"]);
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(await child.nextLine())?.[1]);
  return { child, port, pid: child.process.pid! };
}

describe("clew status and clew stop", () => {
  it("tell of this home's gateway and end it, also one that wants a token", async () => {
    const home = await homeWithOwnPort();
    const token = "the-own-token-of-the-home";
    await clew(home, ["config", "set", "gateway.auth.token", token]);
    const { child, port, pid } = await startGateway(home);
    const told = await clew(home, ["status"]);
    expect(told.code).toBe(0);
    expect(told.output).toContain(`at http://127.0.0.1:${port} (process ${pid}, for `);
    expect(told.output).toContain("turns   0 sessions at work, 0 waiting");
    const data = JSON.parse((await clew(home, ["status", "--json"])).output) as object;
    expect(data).toMatchObject({
      ...{ home, running: true, state: "running", pid, model: "offline/offline" },
      turns: { running: 0, waiting: 0 },
    });
    expect(await clew(home, ["stop"])).toEqual({
      ...{ code: 0, output: `The gateway (process ${pid}) has stopped.`, errors: "" },
    });
    expect(await child.exit).toBe(0);
    const after = await clew(home, ["status"]);
    expect(after).toMatchObject({ code: 1, output: `No gateway is running (home ${home}).` });
    expect(JSON.parse((await clew(home, ["status", "--json"])).output)).toMatchObject({
      ...{ running: false, state: "none" },
    });
    expect(await clew(home, ["stop", "--json"])).toMatchObject({
      ...{ code: 0, output: expect.stringContaining('"stopped": true') },
    });
  });

  it("stop one whose settings cannot be read any more", async () => {
    const home = await homeWithOwnPort();
    const { child, pid } = await startGateway(home);
    await writeFile(join(home, "clew.json"), "{ no settings");
    const { code, output } = await clew(home, ["stop"]);
    expect([code, output]).toEqual([0, `The gateway (process ${pid}) has stopped.`]);
    expect(await child.exit).toBe(0);
  });

  it("stop one that does not answer by a signal, and one that hangs by force", async () => {
    const home = await homeWithOwnPort();
    const { child, pid } = await startGateway(home);
    // Halted, it answers nobody and takes no signal but this.
    process.kill(pid, "SIGSTOP");
    const stopped = runClew(home, ["stop", "--force"]);
    expect(await stopped).toMatchObject({
      ...{ code: 0, output: `The gateway (process ${pid}) did not stop and was ended.` },
    });
    await child.exit;
  });

  it("leave whoever else is on the port alone", async () => {
    const other = await homeWithOwnPort();
    const { port, child } = await startGateway(other);
    const home = await temporaryHome();
    writeFileSync(join(home, "clew.json"), JSON.stringify({ gateway: { port } }));
    const stopped = await clew(home, ["stop"]);
    expect(stopped.output).toMatch(
      /^Nothing to stop: another gateway \(home \w+\) answers on port/,
    );
    expect((await clew(home, ["status"])).output).toMatch(/^Another gateway \(home \w+\) answers/);
    expect((await clew(other, ["status"])).code).toBe(0);
    expect(child.process.exitCode).toBeNull();
  });

  it("refuse what is no time", async () => {
    const home = await temporaryHome();
    expect(await clew(home, ["stop", "--grace", "soon"])).toMatchObject({
      ...{ code: 2, errors: expect.stringContaining("must be a number from 0 to 3600") },
    });
  });

  it("name a time in its two largest units", () => {
    const shown = [0, 59_000, 61_000, 3_600_000, 90_061_000].map(describeTime);
    expect(shown).toEqual(["0 s", "59 s", "1 min 1 s", "1 h 0 min", "1 d 1 h"]);
  });
});

function writeLog(home: string): string {
  const file = join(home, "logs/gateway.log");
  mkdirSync(join(home, "logs"), { recursive: true });
  const line = (level: string, msg: string, more: object = {}) =>
    JSON.stringify({ level, time: "2026-01-02T03:04:05.678Z", pid: 7, ...more, msg });
  writeFileSync(`${file}.1`, `${line("info", "oldest")}\n${line("warn", "an old warning")}\n`);
  const own = { sessionKey: "agent:main:main", durationMs: 5 };
  writeFileSync(
    file,
    `${line("info", "turn completed", own)}\n${line("error", "bad\u001b[2J\u202e\nname")}\nhalf a li\n`,
  );
  return file;
}

describe("clew logs", () => {
  it("shows the newest lines of all files, by level, session and text, with nothing that steers", async () => {
    const home = await temporaryHome();
    writeLog(home);
    const shown = async (...args: string[]) => (await clew(home, ["logs", ...args])).output;
    expect((await shown()).split("\n")).toEqual([
      "2026-01-02 03:04:05 info  [7] oldest",
      "2026-01-02 03:04:05 warn  [7] an old warning",
      '2026-01-02 03:04:05 info  [7] turn completed sessionKey="agent:main:main" durationMs=5',
      String.raw`2026-01-02 03:04:05 error [7] bad\u001b[2J\u202e\nname`,
      "half a li",
    ]);
    expect(await shown("-n", "1", "--level", "info")).toBe("half a li");
    expect(await shown("--level", "warn")).toMatch(/^\S+ \S+ warn .*\n\S+ \S+ error .*$/);
    expect(await shown("--session", "main")).toContain("turn completed");
    expect(await shown("--session", "main")).not.toContain("oldest");
    expect(await shown("--grep", "OLD WARN")).toBe("2026-01-02 03:04:05 warn  [7] an old warning");
    const lines = (await shown("--json", "--level", "error")).split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(["error"]);
    const none = await clew(home, ["logs", "--grep", "nowhere"]);
    expect(none).toMatchObject({ code: 0, output: "", errors: expect.stringContaining("No such") });
    expect((await clew(home, ["logs", "-n", "none"])).code).toBe(2);
    expect((await clew(home, ["logs", "--level", "loud"])).code).toBe(2);
  });

  it("shows nothing that stands behind a link, and says that it is one", async () => {
    const home = await temporaryHome();
    const file = writeLog(home);
    renameSync(file, join(home, "elsewhere"));
    symlinkSync(join(home, "elsewhere"), file);
    const shown = await clew(home, ["logs", "--grep", "bad"]);
    expect(shown).toMatchObject({ output: "", errors: expect.stringContaining("is a link") });
    const { next } = followFile(file);
    appendFileSync(join(home, "elsewhere"), "one\n");
    expect(next()).toEqual([]);
  });

  it("follows what is written, also into a new file", async () => {
    const home = await temporaryHome();
    const file = writeLog(home);
    const { next } = followFile(file);
    expect(next()).toEqual([]);
    appendFileSync(file, "one\ntw");
    expect(next()).toEqual(["one"]);
    appendFileSync(file, "o\n");
    renameSync(file, `${file}.1`);
    expect(next()).toEqual(["two"]);
    writeFileSync(file, "three\n");
    expect(next()).toEqual(["three"]);
  });

  it("goes on until it is told to end", async () => {
    const home = await temporaryHome();
    const file = writeLog(home);
    const child = startClew(home, ["logs", "--follow", "--json"]);
    for (let count = 0; count < 4; count++) await child.nextLine();
    appendFileSync(file, '{"level":"info","msg":"fresh"}\n');
    expect(await child.nextLine()).toContain("fresh");
    child.process.kill("SIGINT");
    expect(await child.exit).toBe(130);
  });
});

const PLAN: ServicePlan = {
  node: "/opt/node 26/bin/node",
  main: '/srv/clew "x"/100%/$HOME/dist/main.js',
  home: "/home/anna/the <home> & more",
  configFile: "/home/anna/clew.json",
  path: "/usr/local/bin:/usr/bin:/bin",
  variablesFile: "/home/anna/the <home> & more/service.env",
};

const fixture = (name: string) =>
  readFileSync(new URL(`__fixtures__/${name}`, import.meta.url), "utf8");

describe("a service", () => {
  it("is written in the form of systemd and of launchd, whatever names there are", () => {
    expect(systemdUnit(PLAN)).toBe(fixture("clew.service"));
    expect(launchdPlist(PLAN, "clew.gateway")).toBe(fixture("clew.gateway.plist"));
  });

  it("has no lines that a name brought along", () => {
    const evil = { ...PLAN, home: "/home/x\nExecStartPre=/bin/evil" };
    const lines = systemdUnit(evil).split("\n");
    expect(lines.filter((line) => line.startsWith("ExecStart"))).toHaveLength(1);
  });

  it("is taken by systemd, where there is one", async () => {
    if (spawnSync("systemd-analyze", ["--version"]).status !== 0) return;
    const folder = await temporaryHome();
    const file = join(folder, "clew-test.service");
    const main = join(folder, 'a 100% "main" $x.js');
    writeFileSync(main, "");
    const node = process.execPath;
    writeFileSync(file, systemdUnit({ ...PLAN, node, main, home: folder }));
    const env = { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder };
    const verify = ["--user", "verify", file];
    const checked = spawnSync("systemd-analyze", verify, { encoding: "utf8", env });
    const said = `${checked.stdout}${checked.stderr}`.split("\n");
    expect(said.filter((line) => line.includes("clew-test"))).toEqual([]);
  });

  it("is installed and removed as files of the account, and tells which keys it lacks", async () => {
    const home = await temporaryHome();
    const config = join(home, "config");
    const env = { HOME: home, XDG_CONFIG_HOME: config, MISTRAL_API_KEY: "0123456789abcdef" };
    const install = ["service", "install", "--system", "systemd", "--no-start"];
    const printed = await runClew(home, [...install, "--print"], { env });
    expect(printed.output).toContain(`Environment="CLEW_HOME=${home}"`);
    expect(existsSync(join(config, "systemd"))).toBe(false);
    const done = await runClew(home, install, { env });
    expect(done).toMatchObject({ code: 0, errors: expect.stringContaining("MISTRAL_API_KEY") });
    expect(done.errors).not.toContain("0123456789abcdef");
    const [, file] = /^(\S+\.service) is written\.$/m.exec(done.output) ?? [];
    expect(readFileSync(file!, "utf8")).toBe(`${printed.output}\n`);
    const again = await runClew(home, [...install, "--json"], { env });
    expect(JSON.parse(again.output)).toMatchObject({ file, isRunning: false, problem: null });
    const removed = await runClew(home, ["service", "uninstall", "--system", "systemd"], {
      env: { ...env, PATH: "/nonexistent" },
    });
    expect(removed).toMatchObject({ code: 1, output: `${file} is removed.` });
    expect(removed.errors).toMatch(/"systemctl .*" failed: .* goes on until it ends\.$/);
    expect(existsSync(file!)).toBe(false);
    const gone = await runClew(home, ["service", "uninstall", "--system", "systemd"], { env });
    expect(gone).toMatchObject({ code: 0, output: `There is no ${file}.` });
  });
});
