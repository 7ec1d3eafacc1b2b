import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngineRegistry, resolveContextEngine } from "@clew/engine-core";
import { createLegacyEngine } from "@clew/legacy-engine";
import type { PluginTool } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import {
  collectLog,
  copyTidepool,
  engineCode,
  type WrittenPlugin,
  writePlugin,
} from "../testing/plugins.ts";
import { createPluginHost, type PluginHost } from "./host.ts";
import type { PluginsInUse } from "./live-generation.ts";

export const clock = { now: () => Date.now(), monotonic: () => performance.now() };

async function loadHost(plugins: PluginsConfig, home: string) {
  const log = collectLog();
  const host = await createPluginHost({
    home,
    plugins,
    raw: { plugins, agents: { defaults: {} } },
    log,
  });
  onTestFinished(() => host.close());
  const registry = createEngineRegistry({ fallback: () => createLegacyEngine(), log, clock });
  host.connect({ registry, complete: () => Promise.reject(new Error("no model here")) });
  return { host, registry, log };
}

/** Loads one plugin written on the spot. */
async function loadOne(plugin: WrittenPlugin, plugins: PluginsConfig = {}) {
  const home = await temporaryHome();
  const folder = writePlugin(join(home, "sources", plugin.id ?? "small"), plugin);
  return { folder, home, ...(await loadHost({ load: { paths: [folder] }, ...plugins }, home)) };
}

const only = (host: PluginHost) => host.records()[0]!;

describe("a plugin's entry", () => {
  it.each([
    ["a function", "export default (api) => api.registerContextEngine('e', () => 1);"],
    [
      "an object",
      "export default { id: 'small', register: (api) => api.registerContextEngine('e', () => 1) };",
    ],
    [
      "a class instance",
      "class P { #id = 'e'; register(api) { api.registerContextEngine(this.#id, () => 1); } } export default new P();",
    ],
    [
      "an object in default in module",
      "export default { module: { default: { register: (api) => api.registerContextEngine('e', () => 1) } } };",
    ],
    [
      "a named register",
      "export const register = (api) => api.registerContextEngine('e', () => 1);",
    ],
  ])("may be %s", async (_, code) => {
    const { host, registry } = await loadOne({ code });
    expect(only(host)).toMatchObject({ status: "loaded", reason: null, engines: ["e"] });
    expect(registry.get("e")).toMatchObject({ owner: "plugin:small", lifecycle: "runtime" });
  });

  it("may be CommonJS", async () => {
    const code =
      "module.exports = { default: { register(api) { api.registerContextEngine(require('openclaw/plugin-sdk').definePluginEntry({ id: 'cjs' }).id, () => 1); } } };";
    const { host } = await loadOne({ code, packageJson: { type: "commonjs" } });
    expect(only(host)).toMatchObject({ status: "loaded", engines: ["cjs"] });
  });

  it("that contains itself ends in a sentence", async () => {
    const { host } = await loadOne({
      code: "const a = {}; a.default = a; a.module = { default: a }; export default a;",
    });
    expect(only(host)).toMatchObject({
      status: "error",
      reason: expect.stringContaining("exports no register function"),
    });
  });
});

describe("a plugin that breaks a rule", () => {
  it.each<[string, WrittenPlugin, RegExp]>([
    ["has no manifest", { manifest: null }, /is not a plugin: it has no openclaw\.plugin\.json/],
    [
      "has a manifest that is no JSON5",
      { manifest: "{ id: }" },
      /openclaw\.plugin\.json is not JSON5/,
    ],
    [
      "has a manifest without what is required",
      { manifest: "{ name: 'x' }" },
      /is invalid: id: .*; configSchema: /,
    ],
    [
      "has an id that could be a path",
      { manifest: "{ id: '../x', configSchema: {} }" },
      /may hold only letters/,
    ],
    [
      "calls itself otherwise than its manifest",
      { code: "export default { id: 'other', register() {} };" },
      /^Plugin "small" calls itself "other" in its code and "small" in its manifest/,
    ],
    [
      "is not JavaScript",
      { code: "export default () => {\n  const x = ;\n};" },
      /^Plugin "small" cannot be loaded: Unexpected token ';', at index\.js:2\.$/,
    ],
    [
      "uses what the host does not offer",
      {
        code: 'import { strange } from "openclaw/plugin-sdk/core"; export default () => strange();',
      },
      /^Plugin "small" uses strange of "openclaw\/plugin-sdk\/core", which Clew does not offer\.$/,
    ],
    [
      "registers asynchronously",
      { code: "export default { async register() { throw new Error('late'); } };" },
      /plugin register must be synchronous/,
    ],
    [
      "throws in register",
      { code: "export default { register() { throw new Error('no luck'); } };" },
      /failed in register: no luck, at index\.js:1\./,
    ],
    [
      "throws while it is imported",
      { code: "throw new Error('at once');" },
      /cannot be loaded: at once, at index\.js:1\./,
    ],
    [
      "was not built",
      { packageJson: { openclaw: { extensions: ["./dist/index.js"] } } },
      /names the entry \.\/dist\/index\.js, which is not in .*must be built first/,
    ],
    [
      "names an entry outside itself",
      { packageJson: { openclaw: { extensions: ["../evil.js"] } } },
      /outside its folder/,
    ],
    [
      "needs a newer plugin API",
      { packageJson: { openclaw: { compat: { pluginApi: ">=2027.1.0" } } } },
      /needs the plugin API >=2027\.1\.0 .*this Clew offers 2026\.3\.7 to 2026\.9\.6/,
    ],
    [
      "needs a range that is none",
      { packageJson: { openclaw: { compat: { pluginApi: "newest" } } } },
      /"newest", which is not a version range/,
    ],
    [
      "has a schema that is none",
      { manifest: { configSchema: { type: "nonsense" } } },
      /configSchema is not a usable JSON Schema/,
    ],
    [
      "requires a plugin that is not there",
      { manifest: { requiresPlugins: ["wind"] } },
      /requires plugin "wind", which is not loaded/,
    ],
    [
      "waits for what the host does not offer",
      { code: "await import('openclaw/plugin-sdk/channels'); export default () => {};" },
      /imports "openclaw\/plugin-sdk\/channels", which Clew does not offer; it offers openclaw\/plugin-sdk, /,
    ],
    [
      "calls what no host has",
      { code: "export default (api) => { api.offerLunch({}); };" },
      /api\.offerLunch is not a function/,
    ],
  ])("because it %s is a record with one sentence, and others load", async (_, plugin, reason) => {
    const home = await temporaryHome();
    const broken = writePlugin(join(home, "sources/small"), plugin);
    const sound = writePlugin(join(home, "sources/sound"), {
      id: "sound",
      code: engineCode("sound"),
    });
    const { host, registry, log } = await loadHost({ load: { paths: [broken, sound] } }, home);
    const [first, second] = host.records();
    expect(first).toMatchObject({
      id: "small",
      status: "error",
      reason: expect.stringMatching(reason),
      engines: [],
    });
    expect(first!.reason).not.toContain("\n");
    expect(second).toMatchObject({ id: "sound", status: "loaded" });
    expect(registry.list().map(({ engineId }) => engineId)).toEqual(["legacy", "sound"]);
    expect(log.lines).toContainEqual(expect.stringContaining("[plugins] small is not used: "));
  });

  it("is nothing at all when the path leads nowhere, or to a file", async () => {
    const home = await temporaryHome();
    writeFileSync(join(home, "a-file"), "");
    const { host } = await loadHost(
      { load: { paths: [join(home, "nowhere"), join(home, "a-file")] } },
      home,
    );
    expect(host.records().map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^There is nothing at .*nowhere/),
      expect.stringMatching(/is not a folder/),
    ]);
  });

  it("loses what it registered before it threw", async () => {
    const code = `export default (api) => {
      api.registerContextEngine("half", () => 1);
      api.registerTool({ name: "half_tool", description: "", parameters: {}, execute: () => ({ content: [] }) });
      api.registerCommand({ name: "half", description: "", handler: () => ({ text: "" }) });
      api.on("gateway_stop", () => { globalThis.halfHook = true; });
      throw new Error("halfway");
    };`;
    const { host, registry } = await loadOne({
      code,
      manifest: { contracts: { tools: ["half_tool"] } },
    });
    expect(registry.get("half")).toBeUndefined();
    expect([host.tools(), host.commands()]).toEqual([[], []]);
    await host.hooks.emit("gateway_stop", {});
    expect(globalThis).not.toHaveProperty("halfHook");
  });

  it("may register what it may not: those registrations are refused, the rest stays", async () => {
    const code = `export default (api) => {
      api.registerTool({ name: "undeclared", description: "", parameters: {}, execute: () => ({ content: [] }) });
      api.registerTool(() => null, { names: ["declared", "another"] });
      api.registerContextEngine("  ", () => 1);
      api.registerContextEngine("nothing");
      api.registerContextEngine("legacy", () => 1);
      api.registerCommand({ name: "status", description: "", handler: () => ({ text: "" }) });
      api.on("before_lunch", () => {});
      api.session.controls.registerSessionAction({ id: "secret", handler() {} });
      api.registerContextEngine(" fine ", () => 1);
    };`;
    const { host } = await loadOne({ code, manifest: { contracts: { tools: ["declared"] } } });
    expect(only(host)).toMatchObject({
      status: "loaded",
      engines: ["fine"],
      sessionActions: [],
      hooks: [],
    });
    expect(only(host).diagnostics.map(({ message }) => message)).toEqual([
      "context engine registration missing id",
      'context engine "nothing" registration missing factory',
      "context engine id reserved by core: legacy",
      expect.stringContaining('hook "before_lunch" is never called by this host'),
      "plugin must declare contracts.sessionActions for: secret",
      'tools "undeclared", "another" are left out, because openclaw.plugin.json does not declare them; add to it: "contracts": { "tools": ["undeclared", "another"] }',
      'command "/status" belongs to the gateway; it answers to its other names only',
    ]);
  });

  it("without contracts.tools may have no tools", async () => {
    const code =
      "export default (api) => api.registerTool({ name: 't', description: '', parameters: {}, execute() {} });";
    const { host } = await loadOne({ code });
    expect(only(host).diagnostics).toEqual([
      {
        level: "warning",
        message:
          'tool "t" is left out, because openclaw.plugin.json does not declare it; add to it: "contracts": { "tools": ["t"] }',
      },
    ]);
  });

  it("cannot take another plugin's engine", async () => {
    const home = await temporaryHome();
    const paths = ["one", "two"].map((id) =>
      writePlugin(join(home, "sources", id), { id, code: engineCode("shared") }),
    );
    const { host, registry } = await loadHost({ load: { paths } }, home);
    expect(registry.get("shared")?.owner).toBe("plugin:one");
    expect(host.records()[1]!.diagnostics).toEqual([
      { level: "error", message: "context engine already registered: shared (plugin:one)" },
    ]);
  });
});

describe("registration", () => {
  it("is over when register has returned", async () => {
    const code =
      "export default (api) => { setImmediate(() => api.registerContextEngine('late', () => 1)); };";
    const { registry, log } = await loadOne({ code });
    await expect
      .poll(() => log.lines)
      .toContainEqual(
        expect.stringContaining(
          'small: context engine "late" was registered after register() had returned',
        ),
      );
    expect(registry.get("late")).toBeUndefined();
  });

  it("in a mode that only looks takes engines as discovered, never as running", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "sources/small"), { code: engineCode("seen") });
    const plugins = { load: { paths: [folder] }, slots: { contextEngine: "seen" } };
    const log = collectLog();
    const host = await createPluginHost({ home, plugins, raw: {}, log, mode: "discovery" });
    const registry = createEngineRegistry({ fallback: () => createLegacyEngine(), log, clock });
    host.connect({ registry, complete: () => Promise.reject(new Error("none")) });
    expect(registry.get("seen")?.lifecycle).toBe("readOnlyDiscovery");
    const { guard, degraded } = await resolveContextEngine({ registry, config: { plugins } });
    expect([guard.engineId, degraded?.reason]).toEqual([
      "legacy",
      expect.stringContaining("discovery only"),
    ]);
    await host.close();
  });

  it.each([
    ["tool-discovery", { tools: 1, commands: 0, engines: [] }],
    ["cli-metadata", { tools: 0, commands: 1, engines: [] }],
    ["setup-only", { tools: 0, commands: 0, engines: [] }],
  ] as const)("in mode %s takes only what that mode is about", async (mode, expected) => {
    const home = await temporaryHome();
    const code = `export default (api) => {
      if (api.registrationMode !== "${mode}" || api.runtime.inspection.readOnly !== true) throw new Error("wrong mode");
      api.registerContextEngine("e", () => 1);
      api.registerTool({ name: "t", description: "", parameters: {}, execute() {} });
      api.registerCommand({ name: "c", description: "", handler: () => ({ text: "" }) });
    };`;
    const folder = writePlugin(join(home, "sources/small"), {
      code,
      manifest: { contracts: { tools: ["t"] } },
    });
    const host = await createPluginHost({
      home,
      plugins: { load: { paths: [folder] } },
      raw: {},
      log: collectLog(),
      mode,
    });
    const found = {
      tools: host.tools().length,
      commands: host.commands().length,
      engines: host.records()[0]!.engines,
    };
    expect(found).toEqual(expected);
    await host.close();
  });

  it("of a plugin with several entries gives each an id of its own", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "sources/pair"), {
      id: "pair",
      packageJson: { openclaw: { extensions: ["./a.js", "./b.mjs"] } },
      files: { "a.js": engineCode("ea"), "b.mjs": engineCode("eb") },
    });
    const { host, registry } = await loadHost({ load: { paths: [folder] } }, home);
    expect(host.records().map(({ id, engines }) => [id, ...engines])).toEqual([
      ["pair/a", "ea"],
      ["pair/b", "eb"],
    ]);
    expect(registry.get("eb")?.owner).toBe("plugin:pair/b");
  });
});

describe("a plugin's configuration", () => {
  const schema = {
    type: "object",
    additionalProperties: false,
    properties: { depth: { type: "integer", default: 4 }, name: { type: "string" } },
  };
  const code =
    "export default (api) => { globalThis.given = api.pluginConfig; globalThis.wasLoaded = true; };";

  it("gets the defaults of its schema", async () => {
    await loadOne(
      { code, manifest: { configSchema: schema } },
      { entries: { small: { config: { name: "x" } } } },
    );
    expect(globalThis).toMatchObject({ given: { depth: 4, name: "x" } });
  });

  it("that does not fit keeps the plugin from being loaded at all", async () => {
    (globalThis as Record<string, unknown>).wasLoaded = false;
    const wrong = { entries: { small: { config: { depth: "deep", colour: "red" } } } };
    const { host } = await loadOne(
      { id: "small", code, manifest: { configSchema: schema } },
      wrong,
    );
    const { status, reason } = only(host);
    expect(status).toBe("error");
    expect(reason).toBe(
      '[plugins] small invalid config: must NOT have additional properties: "colour"; depth must be integer; correct plugins.entries.small.config.',
    );
    expect(globalThis).toMatchObject({ wasLoaded: false });
  });
});

describe("whether a plugin is on", () => {
  const load = async (plugins: PluginsConfig) =>
    only((await loadOne({ code: engineCode("wave") }, plugins)).host);

  it("is for the configuration to say", async () => {
    expect(await load({})).toMatchObject({ status: "loaded" });
    expect(await load({ enabled: false })).toMatchObject({
      status: "off",
      reason: "plugins are disabled (plugins.enabled)",
    });
    expect(await load({ deny: ["small"] })).toMatchObject({ status: "off" });
    expect(await load({ entries: { small: { enabled: false } } })).toMatchObject({
      status: "off",
      reason: "it is disabled (plugins.entries.small.enabled)",
    });
    expect(await load({ allow: ["other"] })).toMatchObject({
      status: "off",
      reason: "it is not in plugins.allow",
    });
  });

  it("is yes for the plugin that the slot selects, unless it is denied or disabled", async () => {
    expect(await load({ allow: ["other"], slots: { contextEngine: "small" } })).toMatchObject({
      status: "loaded",
    });
    expect(await load({ deny: ["small"], slots: { contextEngine: "small" } })).toMatchObject({
      status: "off",
    });
  });

  it("is remembered together with its engines: a disabled plugin's engine is switched off, not missing", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "sources/small"), { code: engineCode("wave") });
    const plugins = { load: { paths: [folder] }, slots: { contextEngine: "wave" } };
    await loadHost(plugins, home);
    const off = { ...plugins, entries: { small: { enabled: false } } };
    const { host, registry, log } = await loadHost(off, home);
    const resolved = await resolveContextEngine({
      registry,
      config: { plugins: off },
      ownerPluginOf: host.ownerOf,
    });
    expect(resolved).toMatchObject({
      configured: "wave",
      switchedOff: 'plugin "small" is disabled',
      degraded: null,
    });
    expect(log.lines.filter((line) => !line.startsWith("info"))).toEqual([]);
  });

  it("is remembered for all entries of a plugin together", async () => {
    const home = await temporaryHome();
    const files = { "a.js": engineCode("ea"), "b.js": engineCode("eb") };
    const folder = writePlugin(join(home, "sources/pair"), {
      id: "pair",
      files,
      packageJson: { openclaw: { extensions: ["./a.js", "./b.js"] } },
    });
    await loadHost({ load: { paths: [folder] } }, home);
    const off = {
      load: { paths: [folder] },
      slots: { contextEngine: "eb" },
      entries: { pair: { enabled: false } },
    };
    const { host, registry } = await loadHost(off, home);
    const resolved = await resolveContextEngine({
      registry,
      config: { plugins: off },
      ownerPluginOf: host.ownerOf,
    });
    expect(resolved).toMatchObject({ switchedOff: 'plugin "pair" is disabled', degraded: null });
  });

  it("does not depend on a list of installs that somebody broke", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "sources/small"), { code: engineCode("wave") });
    mkdirSync(join(home, "plugins"));
    writeFileSync(join(home, "plugins/installs.json"), "{ broken");
    const { host, log } = await loadHost({ load: { paths: [folder] } }, home);
    expect(only(host)).toMatchObject({ status: "loaded", engines: ["wave"] });
    expect(log.lines).toContainEqual(
      expect.stringMatching(/^error \[plugins\] .*installs\.json cannot be read .*move it away/),
    );
  });

  it("depends on where it is found first", async () => {
    const home = await temporaryHome();
    const linked = writePlugin(join(home, "sources/small"), { code: engineCode("linked") });
    writePlugin(join(home, "plugins/small"), { code: engineCode("installed") });
    const { host } = await loadHost({ load: { paths: [linked] } }, home);
    expect(
      host.records().map(({ origin, status, engines }) => [origin, status, ...engines]),
    ).toEqual([
      ["linked", "loaded", "linked"],
      ["installed", "error"],
    ]);
    expect(host.records()[1]!.reason).toMatch(/is not used: .*sources\/small has the same id/);
  });
});

describe("a reload", () => {
  it("loads changed code and changed settings, its own modules included", async () => {
    const { host, registry, folder } = await loadOne({
      code: "import { name } from './name.js'; export default (api) => api.registerContextEngine(name, () => 1);",
      files: { "name.js": "export const name = 'before';" },
    });
    expect(only(host).engines).toEqual(["before"]);
    writeFileSync(join(folder, "name.js"), "export const name = 'after';");
    const records = await host.reload({ plugins: { load: { paths: [folder] } }, raw: {} });
    expect(records[0]!.engines).toEqual(["after"]);
    expect(registry.list().map(({ engineId }) => engineId)).toEqual(["legacy", "after"]);
    await host.reload({ plugins: { load: { paths: [folder] }, enabled: false }, raw: {} });
    expect(registry.list().map(({ engineId }) => engineId)).toEqual(["legacy"]);
  });

  it("loads changed CommonJS code too", async () => {
    const { host, folder } = await loadOne({
      code: "const { name } = require('./name.js'); module.exports = (api) => api.registerContextEngine(name, () => 1);",
      files: { "name.js": "exports.name = 'before';" },
      packageJson: { type: "commonjs" },
    });
    writeFileSync(join(folder, "name.js"), "exports.name = 'after';");
    expect(
      (await host.reload({ plugins: { load: { paths: [folder] } }, raw: {} }))[0]!.engines,
    ).toEqual(["after"]);
  });

  it("leaves a run that is going on its plugins, which are told to stop when it is over", async () => {
    const told: string[] = [];
    Object.assign(globalThis, { told });
    const code = (name: string) => `export default (api) => {
      for (const hook of ["gateway_start", "gateway_stop", "before_prompt_build"])
        api.on(hook, () => { globalThis.told.push("${name} " + hook); });
      api.registerTool({ name: "look", description: "${name}", parameters: {}, execute: () => null });
    };`;
    const manifest = { contracts: { tools: ["look"] }, kind: "context-engine" };
    const { host, folder } = await loadOne({ code: code("old"), manifest });
    const plugins = { load: { paths: [folder] }, allow: ["small"] };
    const goOn = Promise.withResolvers<void>();
    const look = async ({ hooks, tools }: PluginsInUse) => {
      await hooks.additions({}, {}, { limitBytes: 1000 });
      return tools.map(({ make }) => (make({}) as PluginTool).description);
    };
    const run = host.use(async (inUse) => {
      await goOn.promise;
      return look(inUse);
    });
    writeFileSync(join(folder, "index.js"), code("new"));
    await host.reload({ plugins, raw: {} });
    expect(await host.use(look)).toEqual(["new"]);
    expect(host.settings().allow).toEqual(["small"]);
    expect(told).toEqual(["new gateway_start", "new before_prompt_build"]);
    goOn.resolve();
    expect(await run).toEqual(["old"]);
    await host.reload({ plugins, raw: {} });
    await host.close();
    expect(told.slice(2)).toEqual([
      "old before_prompt_build",
      "old gateway_stop",
      "new gateway_stop",
      "new gateway_start",
      "new gateway_stop",
    ]);
  });

  it("clears the quarantine of engines that are registered anew", async () => {
    const { host, registry, folder } = await loadOne({
      code: "export default (api) => api.registerContextEngine('bad', () => ({ info: { id: 'bad', name: 'Bad' } }));",
    });
    const plugins = { load: { paths: [folder] }, slots: { contextEngine: "bad" } };
    const first = await resolveContextEngine({ registry, config: { plugins } });
    expect(first.degraded).toEqual({
      operation: "contract-validation",
      code: "ENGINE_CONTRACT_INVALID",
      reason: expect.stringContaining("missing ingest(), missing assemble(), missing compact()"),
    });
    writeFileSync(join(folder, "index.js"), engineCode("bad"));
    await host.reload({ plugins, raw: {} });
    expect((await resolveContextEngine({ registry, config: { plugins } })).degraded).toBeNull();
  });
});

describe("the plugin in OpenClaw's style", () => {
  it("loads without a changed byte, and registers everything it declares", async () => {
    const home = await temporaryHome();
    const folder = copyTidepool(home);
    const { host, registry } = await loadHost({ load: { paths: [folder] } }, home);
    expect(only(host)).toMatchObject({
      id: "tidepool-context",
      status: "loaded",
      diagnostics: [],
      engines: ["tidepool"],
      commands: ["tidepool", "rockpool", "tide", "pool"],
      sessionActions: ["tide-control"],
    });
    const { guard, degraded } = await resolveContextEngine({
      registry,
      config: { plugins: { slots: { contextEngine: "tidepool" } } },
    });
    expect(degraded).toBeNull();
    expect(guard.info().id).toBe("tidepool-engine");
    mkdirSync(join(home, "agents"), { recursive: true });
    // Through the SDK imported in both of its ways.
    const result = await guard.enter({}).assemble({
      sessionId: "s",
      messages: [{ role: "user", content: "hello" }],
      tokenBudget: 1000,
    });
    expect(result).toMatchObject({
      messages: [{ role: "user", content: "hello" }],
      contextProjection: { mode: "thread_bootstrap" },
    });
  });
});
