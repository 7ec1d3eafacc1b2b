// What becomes of installs that are meant to do harm; each test is named by the attack.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { planNpmEnvironment } from "../../config/npm-environment.ts";
import { temporaryHome } from "../../testing/home.ts";
import { startRegistry } from "../../testing/npm-registry.ts";
import { engineCode, type WrittenPlugin, writePlugin } from "../../testing/plugins.ts";
import { type TarEntry, writeTar } from "../../testing/tar.ts";
import { readPluginFiles } from "../find/manifest.ts";
import { type InstallPlace, installPlugin } from "./install.ts";
import { findLeftovers } from "./leftovers.ts";
import { tryPlugin } from "./trial.ts";

const CONFIG = "{ plugins: { slots: { contextEngine: 'legacy' } } } // mine\n";

async function openPlace(): Promise<InstallPlace & { scratch: string }> {
  const scratch = await temporaryHome();
  const home = join(scratch, "home");
  mkdirSync(home);
  const configFile = join(home, "clew.json");
  writeFileSync(configFile, CONFIG);
  return { home, configFile, cwd: scratch, scratch };
}

/** As it was: the settings to the byte, and no file more. */
function expectUntouched({ home, configFile }: InstallPlace): void {
  expect(readFileSync(configFile, "utf8")).toBe(CONFIG);
  expect(readdirSync(home)).toEqual(["clew.json"]);
}

const failureOf = (install: Promise<unknown>) =>
  install.then(
    () => undefined,
    (error: Error) => error,
  );

async function expectRefused(spec: string, place: InstallPlace, reason: RegExp): Promise<void> {
  const failure = await failureOf(installPlugin({ spec }, place));
  expect(failure?.message).toMatch(reason);
  expect(failure?.message).not.toMatch(/\n|\.staging|\.trial/);
  expect(failure).toMatchObject({
    code: expect.stringMatching(/^PLUGIN_(INVALID|INSTALL_FAILED)$/),
  });
  expectUntouched(place);
}

const MANIFEST = JSON.stringify({ id: "small", configSchema: { type: "object" } });
const SOUND: TarEntry[] = [
  { name: "package/openclaw.plugin.json", content: MANIFEST },
  {
    name: "package/package.json",
    content: '{"name":"small","version":"1.0.0","type":"module"}',
  },
  { name: "package/index.js", content: "export default { register() {} };" },
];

/** The name of the entry that follows. */
const noted = (name: string): TarEntry => ({ name: "note", type: "L", content: name });

const manyFiles = Array.from({ length: 60_001 }, (_, index) => ({ name: `package/${index}` }));

describe("an archive", () => {
  it.each<[string, TarEntry[], RegExp]>([
    ["writes above itself", [{ name: "package/../../evil" }], /written outside the plugin's/],
    ["writes to an absolute place", [{ name: "/tmp/evil" }], /written outside the plugin's/],
    [
      "writes above itself by a name of its own entry",
      [
        { name: "package/note", type: "x", content: "20 path=../../evil1\n" },
        { name: "package/fine" },
      ],
      /"\.\.\/\.\.\/evil1" would be written outside/,
    ],
    [
      "has its files in no folder",
      SOUND.map(({ name, ...rest }) => ({ ...rest, name: name.replace("package/", "") })),
      /its entry "openclaw\.plugin\.json" does not lie in a folder such as "package\/"/,
    ],
    ["holds a link", [{ name: "package/a", type: "2", link: "/etc" }], /neither a file nor a/],
    ["holds a hard link", [{ name: "package/a", type: "1", link: "/etc/passwd" }], /neither a/],
    ["holds a device", [{ name: "package/a", type: "3" }], /neither a file nor a folder/],
    ["holds a pipe", [{ name: "package/a", type: "6" }], /neither a file nor a folder/],
    ["has names nobody sees", [{ name: "package/a\u001b[2J" }], /cannot be seen/],
    [
      "has a name that no file can have",
      [noted(`package/${"x".repeat(300)}`), { name: "package/fine" }],
      /a name in its entry "package\/xx.*longer than 255 bytes/,
    ],
    [
      "has a path that no file can have",
      [noted(`package/${"d/".repeat(1500)}f`), { name: "package/fine" }],
      /the path of its entry "package\/d.*longer than 800 bytes/,
    ],
    [
      "has two names that some systems take for one, by their letters' size",
      [{ name: "package/Data.json" }, { name: "package/data.json" }],
      /"package\/Data\.json" and "package\/data\.json" are the same to some systems/,
    ],
    [
      "has two names that some systems take for one, by how an accent is written",
      [{ name: "package/\u00e9/a" }, { name: "package/e\u0301/b" }],
      /are the same to some systems/,
    ],
    [
      "has a file that is also a folder",
      [{ name: "package/part" }, { name: "package/part/index.js" }],
      /"package\/part" is both a file and a folder/,
    ],
    ["is a bomb", [{ name: "package/a", size: 2 ** 31 }], /more than 1,024 MiB/],
    ["holds files without end", manyFiles, /more than 60,000 files/],
  ])("that %s is refused before anything of it is written", async (_, entries, reason) => {
    const place = await openPlace();
    const file = writeTar(join(place.scratch, "small.tgz"), [...SOUND, ...entries]);
    await expectRefused(file, place, reason);
    expect(existsSync(join(place.scratch, "evil"))).toBe(false);
  });

  it.each([
    ["is cut off", (whole: Buffer) => whole.subarray(0, 60)],
    ["is none", () => Buffer.from("no archive at all")],
    ["is empty", () => Buffer.alloc(0)],
  ])("that %s is refused in a sentence", async (_, change) => {
    const place = await openPlace();
    const file = writeTar(join(place.scratch, "small.tgz"), SOUND);
    writeFileSync(file, change(readFileSync(file)));
    await expectRefused(file, place, /not a tar archive/);
  });

  it("that is a pipe is not waited for", async () => {
    const place = await openPlace();
    const file = join(place.scratch, "small.tgz");
    execFileSync("mkfifo", [file]);
    await expectRefused(file, place, /small\.tgz is neither a file nor a folder/);
  });

  it("of which files would run as another account are made to run as whoever runs them", async () => {
    const place = await openPlace();
    const entries = [...SOUND, { name: "package/tool", content: "#!/bin/sh", mode: 0o6777 }];
    await installPlugin({ spec: writeTar(join(place.scratch, "small.tgz"), entries) }, place);
    const tool = join(place.home, "plugins/small/node_modules/small/tool");
    expect((statSync(tool).mode & 0o7022).toString(8)).toBe("0");
  });
});

/** Twelve definitions, each of which is eight times the next. */
const manyReferences = (): string =>
  JSON.stringify({
    id: "small",
    configSchema: {
      $ref: "#/definitions/d0",
      definitions: Object.fromEntries(
        Array.from({ length: 12 }, (_, level) => [
          `d${level}`,
          level === 11 ? {} : { allOf: Array(8).fill({ $ref: `#/definitions/d${level + 1}` }) },
        ]),
      ),
    },
  });

describe("a folder", () => {
  const folderWith = async (plugin: WrittenPlugin = {}) => {
    const place = await openPlace();
    return { place, folder: writePlugin(join(place.scratch, "small"), plugin) };
  };

  it.each<[string, (folder: string) => void, RegExp]>([
    ["a link to a place outside", (at) => symlinkSync("/etc", join(at, "etc")), /leads outside/],
    ["a link upwards", (at) => symlinkSync("../..", join(at, "up")), /leads outside/],
    [
      "a link that leads outside through another",
      (at) => {
        mkdirSync(join(at, "x/y/z"), { recursive: true });
        mkdirSync(join(at, "s"));
        symlinkSync("../../../s", join(at, "x/y/z/a"));
        symlinkSync("a/../..", join(at, "x/y/z/b"));
      },
      /leads outside/,
    ],
    ["a link to itself", (at) => symlinkSync("me", join(at, "me")), /cannot be read: ELOOP/],
    [
      "a pipe",
      (at) => void execFileSync("mkfifo", [join(at, "pipe")]),
      /"pipe" is neither a file nor a folder/,
    ],
    [
      "a file of two gigabytes",
      (at) => {
        writeFileSync(join(at, "big"), "");
        truncateSync(join(at, "big"), 2 ** 31);
      },
      /more than 1,024 MiB/,
    ],
    [
      "a manifest of many megabytes",
      (at) => truncateSync(join(at, "openclaw.plugin.json"), 60 * 1024 * 1024),
      /openclaw\.plugin\.json is larger than 1 MiB/,
    ],
    [
      "a manifest that goes down 20,000 times",
      (at) =>
        writeFileSync(
          join(at, "openclaw.plugin.json"),
          `{"id":"small","configSchema":${'{"properties":{"a":'.repeat(20_000)}{}${"}}".repeat(20_000)}}`,
        ),
      /has more than 100 objects in one another/,
    ],
    [
      "a pattern that takes for ever",
      (at) =>
        writeFileSync(
          join(at, "openclaw.plugin.json"),
          JSON.stringify({
            id: "small",
            configSchema: {
              properties: {
                a: { type: "string", pattern: "^(a+)+$", default: `${"a".repeat(60)}!` },
              },
            },
          }),
        ),
      /takes longer than 500 ms to check/,
    ],
    [
      "a schema that refers to itself again and again",
      (at) => writeFileSync(join(at, "openclaw.plugin.json"), manyReferences()),
      /its configSchema needs more than 100000 checks/,
    ],
    [
      "five thousand entries",
      (at) =>
        writeFileSync(
          join(at, "package.json"),
          JSON.stringify({
            name: "small",
            version: "1.0.0",
            openclaw: { extensions: Array.from({ length: 5_000 }, (_, index) => `${index}.js`) },
          }),
        ),
      /names 5000 entries, and has at most 50/,
    ],
    [
      "a name with a line break",
      (at) => writeFileSync(join(at, "a\nb"), ""),
      /a character that cannot be seen/,
    ],
  ])("with %s is refused", async (_, prepare, reason) => {
    const { place, folder } = await folderWith();
    prepare(folder);
    await expectRefused(folder, place, reason);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ["a pipe", (file) => void execFileSync("mkfifo", [file]), /json is not a file/],
    ["a link to a device", (file) => symlinkSync("/dev/zero", file), /json is not a file/],
    ["a link to another's file", (file) => symlinkSync("/etc/passwd", file), /leads outside/],
  ])("that is linked and has %s for what it says of itself is refused", async (_, put, reason) => {
    for (const name of ["openclaw.plugin.json", "package.json"]) {
      const { place, folder } = await folderWith();
      rmSync(join(folder, name));
      put(join(folder, name));
      const failure = await failureOf(installPlugin({ spec: folder, link: true }, place));
      expect(failure?.message).toMatch(reason);
      expectUntouched(place);
    }
  });

  it("keeps the links within it as they are", async () => {
    const { place, folder } = await folderWith();
    symlinkSync("index.js", join(folder, "same.js"));
    await installPlugin({ spec: folder }, place);
    const kept = join(place.home, "plugins/small/same.js");
    writeFileSync(join(folder, "index.js"), "changed");
    expect(readFileSync(kept, "utf8")).toContain("register");
  });

  it("whose files would run as another account, or could be changed by anybody, is mended", async () => {
    const { place, folder } = await folderWith();
    chmodSync(join(folder, "index.js"), 0o6777);
    await installPlugin({ spec: folder }, place);
    expect((statSync(join(place.home, "plugins/small/index.js")).mode & 0o7777).toString(8)).toBe(
      "755",
    );
  });

  it.each([
    ["a registry", (url: string) => `registry=${url}/\${CLEW_TEST_KEY}/\n`],
    ["the registry of a scope", (url: string) => `@far:registry=${url}/\${CLEW_TEST_KEY}/\n`],
  ])("whose .npmrc names %s is not obeyed, and no key is sent", async (_, npmrc) => {
    const { place, folder } = await folderWith({
      packageJson: { dependencies: { "@far/part": "^1.0.0" } },
    });
    const registry = await startRegistry(place.scratch);
    const packageJson = { name: "@far/part" };
    const part = { id: "part", manifest: null, packageJson };
    registry.publish(writePlugin(join(place.scratch, "part"), part));
    process.env.CLEW_TEST_KEY = "sk-secret";
    const url = process.env.npm_config_registry!.replace(/\/$/, "");
    writeFileSync(join(folder, ".npmrc"), npmrc(url));
    try {
      await installPlugin({ spec: folder }, place);
    } finally {
      delete process.env.CLEW_TEST_KEY;
    }
    expect(registry.requests.join()).toContain("part");
    expect(registry.requests.join()).not.toMatch(/sk-secret|CLEW_TEST_KEY/);
    expect(existsSync(join(place.home, "plugins/small/.npmrc"))).toBe(false);
  });

  it("that depends on a folder outside is refused", async () => {
    const { place, folder } = await folderWith();
    const other = writePlugin(join(place.scratch, "other"), { id: "other" });
    const packageJson = { dependencies: { other: `file:${other}` } };
    writePlugin(folder, { packageJson });
    await expectRefused(folder, place, /leads outside/);
  });

  it.each([
    ["constructor", /means something else/],
    ["installs.json", /means something else/],
    ["NUL", /means something else/],
    ["node_modules", /means something else/],
    ["Package.json", /means something else/],
    ["legacy", /means something else/],
    ["a\u001b[2J\u202e", /id: "a\\u001b\[2J\\u202e" may hold only letters/],
    ["x".repeat(300), /is longer than 100 characters/],
    ["../../evil", /may hold only letters/],
    ["__proto__", /"__proto__" must begin with a letter or a digit/],
  ])("that calls itself %s is refused", async (id, reason) => {
    const { place, folder } = await folderWith({ manifest: { id } });
    await expectRefused(folder, place, reason);
  });

  it.each([
    ["../evil.js", /outside its folder/],
    ["/etc/passwd", /outside its folder/],
  ])("whose entry is %s is refused", async (entry, reason) => {
    const { place, folder } = await folderWith({
      packageJson: { openclaw: { extensions: [entry] } },
    });
    writeFileSync(join(place.scratch, "evil.js"), "");
    await expectRefused(folder, place, reason);
  });

  it.each(["preinstall", "install", "postinstall", "prepare", "prepublish", "dependencies"])(
    "whose npm script %s would run is installed, and the script is not run",
    async (name) => {
      const { place, folder } = await folderWith();
      const ran = join(place.scratch, "ran");
      const scripts = { [name]: `node -e "require('fs').writeFileSync('${ran}', '')"` };
      const part = writePlugin(join(folder, "part"), { id: "part", packageJson: { scripts } });
      const dependencies = { part: "file:./part" };
      writePlugin(folder, { packageJson: { scripts, dependencies } });
      await installPlugin({ spec: folder }, place);
      expect(existsSync(part)).toBe(true);
      expect(existsSync(ran)).toBe(false);
    },
  );

  it("that has no name that npm could read is refused in our words", async () => {
    const { place, folder } = await folderWith();
    const packageJson = { name: ["x"], version: "1.0.0", dependencies: { part: "1.0.0" } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(packageJson));
    await expectRefused(folder, place, /package\.json is invalid: name: /);
  });

  it("that would take the name of the built-in engine is refused", async () => {
    const { place, folder } = await folderWith({ code: engineCode("legacy") });
    await expectRefused(folder, place, /reserved by core: legacy/);
  });

  it("that holds the home itself is refused", async () => {
    const place = await openPlace();
    writePlugin(place.scratch, { id: "around" });
    const failure = await failureOf(installPlugin({ spec: place.scratch }, place));
    expect(failure?.message).toContain("holds the home of Clew itself");
    expectUntouched(place);
  });
});

describe("code that runs while a plugin is installed", () => {
  it.each<[string, string, RegExp]>([
    ["ends the process at import", "process.exit(0);", /ended that process \(exit code 0\)/],
    [
      "ends the process in register",
      "export default { register() { process.exit(0); } };",
      /ended that process \(exit code 0\)/,
    ],
    ["ends the process by a signal", "process.kill(process.pid, 9);", /\(SIGKILL\)/],
    ["aborts the process", "process.abort();", /ended that process \(SIGABRT\)/],
    [
      "pretends to have been tried",
      "process.send?.({ token: '', result: { ok: true, trial: {} } }); throw new Error('caught');",
      /caught/,
    ],
    [
      "breaks what every program needs",
      "JSON.stringify = () => { throw new Error('broken'); }; throw new Error('caught');",
      /caught|ended that process/,
    ],
  ])("and %s costs the install, and nothing else", async (_, code, reason) => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "small"), { code });
    await expectRefused(folder, place, reason);
  });

  it("is ended when it does not end, and with it what it started", async () => {
    const { home, scratch } = await openPlace();
    const started = join(scratch, "started");
    const code = `import { spawn } from "node:child_process";
      import { writeFileSync } from "node:fs";
      const child = spawn("sleep", ["600"]);
      writeFileSync(${JSON.stringify(started)}, String(child.pid));
      while (true) {}`;
    const files = readPluginFiles(writePlugin(join(scratch, "small"), { code }));
    const bounds = { deadlineMs: 10_000, heapMib: 512 };
    const settings = { home, raw: {}, entryConfig: undefined };
    const failure = await failureOf(tryPlugin(files, settings, bounds));
    expect(failure?.message).toBe(
      'Plugin "small" was tried in a process of its own and did not come to an end within 10 s; nothing was changed, and its author should be told.',
    );
    const pid = Number(readFileSync(started, "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(findLeftovers(home)).toEqual([]);
  });

  it("is ended when it eats all memory", async () => {
    const { home, scratch } = await openPlace();
    const code = "const kept = []; while (true) kept.push(new Array(100_000).fill({}));";
    const files = readPluginFiles(writePlugin(join(scratch, "small"), { code }));
    const bounds = { deadlineMs: 30_000, heapMib: 64 };
    const settings = { home, raw: {}, entryConfig: undefined };
    const failure = await failureOf(tryPlugin(files, settings, bounds));
    expect(failure?.message).toContain("needed more than 64 MiB of memory");
  });

  it("is ended when it eats all memory that is not of JavaScript", async () => {
    const { home, scratch } = await openPlace();
    const code = "const kept = []; while (true) kept.push(Buffer.alloc(5e6, 1));";
    const files = readPluginFiles(writePlugin(join(scratch, "small"), { code }));
    const bounds = { deadlineMs: 60_000, heapMib: 128, residentMib: 700 };
    const settings = { home, raw: {}, entryConfig: undefined };
    const failure = await failureOf(tryPlugin(files, settings, bounds));
    expect(failure?.message).toContain("needed more than 700 MiB of memory");
  });

  it("is shown in words that neither steer a terminal nor go on for ever", async () => {
    const place = await openPlace();
    const code = 'throw new Error("\\u001b[2J\\u202e" + "x".repeat(5_000_000));';
    const folder = writePlugin(join(place.scratch, "small"), { code });
    const failure = await failureOf(installPlugin({ spec: folder }, place));
    expect(failure?.message).toMatch(/small.*\\u001b\[2J\\u202exxx.*x…$/);
    expect(failure?.message.length).toBeLessThan(3000);
  });

  it("is named also where what it exports throws", async () => {
    const place = await openPlace();
    const code = 'export default new Proxy({}, { get() { throw new Error("trap"); } });';
    const folder = writePlugin(join(place.scratch, "small"), { code });
    await expectRefused(folder, place, /"small".*trap/);
  });

  it("may not end who installs it", async () => {
    const place = await openPlace();
    const code = 'process.kill(process.ppid, "SIGTERM");';
    const folder = writePlugin(join(place.scratch, "small"), { code });
    await expectRefused(folder, place, /would end who installs it; it was refused/);
  });

  const own = "const own = fileURLToPath(import.meta.url);";
  it.each([
    ["deletes its files", `${own} rmSync(own);`, /or removed its own file index\.js/],
    [
      "deletes its folder",
      `${own} rmSync(join(own, ".."), { recursive: true });`,
      /"small" was tried .* and changed or removed its own file index\.js/,
    ],
    ["writes itself anew", `${own} writeFileSync(own, "");`, /or removed its own file index\.js/],
    ["links to others' files", 'symlinkSync("/etc", join(own, "../etc"));', /leads outside/],
  ])("and then %s is not installed", async (_, act, reason) => {
    const place = await openPlace();
    const code = `import { rmSync, symlinkSync, writeFileSync } from "node:fs";
      import { join } from "node:path";
      import { fileURLToPath } from "node:url";
      ${act.startsWith(own) ? "" : own}
      ${act}
      export default { register() {} };`;
    const folder = writePlugin(join(place.scratch, "small"), { code });
    await expectRefused(folder, place, reason);
  });

  it("and leaves errors behind that nothing catches is installed, and they are told", async () => {
    const place = await openPlace();
    const code = `Promise.reject(new Error("unheard"));
      setTimeout(() => { throw new Error("late"); }, 10);
      export default { register() {} };`;
    const folder = writePlugin(join(place.scratch, "small"), { code });
    const { notes } = await installPlugin({ spec: folder }, place);
    expect(notes).toContain("a promise failed unheard: unheard");
    expect(notes).toContain("an error was thrown where nothing could catch it: late");
  });

  it("and cannot be read is told by its file's own name", async () => {
    const place = await openPlace();
    const packageJson = { openclaw: { extensions: ["./data.json"] } };
    const folder = writePlugin(join(place.scratch, "small"), { packageJson });
    writeFileSync(join(folder, "data.json"), "{}");
    await expectRefused(folder, place, /"small".*data\.json/);
  });

  it("leaves no program behind, in whatever group it put it", async () => {
    const place = await openPlace();
    const started = join(place.scratch, "started");
    const code = `import { spawn } from "node:child_process";
      import { writeFileSync } from "node:fs";
      const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
      child.unref();
      writeFileSync(${JSON.stringify(started)}, String(child.pid));
      export default { register() {} };`;
    await installPlugin({ spec: writePlugin(join(place.scratch, "small"), { code }) }, place);
    const pid = Number(readFileSync(started, "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it("runs only after somebody agreed to what they were shown", async () => {
    const { scratch, ...place } = await openPlace();
    const ran = join(scratch, "ran");
    const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, ""); ${engineCode("small")}`;
    const manifest = { kind: "context-engine", contracts: { tools: ["small_look"] } };
    const folder = writePlugin(join(scratch, "small"), { code, manifest });
    for (const link of [false, true]) {
      const shown: string[] = [];
      const agree = async (plugin: readonly string[]) => {
        shown.push(...plugin);
        return false;
      };
      const failure = await failureOf(installPlugin({ spec: folder, link, agree }, place));
      expect(failure?.message).toBe('Plugin "small" was not installed, and nothing of it was run.');
      expect(shown.join("\n")).toMatch(/small 1\.0\.0 \(small\), from .*\n.*context-engine/);
      expect(shown.join("\n")).toContain("small_look");
      expect(existsSync(ran)).toBe(false);
      expectUntouched(place);
    }
    await installPlugin({ spec: folder, agree: async () => true }, place);
    expect(existsSync(ran)).toBe(true);
  });
});

describe("a plugin with the id of one that comes with Clew", () => {
  it("is installed only by force, and whoever is asked is told whose name it takes", async () => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "fake"), { id: "lossless" });
    for (const link of [false, true]) {
      const failure = await failureOf(installPlugin({ spec: folder, link }, place));
      expect(failure?.message).toBe(
        'Plugin "lossless" has the id of one that comes with Clew, and would take its name, its settings, its slot and its data; if that is what you want, add --force.',
      );
      expectUntouched(place);
    }
    const shown: string[] = [];
    const agree = async (plugin: readonly string[]) => {
      shown.push(...plugin);
      return false;
    };
    await failureOf(installPlugin({ spec: folder, force: true, agree }, place));
    expect(shown).toContain(
      '  takes the name, settings, slot and data of "lossless", which comes with Clew',
    );
    await installPlugin({ spec: folder, force: true }, place);
  });
});

describe("a dependency from elsewhere than npm's registry", () => {
  it("is told of before anything runs, and where nobody is asked, whatever npm's settings", async () => {
    const place = await openPlace();
    vi.stubEnv("npm_config_omit_lockfile_registry_resolved", "true");
    onTestFinished(() => void vi.unstubAllEnvs());
    const packageJson = { dependencies: { part: "^1.0.0" } };
    const folder = writePlugin(join(place.scratch, "small"), { packageJson });
    const registry = await startRegistry(place.scratch);
    registry.publish(writePlugin(join(place.scratch, "part"), { id: "part", manifest: null }));
    const { host, port } = new URL(process.env.npm_config_registry!);
    const lock = {
      ...{ name: "small", version: "1.0.0", lockfileVersion: 3 },
      packages: {
        "": { name: "small", version: "1.0.0", dependencies: { part: "^1.0.0" } },
        "node_modules/part": {
          version: "1.0.0",
          resolved: (await tarballOf("part")).replace(host, `localhost:${port}`),
        },
      },
    };
    writeFileSync(join(folder, "npm-shrinkwrap.json"), JSON.stringify(lock));
    const shown: string[] = [];
    const agree = async (plugin: readonly string[]) => {
      shown.push(...plugin);
      return true;
    };
    const { notes } = await installPlugin({ spec: folder, agree }, place);
    const elsewhere = `localhost:${port}`;
    expect(shown).toContain(`  fetched from other places than npm's registry: ${elsewhere}`);
    expect(notes).toContain(
      `Of its files some were fetched from ${elsewhere}, which is not npm's registry.`,
    );
  });
});

async function tarballOf(name: string): Promise<string> {
  const answer = await fetch(`${process.env.npm_config_registry!.replace(/\/$/, "")}/${name}`);
  const { versions } = (await answer.json()) as {
    versions: Record<string, { dist: { tarball: string } }>;
  };
  return versions["1.0.0"]!.dist.tarball;
}

describe("what an install left behind that was killed", () => {
  it("is cleared by the next one, and an old version whose new one never came is put back", async () => {
    const place = await openPlace();
    const first = writePlugin(join(place.scratch, "first"), { id: "first" });
    await installPlugin({ spec: first }, place);
    const plugins = join(place.home, "plugins");
    execFileSync("mv", [join(plugins, "first"), join(plugins, ".replaced-0badcafe")]);
    mkdirSync(join(plugins, ".staging-0badcafe"));
    mkdirSync(join(plugins, ".trial-0badcafe"));
    for (const [draft, seconds] of [
      ["installs.json.12345", 0],
      ["installs.json.678", Date.now() / 1000],
    ] as const) {
      writeFileSync(join(plugins, draft), "{");
      utimesSync(join(plugins, draft), seconds, seconds);
    }
    expect(findLeftovers(place.home)).toHaveLength(4);
    await installPlugin({ spec: writePlugin(join(place.scratch, "small")) }, place);
    expect(readdirSync(plugins).sort()).toEqual([
      ...["first", "installs.json", "installs.json.678", "small"],
    ]);
  });
});

describe("the environment of npm", () => {
  it("holds what npm needs and what the person's own .npmrc names, and no key", () => {
    const variables = {
      ...{ PATH: "/bin", https_proxy: "http://p", npm_config_registry: "r", NPM_TOKEN: "t" },
      ...{ OPENAI_API_KEY: "sk-1", CLEW_HOME: "/h", AWS_SECRET_ACCESS_KEY: "s", GONE: undefined },
    };
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what an .npmrc says.
    const npmrc = "//r/:_authToken=${NPM_TOKEN}\nother=${GONE?}";
    expect(planNpmEnvironment(variables, npmrc)).toEqual({
      ...{ PATH: "/bin", https_proxy: "http://p", npm_config_registry: "r", NPM_TOKEN: "t" },
    });
    expect(planNpmEnvironment(variables, "")).not.toHaveProperty("NPM_TOKEN");
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
