// What the built command does where several homes, gateways and strangers meet.
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew, runClew, startClew } from "../testing/command.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { writePlugin } from "../testing/plugins.ts";
import { hashOfHome } from "./identity.ts";

async function startGateway(home: string) {
  const child = startClew(home, ["start", "--port", "0"]);
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(await child.nextLine())?.[1]);
  return { child, port, pid: child.process.pid! };
}

/** A home with an engine that is not there, whose gateway would listen on `port`. */
async function brokenHome(port: number): Promise<string> {
  const home = await temporaryHome();
  const plugins = { slots: { contextEngine: "nope" } };
  await writeFile(join(home, "clew.json"), JSON.stringify({ gateway: { port }, plugins }));
  return home;
}

/** A plugin that adds a line to a file each time it is loaded. */
async function countingPlugin() {
  const folder = await temporaryHome();
  const file = join(folder, "loads");
  const code = `import { appendFileSync } from "node:fs";
    export default { register() { appendFileSync(${JSON.stringify(file)}, "x"); } };\n`;
  writePlugin(join(folder, "counting"), { id: "counting", code });
  const loads = async () => (await readFile(file, "utf8")).length;
  return { path: join(folder, "counting"), loads };
}

const NO_PROGRAMS = { PATH: "/nonexistent" };

async function startStranger() {
  const requests: string[] = [];
  const health = { status: "ok", version: "0.0.0", pid: 1, engine: { quarantined: [] } };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.replace(/nonce=.*/, "nonce")}`);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...health, plugins: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  return { port: (server.address() as AddressInfo).port, requests };
}

describe("beside the gateway of another home on its port", () => {
  it("a home's commands tell of their own home and leave the other gateway alone", async () => {
    const homeA = await temporaryHome();
    const { path, loads } = await countingPlugin();
    await writeFile(
      join(homeA, "clew.json"),
      JSON.stringify({ plugins: { load: { paths: [path] } } }),
    );
    const a = await startGateway(homeA);
    const homeB = await brokenHome(a.port);
    const missing = `another gateway (home ${hashOfHome(homeA)}) answers on port ${a.port}; this home's gateway is not running`;

    const doctor = await clew(homeB, ["doctor"]);
    expect(doctor.code).toBe(1);
    expect(doctor.output).toMatch(/FAILURE +engine: There is no context engine "nope"/);
    expect(doctor.output).toContain(`warning  gateway: ${missing}`);

    const before = await loads();
    expect(await clew(homeB, ["plugins", "reload"])).toEqual({
      code: 1,
      output: "",
      errors: `clew: Nothing was reloaded: ${missing}; plugins are loaded when one starts. [GATEWAY_UNREACHABLE]`,
    });
    expect(await loads()).toBe(before);

    const small = writePlugin(join(await temporaryHome(), "small"));
    const installed = await clew(homeB, ["plugins", "install", "--yes", small]);
    expect(installed.output).toContain(
      `A${missing.slice(1)}; the change takes effect at the next start`,
    );
    expect(installed.output).not.toContain("is running at");

    expect((await clew(homeA, ["doctor"])).output).toContain(
      `runs at http://127.0.0.1:${a.port} (process ${a.pid})`,
    );
    expect((await clew(homeA, ["plugins", "reload"])).code).toBe(0);
    expect(await loads()).toBe(before + 1);
  });
});

describe("a copy of a home whose gateway runs", () => {
  it("is a home of its own: commands leave the original's gateway alone, and start starts", async () => {
    const home = await temporaryHome();
    const { path, loads } = await countingPlugin();
    const plugins = { load: { paths: [path] } };
    await writeFile(join(home, "clew.json"), JSON.stringify({ gateway: { port: 0 }, plugins }));
    const original = await startGateway(home);
    const copy = join(await temporaryHome(), "copy");
    await cp(home, copy, { recursive: true });

    const before = await loads();
    expect(await clew(copy, ["plugins", "reload"])).toEqual({
      code: 1,
      output: "",
      errors:
        "clew: Nothing was reloaded: no gateway is running (its gateway.json was copied from another home); plugins are loaded when one starts. [GATEWAY_UNREACHABLE]",
    });
    expect(await loads()).toBe(before);
    const doctor = await clew(copy, ["doctor"]);
    expect(doctor.output).not.toContain(`127.0.0.1:${original.port}`);
    expect(doctor.output).toContain("came with a copy of another home");
    const second = await startGateway(copy);
    expect(second.child.errors()).toContain("This home was copied while its gateway ran");
    expect((await clew(copy, ["doctor"])).output).toContain(`(process ${second.pid})`);
    expect((await clew(home, ["doctor"])).output).toContain(`(process ${original.pid})`);
  });
});

describe("beside a foreign program on its port", () => {
  it("a home's commands believe nothing it says and ask it nothing but its name", async () => {
    const stranger = await startStranger();
    const home = await brokenHome(stranger.port);
    const doctor = await clew(home, ["doctor"]);
    expect(doctor.code).toBe(1);
    expect(doctor.output).toMatch(/FAILURE +engine: There is no context engine "nope"/);
    expect(doctor.output).toContain(`another program answers on port ${stranger.port}`);
    expect((await clew(home, ["plugins", "reload"])).errors).toContain("another program answers");
    await writeFile(join(home, "clew.json"), JSON.stringify({ gateway: { port: stranger.port } }));
    expect(await runClew(home, ["start"])).toEqual({
      code: 1,
      output: "",
      errors: `clew: Port ${stranger.port} is in use by another program; stop that program, or start with --port 0 for any free port. [PORT_UNAVAILABLE]`,
    });
    expect(new Set(stranger.requests)).toEqual(new Set(["GET /api/health?nonce"]));
  });
});

describe("a home", () => {
  it("has one gateway: a second is told where the first is", async () => {
    const home = await temporaryHome();
    const first = await startGateway(home);
    expect(await runClew(home, ["start", "--port", "0"])).toEqual({
      code: 1,
      output: "",
      errors: `clew: The gateway of ${home} runs at http://127.0.0.1:${first.port} (process ${first.pid}); stop that one first, or set CLEW_HOME to another folder. [GATEWAY_RUNNING]`,
    });
    first.child.process.kill("SIGTERM");
    expect(await first.child.exit).toBe(0);
    const left = (await readdir(home)).filter((name) => name.startsWith("gateway"));
    expect(left).toEqual([]);
  });

  it("has one gateway also when two start at once", async () => {
    const home = await temporaryHome();
    const children = [0, 1].map(() => startClew(home, ["start", "--port", "0"]));
    const outcomes = await Promise.all(
      children.map((child) =>
        Promise.race([
          child.exit,
          child.nextLine().then(
            () => "runs",
            () => child.exit,
          ),
        ]),
      ),
    );
    expect(outcomes.map(String).sort()).toEqual(["1", "runs"]);
    const refused = children[outcomes.indexOf(1)]!;
    // The other may not have said yet where it runs.
    expect(refused.errors()).toMatch(
      /^clew: The gateway of .* \(process \d+(, since .*)?\)[;,] .*stop that one .*\n$/,
    );
  });

  it("is served again at once after its gateway was killed", async () => {
    const home = await homeWithOwnPort();
    const first = await startGateway(home);
    first.child.process.kill("SIGKILL");
    await first.child.exit;
    expect(existsSync(join(home, "gateway.json"))).toBe(true);
    expect((await clew(home, ["doctor"])).output).toContain('"clew start" starts it');
    const second = await startGateway(home);
    expect((await clew(home, ["doctor"])).output).toContain(`(process ${second.pid})`);
  });

  it.each<[string, NodeJS.Platform, NodeJS.ProcessEnv, NodeJS.ProcessEnv]>([
    ["that cannot tell when a process started", "win32", NO_PROGRAMS, NO_PROGRAMS],
    ["whose time zone changed", "darwin", { TZ: "Europe/Berlin" }, { TZ: "Asia/Tokyo" }],
  ])("has one gateway on a system %s, and finds it", async (_, platform, first, then) => {
    const home = await temporaryHome();
    const as = (env: NodeJS.ProcessEnv) => ({
      env: {
        ...env,
        NODE_OPTIONS: `--import=data:text/javascript,Object.defineProperty(process,'platform',{value:'${platform}'})`,
      },
    });
    const child = startClew(home, ["start", "--port", "0"], as(first));
    await child.nextLine();
    const second = await runClew(home, ["start", "--port", "0"], as(then));
    expect(second.errors).toContain(`(process ${child.process.pid}); stop that one first`);
    const reload = await runClew(home, ["plugins", "reload"], as(then));
    expect(reload).toMatchObject({ code: 0, output: expect.stringContaining("Reloaded at") });
  });

  it.each<[string, (file: string) => Promise<unknown>]>([
    ["empty", (file) => writeFile(file, "")],
    ["a folder", (file) => mkdir(file)],
  ])("whose lock is %s gets a gateway after the doctor removed it", async (_, damage) => {
    const home = await homeWithOwnPort();
    await damage(join(home, "gateway.lock"));
    const refused = await runClew(home, ["start"]);
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining("cannot be read") });
    const found = await clew(home, ["doctor"]);
    expect(found.code).toBe(1);
    expect(found.output).toContain('"clew doctor --fix" removes it');
    expect((await clew(home, ["doctor", "--fix"])).output).toContain("could not be read and was");
    expect((await clew(home, ["doctor"])).output).toContain('"clew start" starts it');
  });

  it("that cannot be written stops the gateway and the chat with one sentence", async () => {
    const home = join(await temporaryHome(), "file");
    await writeFile(home, "");
    for (const command of ["start", "chat"])
      expect(await clew(home, [command])).toEqual({
        code: 1,
        output: "",
        errors: `clew: The home ${home} cannot be written: a part of the path is not a folder; set CLEW_HOME to a folder you may write to and try again. [STORAGE_FAILED]`,
      });
  });
});
