import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import {
  engineCode,
  startPluginGateway,
  type WrittenPlugin,
  writePlugin,
} from "../../testing/plugins.ts";
import { installPlugin } from "../install/install.ts";
import { packPlugin } from "./pack.ts";

const ROOT = join(import.meta.dirname, "../../../../..");

describe("a plugin that is packed", () => {
  it.each([
    ["apps/examples/minimal-engine", "example-minimal", "example-minimal"],
    ["apps/examples/delegating-engine", "example-delegating", "example-delegating"],
    ["apps/examples/owning-engine", "example-owning", "example-owning"],
    ["packages/lossless-engine", "lossless", "lossless"],
  ])(
    "%s is installed from its one file, and answers a turn",
    async (folder, pluginId, engineId) => {
      const scratch = await temporaryHome();
      const out = join(scratch, "plugin.tgz");
      const packed = await packPlugin({ path: folder, out }, ROOT);
      expect(packed.findings.filter(({ level }) => level === "failure")).toEqual([]);
      expect(packed.file).toBe(out);
      const home = join(scratch, "home");
      mkdirSync(home);
      const place = { home, configFile: join(home, "clew.json"), cwd: scratch };
      // One of them comes with Clew.
      const force = pluginId === "lossless";
      const installed = await installPlugin({ spec: out, force }, place);
      expect(installed.pluginId).toBe(pluginId);
      const config = JSON5.parse(readFileSync(place.configFile, "utf8"));
      expect(config.plugins.slots.contextEngine).toBe(engineId);
      const { say, plugins } = await startPluginGateway(config, home);
      expect(plugins.records().find(({ id }) => id === pluginId)).toMatchObject({
        ...{ status: "loaded", origin: "installed", engines: [engineId] },
      });
      const { report, reply } = await say("hello");
      expect(reply).toBeDefined();
      expect(report.engine).toMatchObject({ ran: engineId, degraded: null });
    },
  );

  it("is one file of code without dependencies, and says which hosts it is for", async () => {
    const scratch = await temporaryHome();
    const out = join(scratch, "plugin.tgz");
    const { files } = await packPlugin({ path: "apps/examples/minimal-engine", out }, ROOT);
    expect(files).toEqual(["README.md", "dist/engine.js", "openclaw.plugin.json", "package.json"]);
  });

  it("is a module, also where its one file was CommonJS", async () => {
    const scratch = await temporaryHome();
    const path = writePlugin(join(scratch, "small"), {
      packageJson: { type: "commonjs" },
      code: 'const { sep } = require("node:path"); module.exports = { id: "small", register: (api) => api.logger.info(sep) };',
    });
    const out = join(scratch, "plugin.tgz");
    expect((await packPlugin({ path, out }, scratch)).findings).toEqual([]);
    expect(existsSync(out)).toBe(true);
  });

  it("brings what its code reads beside it, and is told what it lacks of that", async () => {
    const scratch = await temporaryHome();
    const code = `import { readFileSync } from "node:fs";
      import { Worker } from "node:worker_threads";
      export default { id: "small", register(api) {
        api.registerCommand({ name: "look", description: "Reads", handler: () => ({
          text: readFileSync(new URL("./data.txt", import.meta.url), "utf8")
            + readFileSync(new URL("./notes/one.md", import.meta.url), "utf8") }) });
        api.work = () => new Worker(new URL("./worker.js", import.meta.url));
      } };`;
    const path = writePlugin(join(scratch, "small"), {
      code,
      packageJson: { files: ["index.js"] },
    });
    mkdirSync(join(path, "notes"));
    writeFileSync(join(path, "data.txt"), "the tide");
    writeFileSync(join(path, "notes/one.md"), " comes in");
    writeFileSync(join(path, "part.js"), "export const part = 42;");
    writeFileSync(join(path, "worker.js"), 'import { part } from "./part.js"; console.log(part);');
    const out = join(scratch, "plugin.tgz");
    const packed = await packPlugin({ path, out }, scratch);
    expect(packed.findings).toEqual([]);
    expect(packed.files).toEqual(
      expect.arrayContaining(["dist/data.txt", "dist/notes/one.md", "dist/worker.js"]),
    );
    expect(packed.files).not.toContain("dist/part.js");
    const home = join(scratch, "home");
    mkdirSync(home);
    await installPlugin({ spec: out }, { home, configFile: join(home, "clew.json"), cwd: scratch });
    const config = JSON5.parse(readFileSync(join(home, "clew.json"), "utf8"));
    const { gateway } = await startPluginGateway(config, home);
    const look = { kind: "command", name: "look", args: "" } as const;
    expect((await gateway.command("main", look)).text).toBe("the tide comes in");
    const asItIs = await packPlugin({ path, check: true }, scratch);
    expect(asItIs.findings.map(({ text }) => text)).toContain(
      'index.js reads "data.txt" beside it, which the package lacks: what needs it fails.',
    );
  });

  it("is the same to the byte each time", async () => {
    const scratch = await temporaryHome();
    const pack = async (name: string) => {
      const out = join(scratch, name);
      await packPlugin({ path: "apps/examples/minimal-engine", out }, ROOT);
      return readFileSync(out);
    };
    expect((await pack("one.tgz")).equals(await pack("two.tgz"))).toBe(true);
  });

  it("is not written when it would not work, and its folder stays as it is", async () => {
    const scratch = await temporaryHome();
    const folder = writePlugin(join(scratch, "small"), {
      code: engineCode("small", "afterTurn() {},"),
    });
    const { file, findings } = await packPlugin({ path: "small" }, scratch);
    expect(file).toBeNull();
    expect(existsSync(join(scratch, "small-1.0.0.tgz"))).toBe(false);
    expect(existsSync(join(folder, "dist"))).toBe(false);
    expect(findings).toContainEqual({
      ...{ level: "failure", hosts: ["openclaw"] },
      text: expect.stringContaining('Engine "small" stores turns and has no commitTurn'),
    });
  });

  it("says where code cannot be made one file", async () => {
    const scratch = await temporaryHome();
    writePlugin(join(scratch, "small"), { code: 'import "not-there"; export default {};' });
    await expect(packPlugin({ path: "small" }, scratch)).rejects.toThrow(
      /index\.js cannot be made one file: index\.js:1: Could not resolve "not-there"\.$/,
    );
  });
});

/** The sentences about a plugin as it is. */
async function check(plugin: WrittenPlugin): Promise<string[]> {
  const scratch = await temporaryHome();
  writePlugin(join(scratch, "small"), plugin);
  const { findings, file } = await packPlugin({ path: "small", check: true }, scratch);
  expect(file).toBeNull();
  return findings.map(({ level, hosts, text }) => `${level} ${hosts.join("+")}: ${text}`);
}

describe("a plugin that is checked as it is", () => {
  it("has nothing said of it when nothing is wrong, also when it is packed already", async () => {
    expect(await check({})).toEqual([]);
    const scratch = await temporaryHome();
    writePlugin(join(scratch, "small"));
    const { file } = await packPlugin({ path: "small" }, scratch);
    expect((await packPlugin({ path: file!, check: true }, scratch)).findings).toEqual([]);
    await expect(packPlugin({ path: file! }, scratch)).rejects.toThrow("is packed already");
  });

  it.each<[what: string, plugin: WrittenPlugin, sentence: string]>([
    [
      "an entry that is not packed",
      { packageJson: { files: ["openclaw.plugin.json"] } },
      "failure clew+openclaw: Its entry ./index.js is not in the package; build it",
    ],
    [
      "an import of nothing that it brings",
      { code: 'import "left-pad"; export default { register() {} };' },
      'failure clew+openclaw: index.js imports "left-pad", which is not in the package; bundle it.',
    ],
    [
      "a version range that no host has",
      {
        packageJson: { openclaw: { extensions: ["./index.js"], compat: { pluginApi: ">=2099" } } },
      },
      "failure openclaw: It asks for the plugin API >=2099",
    ],
    [
      "code that does not register",
      { code: 'export default { register() { throw new Error("no luck"); } };' },
      'failure clew: Plugin "small" failed in register: no luck, at index.js:1.',
    ],
    [
      "an engine that nothing selects",
      { code: engineCode("small").replace("ingested: true", "ingested: false") },
      "note clew: It registers an engine, and the manifest has no kind",
    ],
    [
      "an engine whose ingest stores",
      { manifest: { kind: "context-engine" }, code: engineCode("small") },
      'failure openclaw: Engine "small" stores turns',
    ],
  ])("with %s has that said of it", async (_, plugin, sentence) => {
    expect(await check(plugin)).toContainEqual(expect.stringContaining(sentence));
  });

  it("is refused when it is no archive", async () => {
    const scratch = await temporaryHome();
    writeFileSync(join(scratch, "small.tgz"), "no archive");
    const request = { path: "small.tgz", check: true };
    await expect(packPlugin(request, scratch)).rejects.toThrow("is not a tar archive");
  });
});
