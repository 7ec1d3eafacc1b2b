import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { checkConfigText } from "../../config/load.ts";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { packFolder, startRegistry, useRegistry } from "../../testing/npm-registry.ts";
import {
  collectLog,
  copyTidepool,
  engineCode,
  type WrittenPlugin,
  writePlugin,
} from "../../testing/plugins.ts";
import { readRecords } from "../find/records.ts";
import { createPluginHost } from "../host.ts";
import { undeclaredTools } from "../load/register.ts";
import { type InstallPlace, installPlugin } from "./install.ts";
import { describe as describeNpm } from "./npm.ts";
import { rollbackPlugin } from "./rollback.ts";
import { planSource } from "./source.ts";
import { disablePlugin, enablePlugin } from "./switch.ts";
import { uninstallPlugin } from "./uninstall.ts";
import { updatePlugins } from "./update.ts";

const CONFIG = `{
  // The person's own words.
  gateway: { port: 18791 }, // mine
  plugins: { slots: { contextEngine: 'legacy' } },
}
`;

async function openPlace(
  config: string | null = CONFIG,
): Promise<InstallPlace & { scratch: string }> {
  const scratch = await temporaryHome();
  const home = join(scratch, "home");
  mkdirSync(home);
  const configFile = join(home, "clew.json");
  if (config !== null) writeFileSync(configFile, config);
  return { home, configFile, cwd: scratch, scratch };
}

const read = ({ configFile }: InstallPlace) =>
  existsSync(configFile) ? readFileSync(configFile, "utf8") : null;
const parsed = (place: InstallPlace) =>
  JSON5.parse<{ plugins: Record<string, never> }>(read(place) ?? "{}").plugins;
const listed = ({ home }: InstallPlace) => readdirSync(home).sort();

/** What a gateway that starts now makes of the place. */
async function start(place: InstallPlace) {
  const { config, raw } = checkConfigText(read(place) ?? "{}", place.configFile);
  const host = await createPluginHost({
    home: place.home,
    plugins: config.plugins,
    raw,
    log: collectLog(),
  });
  const records = host.records();
  await host.close();
  return records;
}

describe("installing a plugin from a folder", () => {
  it("copies it, switches it on, gives it the slot, and says what the slot was", async () => {
    const place = await openPlace();
    const source = copyTidepool(place.scratch);
    const { pluginId, version, notes } = await installPlugin({ spec: "./tidepool" }, place);
    expect([pluginId, version]).toEqual(["tidepool-context", "0.3.1"]);
    expect(notes[0]).toBe(
      'plugins.slots.contextEngine: "legacy" -> "tidepool"; to go back: clew config set plugins.slots.contextEngine legacy',
    );
    expect(notes.at(-1)).toContain("tide_grep, tide_count, tide_forget");
    expect(parsed(place)).toEqual({
      slots: { contextEngine: "tidepool" },
      entries: { "tidepool-context": { enabled: true } },
    });
    expect(read(place)).toContain("// The person's own words.");
    expect(readFileSync(join(place.home, "plugins/tidepool-context/lib/index.js"), "utf8")).toBe(
      readFileSync(join(source, "lib/index.js"), "utf8"),
    );
    expect(await start(place)).toMatchObject([
      { id: "tidepool-context", origin: "installed", status: "loaded", engines: ["tidepool"] },
    ]);
    expect(listed(place)).toEqual(["clew.json", "plugins"]);
  });

  it("leaves other engine plugins switched on", async () => {
    const place = await openPlace();
    writePlugin(join(place.scratch, "wave"), {
      id: "wave",
      manifest: { kind: ["context-engine"] },
      code: engineCode("wave"),
    });
    copyTidepool(place.scratch);
    await installPlugin({ spec: "./wave" }, place);
    const { notes } = await installPlugin({ spec: "./tidepool" }, place);
    expect(notes[0]).toContain('"wave" -> "tidepool"');
    expect((await start(place)).map(({ status }) => status)).toEqual(["loaded", "loaded"]);
  });

  it("takes the memory slot for a memory plugin, and no slot for one of no kind", async () => {
    const place = await openPlace("{}");
    writePlugin(join(place.scratch, "mem"), { id: "mem", manifest: { kind: "memory" } });
    writePlugin(join(place.scratch, "plain"), { id: "plain" });
    await installPlugin({ spec: "./mem" }, place);
    expect((await installPlugin({ spec: "./plain" }, place)).notes).toEqual([]);
    expect(parsed(place)).toMatchObject({ slots: { memory: "mem" } });
    await uninstallPlugin({ pluginId: "mem" }, place);
    await uninstallPlugin({ pluginId: "plain" }, place);
    expect(read(place)).toBe("{}");
  });

  it("says which agents have its engine when it is switched off or removed", async () => {
    const place = await openPlace('{ agents: { list: [{ id: "coder", engine: "wave" }] } }');
    writePlugin(join(place.scratch, "surf"), { id: "surf", code: engineCode("wave") });
    await installPlugin({ spec: "./surf" }, place);
    await start(place);
    const listed = async () => (await clew(place.home, ["plugins", "list"])).output;
    expect(await listed()).toMatch(/^surf +1\.0\.0 +on /m);
    expect(await disablePlugin("surf", place)).toContain(
      'Agent "coder" keeps its engine "wave"; while the plugin is off, "legacy" answers it.',
    );
    const { notes } = await uninstallPlugin({ pluginId: "surf" }, place);
    expect(notes).toContain(
      'Agent "coder" is left with the engine "wave", without which no gateway starts: name another one in agents.list, or none.',
    );
  });

  it("says in the list that a memory is not used, and what the slot names", async () => {
    const place = await openPlace("{ plugins: { slots: { memory: 'none' } } }");
    writePlugin(join(place.scratch, "mem"), { id: "mem", manifest: { kind: "memory" } });
    await installPlugin({ spec: "./mem" }, place);
    const listed = async () => (await clew(place.home, ["plugins", "list"])).output;
    expect(await listed()).not.toContain("mem: its memory");
    await clew(place.home, ["config", "set", "plugins.slots.memory", "none"]);
    expect(await listed()).toContain(
      "mem: its memory is not used: plugins.slots.memory names none",
    );
  });

  it("adds it to an allow list that is there", async () => {
    const place = await openPlace("{ plugins: { allow: ['other'] } }");
    writePlugin(join(place.scratch, "plain"), { id: "plain" });
    await installPlugin({ spec: "./plain" }, place);
    expect(parsed(place)).toMatchObject({ allow: ["other", "plain"] });
    await uninstallPlugin({ pluginId: "plain" }, place);
    expect(read(place)).toBe("{ plugins: { allow: ['other'] } }");
  });

  it("a second time needs --force, which replaces it", async () => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "wave"), {
      id: "wave",
      code: engineCode("wave"),
    });
    await installPlugin({ spec: "./wave" }, place);
    await expect(installPlugin({ spec: "./wave" }, place)).rejects.toThrow(
      'Plugin "wave" 1.0.0 is already installed; to put this in its place, add --force',
    );
    writeFileSync(join(folder, "index.js"), engineCode("wave2"));
    await installPlugin({ spec: "./wave", force: true }, place);
    expect(await start(place)).toMatchObject([{ engines: ["wave2"] }]);
    await uninstallPlugin({ pluginId: "wave" }, place);
    expect(read(place)).toBe(CONFIG);
  });

  it("installs its dependencies without running a script", async () => {
    const place = await openPlace();
    const registry = await startRegistry(place.scratch);
    const postinstall = `node -e "require('fs').writeFileSync('${join(place.scratch, "ran")}', '')"`;
    registry.publish(
      writePlugin(join(place.scratch, "dep"), {
        id: "shell-counter",
        manifest: null,
        code: "export default 'counted';",
        packageJson: { scripts: { postinstall }, exports: "./index.js" },
      }),
    );
    writePlugin(join(place.scratch, "wave"), {
      id: "wave",
      code: `import name from "shell-counter"; ${engineCode("x").replace('"x"', "name")}`,
      packageJson: { dependencies: { "shell-counter": "^1.0.0" }, scripts: { postinstall } },
    });
    await installPlugin({ spec: "./wave" }, place);
    expect(await start(place)).toMatchObject([{ status: "loaded", engines: ["counted"] }]);
    expect(existsSync(join(place.scratch, "ran"))).toBe(false);
  });
});

describe("linking a folder", () => {
  it("uses it where it is, and leaves it there", async () => {
    const place = await openPlace(null);
    const folder = copyTidepool(place.scratch);
    await installPlugin({ spec: "./tidepool", link: true }, place);
    expect(parsed(place)).toMatchObject({
      load: { paths: [folder] },
      slots: { contextEngine: "tidepool" },
    });
    expect(await start(place)).toMatchObject([
      { id: "tidepool-context", origin: "linked", status: "loaded" },
    ]);
    const [update] = await updatePlugins(["tidepool-context"], place);
    expect(update).toEqual({
      pluginId: "tidepool-context",
      changed: false,
      note: expect.stringContaining(
        'is linked: there is nothing to update; "clew plugins reload" reads',
      ),
    });
    await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect(existsSync(join(folder, "lib/index.js"))).toBe(true);
    expect(listed(place)).toEqual([]);
  });

  it("gives way to a copy that replaces it by force, and to another linked folder", async () => {
    const place = await openPlace();
    const folders = ["one", "two"].map((name) =>
      writePlugin(join(place.scratch, name), {
        id: "small",
        packageJson: { version: `${name}.0` },
      }),
    );
    await installPlugin({ spec: "./one", link: true }, place);
    const { notes } = await installPlugin({ spec: "./two", link: true, force: true }, place);
    expect(notes[0]).toBe(`${folders[0]}, which was linked, is removed from plugins.load.paths.`);
    expect(await start(place)).toMatchObject([{ origin: "linked", folder: folders[1] }]);
    await expect(rollbackPlugin({ pluginId: "small", withData: true }, place)).rejects.toThrow(
      "is linked, so what is in",
    );
    await installPlugin({ spec: "./one", force: true }, place);
    expect(await start(place)).toMatchObject([
      { origin: "installed", folder: join(place.home, "plugins/small"), status: "loaded" },
    ]);
    await uninstallPlugin({ pluginId: "small" }, place);
    expect(read(place)).toBe(CONFIG);
  });

  it("is for folders only", async () => {
    const place = await openPlace();
    await expect(installPlugin({ spec: "some-package", link: true }, place)).rejects.toThrow(
      "Only a folder can be linked",
    );
    await expect(installPlugin({ spec: ".", pin: true }, place)).rejects.toThrow(
      "Only a package from npm can be pinned",
    );
  });
});

describe("installing from an archive", () => {
  it("takes what npm pack made", async () => {
    const place = await openPlace();
    useRegistry("http://127.0.0.1:9", place.scratch);
    const archive = packFolder(copyTidepool(place.scratch), place.scratch);
    await installPlugin({ spec: archive }, place);
    expect(await start(place)).toMatchObject([
      { id: "tidepool-context", origin: "installed", status: "loaded" },
    ]);
    await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect([read(place), listed(place)]).toEqual([CONFIG, ["clew.json"]]);
  });
});

describe("installing from npm", () => {
  it("fetches the package but not its peers, and follows its versions unless pinned", async () => {
    const place = await openPlace();
    const registry = await startRegistry(place.scratch);
    const folder = copyTidepool(place.scratch);
    registry.publish(folder);
    await installPlugin({ spec: "@tidepool/context" }, place);
    expect(registry.requests.some((path) => path.includes("openclaw"))).toBe(false);
    expect(await start(place)).toMatchObject([
      { id: "tidepool-context", version: "0.3.1", status: "loaded" },
    ]);
    expect(await updatePlugins([], place)).toEqual([
      {
        pluginId: "tidepool-context",
        changed: false,
        note: "tidepool-context 0.3.1 is the newest that @tidepool/context allows.",
      },
    ]);

    const manifest = join(folder, "package.json");
    writeFileSync(
      manifest,
      readFileSync(manifest, "utf8").replace('"version": "0.3.1"', '"version": "0.4.0"'),
    );
    registry.publish(folder);
    expect(await updatePlugins(["tidepool-context"], place)).toMatchObject([
      {
        changed: true,
        note: "tidepool-context: 0.3.1 -> 0.4.0. To go back to 0.3.1: clew plugins rollback tidepool-context",
      },
    ]);
    expect(readRecords(place.home).plugins["tidepool-context"]).toMatchObject({
      source: "npm",
      version: "0.4.0",
    });

    await installPlugin({ spec: "@tidepool/context@0.3.1", force: true, pin: true }, place);
    expect(await updatePlugins([], place)).toMatchObject([{ changed: false }]);
    await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect([read(place), listed(place)]).toEqual([CONFIG, ["clew.json"]]);
  });

  it("an update that does not work leaves the old version in place", async () => {
    const place = await openPlace();
    const registry = await startRegistry(place.scratch);
    const folder = writePlugin(join(place.scratch, "wave"), {
      id: "wave",
      code: engineCode("wave"),
    });
    registry.publish(folder);
    await installPlugin({ spec: "wave" }, place);
    writePlugin(folder, {
      id: "wave",
      code: "throw new Error('broken release');",
      packageJson: { version: "2.0.0" },
    });
    registry.publish(folder);
    await expect(updatePlugins([], place)).rejects.toThrow("broken release");
    expect(await start(place)).toMatchObject([{ id: "wave", version: "1.0.0", status: "loaded" }]);
    expect(readdirSync(join(place.home, "plugins"))).toEqual(["installs.json", "wave"]);
  });

  it("says what is wrong with a package that is no plugin, not there, or out of reach", async () => {
    const place = await openPlace();
    const registry = await startRegistry(place.scratch);
    registry.publish(
      writePlugin(join(place.scratch, "is-small"), { id: "is-small", manifest: null }),
    );
    await expect(installPlugin({ spec: "is-small" }, place)).rejects.toThrow(
      '"is-small" (is-small 1.0.0) is not a plugin: it has no openclaw.plugin.json; nothing was installed.',
    );
    await expect(installPlugin({ spec: "no-such-package" }, place)).rejects.toMatchObject({
      code: "PLUGIN_INSTALL_FAILED",
      message: 'npm has no package "no-such-package"; check the name.',
    });
    const packageJson = { dependencies: { "@gone/part": "^1.0.0" } };
    registry.publish(writePlugin(join(place.scratch, "lacking"), { id: "lacking", packageJson }));
    await expect(installPlugin({ spec: "lacking" }, place)).rejects.toThrow(
      'npm has no package @gone/part, which "lacking" depends on; ask who made it for one that is whole.',
    );
    await expect(installPlugin({ spec: "is-small@7" }, place)).rejects.toThrow(
      'npm has no such version of "is-small@7"',
    );
    useRegistry("http://127.0.0.1:9", place.scratch);
    await expect(installPlugin({ spec: "somewhere-else" }, place)).rejects.toThrow(
      '"somewhere-else" could not be fetched: the npm registry does not answer (ECONNREFUSED); check the network and try again.',
    );
    expect([read(place), listed(place)]).toEqual([CONFIG, ["clew.json"]]);
  });

  it("has a sentence for every way npm fails", () => {
    expect(describeNpm("npm error code E403\n", "x")).toContain(
      'log in to its registry with "npm login" first',
    );
    expect(describeNpm("npm error code EWEIRD\nnpm error something odd\n", "x")).toBe(
      "npm could not install x (EWEIRD): something odd.",
    );
    expect(describeNpm("", "x")).toBe("npm could not install x: it gave no reason.");
  });
});

const NEEDS_ANOTHER = "a plugin it requires and that is not there";

describe("what an install refuses", () => {
  it.each<[string, WrittenPlugin, RegExp]>([
    ["no manifest", { manifest: null }, /is not a plugin: it has no openclaw\.plugin\.json/],
    ["a bad manifest", { manifest: "{" }, /is not JSON5/],
    [
      "another id",
      { code: "export default { id: 'other', register() {} };" },
      /"small" calls itself "other" in its code and "small" in its manifest/,
    ],
    [
      "an async register",
      { code: "export default { async register() {} };" },
      /plugin register must be synchronous/,
    ],
    [
      "a throwing register",
      { code: "export default { register() { throw new Error('no luck'); } };" },
      /failed in register: no luck/,
    ],
    [
      "a missing dist",
      { packageJson: { openclaw: { extensions: ["./dist/index.js"] } } },
      /names the entry \.\/dist\/index\.js, which is not in .*small; a source checkout must be built first/,
    ],
    [
      "an engine of the wrong shape",
      {
        code: "export default (api) => api.registerContextEngine('e', () => ({ info: { id: 'e' } }));",
      },
      /returned an invalid ContextEngine: missing info\.name, missing ingest\(\)/,
    ],
    [
      "an engine that cannot be made",
      {
        code: "export default (api) => api.registerContextEngine('e', () => { throw new Error('no disk'); });",
      },
      /context engine "e" could not be created: no disk/,
    ],
    [
      "another plugin API",
      { packageJson: { openclaw: { compat: { pluginApi: ">=2030.0.0" } } } },
      /needs the plugin API >=2030\.0\.0/,
    ],
    [
      NEEDS_ANOTHER,
      { manifest: { requiresPlugins: ["wind"] } },
      /^Plugin "small" requires plugin "wind"; install that first\.$/,
    ],
    [
      "a configuration that lacks something",
      { manifest: { configSchema: { type: "object", required: ["key"] } } },
      /invalid config: must have required property 'key'/,
    ],
  ])("%s: one sentence, and nothing changed", async (what, plugin, reason) => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "small"), plugin);
    for (const link of [false, true]) {
      const failure = await installPlugin({ spec: folder, link }, place).then(
        () => undefined,
        (error: Error) => error,
      );
      expect(failure).toMatchObject({
        code: what === NEEDS_ANOTHER ? "PLUGIN_INSTALL_FAILED" : "PLUGIN_INVALID",
        message: expect.stringMatching(reason),
      });
      expect(failure!.message).not.toMatch(/\n|\.staging/);
      expect([read(place), listed(place)]).toEqual([CONFIG, ["clew.json"]]);
    }
  });

  it("no plugin for a tool that its manifest does not name: that one is left out, and it is said", async () => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "small"), {
      manifest: { contracts: { tools: ["declared"] } },
      code: `export default (api) => {
        const tool = (name) => ({ name, description: "", parameters: {}, execute: () => ({ content: [] }) });
        api.registerTool(tool("stray"));
        api.registerTool(tool("own"), { name: "declared" });
        api.registerTool(() => [tool("declared"), tool("hidden")]);
      };`,
    });
    const { notes } = await installPlugin({ spec: folder }, place);
    expect(notes).toEqual(
      expect.arrayContaining([["stray", "own"], ["hidden"]].map(undeclaredTools)),
    );
  });

  it("a path with nothing, a file, an address", async () => {
    const place = await openPlace();
    writeFileSync(join(place.scratch, "note.txt"), "");
    await expect(installPlugin({ spec: "./nowhere" }, place)).rejects.toMatchObject({
      code: "FILE_NOT_FOUND",
      message: expect.stringMatching(/There is nothing at .*nowhere/),
    });
    await expect(installPlugin({ spec: "./note.txt" }, place)).rejects.toThrow(
      /neither a folder nor a \.tgz/,
    );
    await expect(installPlugin({ spec: "git+https://example.com/x.git" }, place)).rejects.toThrow(
      "not from git+https: addresses",
    );
    await expect(installPlugin({ spec: "clawhub:thing" }, place)).rejects.toThrow(
      "not from clawhub: addresses",
    );
    await expect(installPlugin({ spec: "a b" }, place)).rejects.toThrow(
      "neither a path nor an npm package",
    );
    expect([read(place), listed(place)]).toEqual([CONFIG, ["clew.json"]]);
  });

  it("a plugin that is denied", async () => {
    const place = await openPlace("{ plugins: { deny: ['plain'] } }");
    writePlugin(join(place.scratch, "plain"), { id: "plain" });
    await expect(installPlugin({ spec: "./plain" }, place)).rejects.toThrow(
      'Plugin "plain" is in plugins.deny',
    );
    expect(listed(place)).toEqual(["clew.json"]);
  });

  it("a configuration that is broken already", async () => {
    const place = await openPlace("{ gateway: }");
    writePlugin(join(place.scratch, "plain"), { id: "plain" });
    await expect(installPlugin({ spec: "./plain" }, place)).rejects.toThrow("is not JSON5");
    expect(listed(place)).toEqual(["clew.json"]);
  });
});

describe("what the argument means", () => {
  it("is decided by how it looks", async () => {
    const { scratch } = await openPlace();
    writePlugin(join(scratch, "folder"), {});
    expect(planSource("folder", scratch)).toEqual({ kind: "npm", spec: "folder", name: "folder" });
    expect(planSource("./folder", scratch)).toEqual({
      kind: "path",
      folder: join(scratch, "folder"),
    });
    expect(planSource("npm:@a/b@^1.2.0", scratch)).toEqual({
      kind: "npm",
      spec: "@a/b@^1.2.0",
      name: "@a/b",
    });
    expect(() => planSource("x@file:../y", scratch)).toThrow("neither a path nor an npm package");
    expect(() => planSource("--prefix=/", scratch)).toThrow("neither a path nor an npm package");
  });
});

describe("installing a folder of a checkout", () => {
  it("finds the archives beside it that it depends on, and keeps what its author wrote", async () => {
    const place = await openPlace();
    const part = writePlugin(join(place.scratch, "part"), { id: "part", manifest: null });
    const archive = packFolder(part, place.scratch);
    const dependencies = { part: `file:../../${basename(archive)}` };
    const folder = writePlugin(join(place.scratch, "deep/small"), {
      packageJson: { dependencies },
    });
    const lock = {
      ...{ name: "small", version: "1.0.0", lockfileVersion: 3 },
      packages: {
        "": { name: "small", version: "1.0.0", dependencies },
        "node_modules/part": { version: "1.0.0", resolved: dependencies.part },
      },
    };
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
    await installPlugin({ spec: folder }, place);
    const installed = join(place.home, "plugins/small");
    expect(existsSync(join(installed, "node_modules/part/index.js"))).toBe(true);
    expect(readFileSync(join(installed, "package.json"), "utf8")).toBe(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    const [report] = await updatePlugins(["small"], place);
    expect(report!.changed).toBe(false);
    rmSync(archive);
    await expect(installPlugin({ spec: folder, force: true }, place)).rejects.toThrow(
      `${folder} depends on ${archive}, which is not there; make it first.`,
    );
  });
});

describe("uninstalling", () => {
  it("says that a linked folder of the same id stays on, and how to end that", async () => {
    const place = await openPlace();
    await installPlugin({ spec: writePlugin(join(place.scratch, "small")) }, place);
    const linked = writePlugin(join(place.scratch, "linked"));
    const config = parsed(place) as unknown as { load?: object };
    config.load = { paths: [linked] };
    writeFileSync(place.configFile, JSON.stringify({ plugins: config }));
    const { notes } = await uninstallPlugin({ pluginId: "small" }, place);
    expect(notes).toContain(
      `It stays on: ${linked} in plugins.load.paths is a plugin of the same id. To end that, too: clew plugins uninstall small`,
    );
    expect(await start(place)).toMatchObject([{ id: "small", status: "loaded", folder: linked }]);
    const again = await uninstallPlugin({ pluginId: "small" }, place);
    expect(again.notes.join(" ")).not.toContain("It stays on");
    expect(await start(place)).toEqual([]);
  });

  const install = async (config: string | null = CONFIG) => {
    const place = await openPlace(config);
    copyTidepool(place.scratch);
    await installPlugin({ spec: "./tidepool" }, place);
    return place;
  };

  it.each([
    CONFIG,
    null,
    "",
    "{}",
    '{\n  "gateway": { "port": 18791 }\n}\n',
    '{ plugins: { slots: { contextEngine: "none" } } }\n',
  ])("leaves the configuration byte for byte as it was: %j", async (config) => {
    const place = await install(config);
    await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect(read(place)).toBe(config);
    expect(listed(place)).toEqual(config === null ? [] : ["clew.json"]);
  });

  it("leaves what the person changed meanwhile", async () => {
    const place = await install();
    const edited = read(place)!
      .replace("enabled: true,", "enabled: true,\n        config: { freshTailCount: 4 },")
      .replace("18791", "18792");
    writeFileSync(place.configFile, edited);
    const { notes } = await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect(notes).toContainEqual(
      "plugins.entries.tidepool-context.config was set by you and stays.",
    );
    expect(JSON5.parse(read(place)!)).toEqual({
      gateway: { port: 18792 },
      plugins: {
        slots: { contextEngine: "legacy" },
        entries: { "tidepool-context": { config: { freshTailCount: 4 } } },
      },
    });
  });

  it("resets the slot only when it names the plugin's engine, and to nothing that is gone", async () => {
    const place = await install();
    writeFileSync(place.configFile, read(place)!.replace('"tidepool"', "'mine'"));
    await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect(parsed(place)).toEqual({ slots: { contextEngine: "mine" } });

    const second = await openPlace();
    writePlugin(join(second.scratch, "wave"), {
      id: "wave",
      manifest: { kind: "context-engine" },
      code: engineCode("wave"),
    });
    copyTidepool(second.scratch);
    await installPlugin({ spec: "./wave" }, second);
    await installPlugin({ spec: "./tidepool" }, second);
    await uninstallPlugin({ pluginId: "wave" }, second);
    expect(parsed(second)).toMatchObject({ slots: { contextEngine: "tidepool" } });
    await uninstallPlugin({ pluginId: "tidepool-context" }, second);
    // "wave" is what the slot named before, and it is gone.
    expect(parsed(second)?.slots ?? {}).toEqual({});
  });

  it("says what it would do, and does nothing, with --dry-run", async () => {
    const place = await install();
    const before = read(place);
    const { notes } = await uninstallPlugin({ pluginId: "tidepool-context", dryRun: true }, place);
    expect(notes).toEqual([
      "plugins.entries.tidepool-context.enabled is removed",
      "plugins.slots.contextEngine named it and is 'legacy' again.",
      `${join(place.home, "plugins/tidepool-context")} is removed`,
      "What the plugin stored itself (its databases, for example) stays.",
    ]);
    expect(read(place)).toBe(before);
    expect(await start(place)).toMatchObject([{ status: "loaded" }]);
  });

  it("moves the files aside with --keep-files, from where they can be installed again", async () => {
    const place = await install();
    await uninstallPlugin({ pluginId: "tidepool-context", keepFiles: true }, place);
    expect([read(place), await start(place)]).toEqual([CONFIG, []]);
    await installPlugin({ spec: join(place.home, "plugins/.kept/tidepool-context") }, place);
    expect(await start(place)).toMatchObject([{ status: "loaded" }]);
  });

  it("knows a folder that was linked by hand, and no others", async () => {
    const place = await openPlace("{}");
    const folder = writePlugin(join(place.scratch, "plain"), { id: "plain" });
    writeFileSync(place.configFile, `{ plugins: { load: { paths: ["${folder}"] } } }`);
    await uninstallPlugin({ pluginId: "plain" }, place);
    expect(parsed(place)).toEqual({ load: { paths: [] } });
    await expect(uninstallPlugin({ pluginId: "plain" }, place)).rejects.toThrow(
      'There is no plugin "plain"; "clew plugins list" lists the existing ones.',
    );
  });
});

describe("disabling and enabling", () => {
  it("keeps the slot, and brings the engine back", async () => {
    const place = await openPlace();
    copyTidepool(place.scratch);
    await installPlugin({ spec: "./tidepool" }, place);
    const installed = read(place);
    expect(await disablePlugin("tidepool-context", place)).toEqual([
      'plugins.slots.contextEngine stays "tidepool"; while the plugin is off, "legacy" answers.',
    ]);
    expect(await start(place)).toMatchObject([
      { status: "off", reason: "it is disabled (plugins.entries.tidepool-context.enabled)" },
    ]);
    expect(await enablePlugin("tidepool-context", place)).toEqual([
      'plugins.slots.contextEngine is "tidepool" already.',
    ]);
    expect(read(place)).toBe(installed);
    await disablePlugin("tidepool-context", place);
    await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect(read(place)).toBe(CONFIG);
  });

  it("enabling a plugin that cannot be loaded changes nothing", async () => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "plain"), { id: "plain" });
    await installPlugin({ spec: folder, link: true }, place);
    await disablePlugin("plain", place);
    const before = read(place);
    writeFileSync(join(folder, "openclaw.plugin.json"), "{");
    await expect(enablePlugin("plain", place)).rejects.toThrow();
    await expect(enablePlugin("unknown", place)).rejects.toMatchObject({
      code: "PLUGIN_NOT_FOUND",
    });
    await expect(disablePlugin("unknown", place)).rejects.toThrow('There is no plugin "unknown"');
    expect(read(place)).toBe(before);
  });
});
