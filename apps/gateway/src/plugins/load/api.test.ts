// The table of contract §4.3, row by row.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createEngineRegistry } from "@clew/engine-core";
import { createLegacyEngine } from "@clew/legacy-engine";
import type {
  ContextEngine,
  LlmCompleteParams,
  LlmCompleteResult,
  PluginApi,
  RegistrationMode,
} from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../clock.ts";
import { temporaryHome } from "../../testing/home.ts";
import {
  collectLog,
  copyTidepool,
  startPluginGateway,
  type WrittenPlugin,
  writePlugin,
} from "../../testing/plugins.ts";
import { createPluginHost, type PluginHost } from "../host.ts";
import { nativeImport } from "./native-import.ts";

interface Captured {
  api: PluginApi & {
    rootDir: string;
    session: { controls: { registerSessionAction(action: object): void } };
    runtime: {
      config: { current(): unknown; loadConfig(): unknown };
      llm: { complete(params: LlmCompleteParams): Promise<LlmCompleteResult> };
      logging: {
        getChildLogger(context: { plugin: string }): PluginApi["logger"];
        shouldLogVerbose(): boolean;
      };
      agent: { session: Record<string, (...args: unknown[]) => unknown> };
      subagent: Record<string, () => Promise<unknown>>;
      inspection: { readOnly: boolean };
      diagnostics: { readOnly: boolean };
      registrationMode: string;
    };
  };
}

const CAPTURE = "export default (api) => { globalThis.capturedApi = api; };";
const captured = () => (globalThis as unknown as { capturedApi: Captured["api"] }).capturedApi;

/** The api that a plugin named "small" is given. */
async function capture({
  plugin = {},
  plugins = {},
  mode = "full",
}: {
  plugin?: WrittenPlugin;
  plugins?: PluginsConfig;
  mode?: RegistrationMode;
} = {}) {
  const home = await temporaryHome();
  const folder = writePlugin(join(home, "sources/small"), { code: CAPTURE, ...plugin });
  const log = collectLog();
  const raw = { plugins: { load: { paths: [folder] }, ...plugins }, session: { mainKey: "main" } };
  const host = await createPluginHost({ home, plugins: raw.plugins, raw, log, mode });
  onTestFinished(() => host.close());
  return { api: captured(), home, folder, log, raw, host };
}

/** Tidepool in a host whose api lacks one member, named by its path. */
async function tidepoolWithout(member: string) {
  const home = await temporaryHome();
  const folder = copyTidepool(home);
  writeFileSync(
    join(folder, "lib/without.js"),
    `import plugin from "./index.js";
    const without = (value, [name, ...rest]) => {
      const { [name]: child, ...others } = value;
      return rest.length === 0 ? others : { ...others, [name]: without(child, rest) };
    };
    export default { id: plugin.id, register: (api) => plugin.register(without(api, ${JSON.stringify(member.split("."))})) };`,
  );
  const manifest = join(folder, "package.json");
  const { openclaw, ...rest } = JSON.parse(readFileSync(manifest, "utf8")) as Record<
    string,
    object
  >;
  writeFileSync(
    manifest,
    JSON.stringify({ ...rest, openclaw: { ...openclaw, extensions: ["./lib/without.js"] } }),
  );
  const sound = writePlugin(join(home, "sound"), { id: "sound" });
  const plugins = { load: { paths: [folder, sound] }, slots: { contextEngine: "tidepool" } };
  return { home, folder, ...(await startPluginGateway({ plugins }, home)) };
}

/** The engine itself, without the guard and what a turn would lend it. */
async function tidepoolEngine(plugins: PluginHost): Promise<ContextEngine> {
  const log = collectLog();
  const registry = createEngineRegistry({
    fallback: () => createLegacyEngine(),
    log,
    clock: systemClock,
  });
  plugins.connect({ registry, complete: () => Promise.reject(new Error("no model")) });
  return (await registry.instance("tidepool", {})).enter({});
}

describe("what a plugin is told about itself", () => {
  it("api.id, name, source, registrationMode, config, pluginConfig", async () => {
    const { api, folder, raw } = await capture({
      plugin: {
        manifest: {
          name: "Small one",
          version: "1.2.3",
          configSchema: { type: "object", properties: { a: { default: 1 } } },
        },
      },
      plugins: { entries: { small: { config: { b: 2 } } } },
    });
    expect(api).toMatchObject({
      id: "small",
      name: "Small one",
      version: "1.2.3",
      source: join(folder, "index.js"),
      rootDir: folder,
      registrationMode: "full",
    });
    expect(api.pluginConfig).toEqual({ a: 1, b: 2 });
    expect(api.config).toEqual(raw);
    expect(() => {
      (api.config as { session: { mainKey: string } }).session.mainKey = "mine";
    }).toThrow(TypeError);
  });

  it("api.resolvePath: from the plugin's folder, from home, absolute", async () => {
    const { api, folder } = await capture();
    expect([
      api.resolvePath("data/x.db"),
      api.resolvePath("~/x"),
      api.resolvePath("/y/../z"),
    ]).toEqual([join(folder, "data/x.db"), join(homedir(), "x"), "/z"]);
  });

  it("api.logger and runtime.logging: the gateway's log, named and without secrets", async () => {
    const { api, log } = await capture();
    api.logger.info("hello %s", "there");
    api.runtime.logging
      .getChildLogger({ plugin: "small" })
      .warn("Authorization: Bearer abcdefghijklmnop");
    api.logger.error("failed", new Error("with token=abcdefghijkl"));
    api.logger.debug?.("nothing");
    expect(api.runtime.logging.shouldLogVerbose()).toBe(false);
    expect(log.lines.slice(0, 2)).toEqual([
      "info [plugins] small: hello there",
      "warn [plugins] small: Authorization: Bearer ***",
    ]);
    expect(log.lines[2]).toMatch(/^error \[plugins\] small: failed Error: with token=\*\*\*/);
    expect(log.lines).toHaveLength(3);
  });
});

describe("runtime", () => {
  it("config.current: a frozen snapshot, renewed by a reload; loadConfig is its old name", async () => {
    const { api, raw, host } = await capture();
    expect(api.runtime.config.current()).toEqual(raw);
    expect(api.runtime.config.loadConfig()).toBe(api.runtime.config.current());
    expect(Object.isFrozen(api.runtime.config.current())).toBe(true);
    await host.reload({ plugins: raw.plugins, raw: { changed: true } });
    expect(api.runtime.config.current()).toEqual({ changed: true });
  });

  it("inspection, diagnostics and registrationMode tell who only looks", async () => {
    const live = (await capture()).api.runtime;
    expect([live.inspection, live.diagnostics, live.registrationMode]).toEqual([
      { readOnly: false },
      { readOnly: false },
      "full",
    ]);
    const looking = (await capture({ mode: "discovery" })).api.runtime;
    expect([looking.inspection, looking.diagnostics, looking.registrationMode]).toEqual([
      { readOnly: true },
      { readOnly: true },
      "discovery",
    ]);
  });

  it.each([
    ["run", "agent"],
    ["waitForRun", "agent.wait"],
    ["getSessionMessages", "sessions.get"],
    ["deleteSession", "sessions.delete"],
  ])("subagent.%s: needs a gateway, and plugins that are really used", async (name, method) => {
    const { api } = await capture();
    await expect(api.runtime.subagent[name]!()).rejects.toThrow(
      `Plugin subagent dispatch requires a gateway request scope (method: ${method}). No scope set and no fallback context available.`,
    );
    const looking = await capture({ mode: "discovery" });
    await expect(looking.api.runtime.subagent[name]!()).rejects.toThrow(
      "Plugin runtime subagent methods are only available during a gateway request.",
    );
  });

  it("agent.session: finds real sessions by their index", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "sources/small"), { code: CAPTURE });
    const { say, gateway } = await startPluginGateway(
      { plugins: { load: { paths: [folder] } } },
      home,
    );
    await say("hello");
    const session = captured().runtime.agent.session;
    const path = session.resolveStorePath!(undefined, { agentId: "main" }) as string;
    expect(path).toBe(join(home, "agents/main/sessions/sessions.json"));
    expect(session.resolveStorePath!("stores/{agentId}.json", { agentId: "a" })).toBe(
      join(home, "stores/a.json"),
    );
    const store = session.loadSessionStore!(path) as Record<
      string,
      { sessionId: string; updatedAt: number }
    >;
    const { file, sessionId } = (await gateway.session("main"))!;
    expect(store).toEqual({
      "agent:main:main": { sessionId, sessionFile: file, updatedAt: expect.any(Number) },
    });
    expect(
      session.resolveSessionFilePath!(sessionId, store["agent:main:main"], {
        agentId: "main",
        storePath: path,
      }),
    ).toBe(file);
    expect(session.resolveSessionFilePath!(sessionId, undefined, { agentId: "main" })).toBe(file);
    expect(() => session.resolveSessionFilePath!("../../etc/passwd")).toThrow(
      "is not a session id",
    );
    expect(session.loadSessionStore!(join(home, "nothing.json"))).toEqual({});
    // What a plugin writes back must not confuse the gateway.
    writeFileSync(
      path,
      JSON.stringify({ "agent:main:main": { ...store["agent:main:main"], extra: true } }),
    );
    expect((await gateway.session("main"))!.sessionId).toBe(sessionId);
  });

  describe("llm.complete", () => {
    const complete = async (
      small: Record<string, unknown>,
      params: Partial<LlmCompleteParams> = {},
    ) => {
      const home = await temporaryHome();
      const folder = writePlugin(join(home, "sources/small"), { code: CAPTURE });
      await startPluginGateway(
        { plugins: { load: { paths: [folder] }, entries: { small } } },
        home,
      );
      return captured().runtime.llm.complete({
        messages: [{ role: "user", content: "My cat is called Minka. What is my cat called?" }],
        ...params,
      });
    };

    it("answers with text, usage and who asked", async () => {
      const result = await complete({}, { purpose: "test" });
      expect(result).toMatchObject({
        provider: "offline",
        model: "offline",
        agentId: "main",
        audit: { caller: { kind: "plugin", id: "small" }, purpose: "test" },
      });
      expect(result.text).toContain("Minka");
      expect(result.usage.totalTokens).toBeGreaterThan(0);
    });

    it("keeps to the session's model unless the operator allows another, in the words that plugins look for", async () => {
      await expect(complete({}, { model: "ollama/x" })).rejects.toThrow(
        "Plugin LLM completion cannot override the target model.",
      );
      const listed = {
        llm: { allowModelOverride: true, allowedModels: ["offline/offline", "ollama/y"] },
      };
      await expect(complete(listed, { model: "ollama/x" })).rejects.toThrow(
        'Plugin LLM completion model override "ollama/x" is not allowlisted.',
      );
      await expect(
        complete({ llm: { allowModelOverride: true } }, { model: "offline/offline" }),
      ).resolves.toMatchObject({
        model: "offline",
      });
      await expect(complete({}, { agentId: "other" })).rejects.toThrow(
        "cannot override the active session agent",
      );
    });

    it("before the gateway is ready says that nothing is bound", async () => {
      const { api } = await capture();
      await expect(api.runtime.llm.complete({ messages: [] })).rejects.toThrow(
        "not bound to an active session agent",
      );
    });
  });
});

describe("session actions", () => {
  const code = `export default (api) => api.session.controls.registerSessionAction({
    id: "act", schema: { type: "object", required: ["n"], properties: { n: { type: "integer" } } },
    handler: ({ payload, sessionKey }) => ({ twice: payload.n * 2, sessionKey }) });`;

  it("run with a checked payload, for one session", async () => {
    const { host } = await capture({
      plugin: { code, manifest: { contracts: { sessionActions: ["act"] } } },
    });
    const scope = { agentId: "main", sessionKey: "agent:main:main" };
    expect(await host.sessionAction("small", "act", { payload: { n: 4 }, scope })).toEqual({
      twice: 8,
      sessionKey: "agent:main:main",
    });
    await expect(host.sessionAction("small", "act", { payload: {}, scope })).rejects.toThrow(
      "must have required property 'n'",
    );
    await expect(host.sessionAction("small", "other", { payload: {}, scope })).rejects.toThrow(
      'offers no session action "other"',
    );
  });
});

describe("modules a plugin imports", () => {
  const ways: [string, string][] = [
    ["a static import", `import * as sdk from "SPEC"; globalThis.found = async () => sdk;`],
    ["a dynamic import", `globalThis.found = () => import("SPEC");`],
    [
      "an import hidden in new Function",
      `const go = new Function("s", "return import(s)"); globalThis.found = () => go("SPEC");`,
    ],
    ["an import hidden in eval", `globalThis.found = () => (0, eval)("(s) => import(s)")("SPEC");`],
    [
      "createRequire",
      `import { createRequire } from "node:module"; globalThis.found = async () => createRequire(import.meta.url)("SPEC");`,
    ],
  ];
  const find = async (code: string, spec: string) => {
    await capture({
      plugin: { code: `${code.replaceAll("SPEC", spec)} export default () => {};` },
    });
    return (globalThis as unknown as { found: () => Promise<Record<string, unknown>> }).found();
  };

  it.each(ways)("reach the SDK through %s", async (_, code) => {
    const expected = {
      buildMemorySystemPromptAddition: expect.any(Function),
      delegateCompactionToRuntime: expect.any(Function),
      definePluginEntry: expect.any(Function),
    };
    expect({ ...(await find(code, "openclaw/plugin-sdk/core")) }).toMatchObject(expected);
    expect({ ...(await find(code, "openclaw/plugin-sdk")) }).toMatchObject(expected);
    const memory = "openclaw/plugin-sdk/memory-host-core";
    const { buildActiveMemoryPromptSection } = (await find(code, memory)) as {
      buildActiveMemoryPromptSection: (params: { availableTools: Set<string> }) => string[];
    };
    expect(buildActiveMemoryPromptSection({ availableTools: new Set() })).toEqual([]);
    const { redactSensitiveText } = (await find(code, "openclaw/plugin-sdk/logging-core")) as {
      redactSensitiveText: (text: string) => string;
    };
    expect(redactSensitiveText("key sk-abcdefghijklmnop and token: hunter2hunter2")).toBe(
      "key sk-*** and token: ***",
    );
  });

  it.each(ways.slice(1))(
    "of a part that is not offered are refused by name through %s",
    async (_, code) => {
      const failure = await find(code, "openclaw/plugin-sdk/channel-core").catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({
        code: "ERR_MODULE_NOT_FOUND",
        message: expect.stringContaining(
          'Plugin "small" imports "openclaw/plugin-sdk/channel-core", which Clew does not offer',
        ),
      });
    },
  );

  it("are the plugin's own otherwise, and nobody else sees the SDK", async () => {
    const { folder, home } = await capture({
      plugin: {
        code: "import { own } from 'own'; globalThis.own = own; export default () => {};",
        files: {
          "node_modules/own/package.json": '{"type":"module","exports":"./i.js"}',
          "node_modules/own/i.js": "export const own = 7;",
        },
      },
    });
    expect(globalThis).toMatchObject({ own: 7 });
    writeFileSync(
      join(home, "outside.mjs"),
      "export const sdk = await import('openclaw/plugin-sdk/core');",
    );
    await expect(nativeImport(pathToFileURL(join(home, "outside.mjs")).href)).rejects.toThrow(
      /Cannot find package 'openclaw'/,
    );
    expect(existsSync(join(folder, "node_modules/openclaw"))).toBe(false);
  });
});

describe("a plugin in OpenClaw's style, in a host that lacks", () => {
  it.each(["registerContextEngine", "on", "registerTool", "registerCommand", "runtime"])(
    "api.%s: register throws, nothing of it stays, legacy answers, loudly",
    async (member) => {
      const { plugins, gateway, say, log } = await tidepoolWithout(member);
      expect(plugins.records()).toMatchObject([
        { status: "error", reason: expect.stringContaining("failed in register: ") },
        { id: "sound", status: "loaded" },
      ]);
      expect([plugins.tools(), plugins.commands(), gateway.host.engineIds()]).toEqual([
        [],
        [],
        ["legacy"],
      ]);
      const { outcome, report } = await say("hello");
      expect([
        outcome,
        report.engine.configured,
        report.engine.ran,
        report.engine.degraded,
      ]).toEqual([
        "completed",
        "tidepool",
        "legacy",
        { operation: "resolve", reason: "not registered", code: "ENGINE_NOT_FOUND" },
      ]);
      expect(log.lines).toContainEqual(
        expect.stringContaining("[plugins] tidepool-context is not used"),
      );
    },
  );

  it("api.logger and runtime.logging: the one stands in for the other", async () => {
    expect((await tidepoolWithout("logger")).plugins.records()[0]).toMatchObject({
      status: "loaded",
    });
    expect((await tidepoolWithout("runtime.logging")).plugins.records()[0]).toMatchObject({
      status: "loaded",
    });
  });

  it.each([
    "session",
    "session.controls",
    "resolvePath",
    "id",
    "source",
    "registrationMode",
    "runtime.agent",
    "runtime.subagent",
    "runtime.inspection",
    "runtime.diagnostics",
  ])("api.%s: it works all the same", async (member) => {
    const { say } = await tidepoolWithout(member);
    const { report } = await say("hello");
    expect([report.engine.ran, report.engine.degraded]).toEqual(["tidepool", null]);
  });

  it("runtime.config: it reads api.config instead", async () => {
    const { plugins } = await tidepoolWithout("runtime.config");
    const scope = { agentId: "main", sessionKey: "agent:main:main" };
    expect((await plugins.command("/tide", scope))?.text).toContain("slot tidepool");
  });

  it("runtime.llm: summaries are cut instead of written, and the engine goes on", async () => {
    const { plugins, gateway, say } = await tidepoolWithout("runtime.llm");
    expect(plugins.records()[0]).toMatchObject({ status: "loaded" });
    for (let turn = 0; turn < 8; turn++) await say(`Fact ${turn}: the number is ${turn * 7}.`);
    const session = (await gateway.session("main"))!;
    const resolved = (await gateway.host.engineStatus("main")).degraded;
    expect(resolved).toBeNull();
    // Outside a turn there is no engine-bound model either: the summary is a cut of what was said.
    const engine = await tidepoolEngine(plugins);
    const result = await engine.compact({
      sessionId: session.sessionId,
      sessionFile: session.file,
      tokenBudget: 1000,
    });
    expect(result).toMatchObject({
      ok: true,
      compacted: true,
      result: { summary: expect.stringMatching(/^\(without a model\) user: Fact 0/) },
    });
  });

  it("openclaw/plugin-sdk/core: assemble throws", async () => {
    const home = await temporaryHome();
    const folder = copyTidepool(home);
    // A process of its own, without our hooks.
    const script = `
      const { default: plugin } = await import(${JSON.stringify(pathToFileURL(join(folder, "lib/index.js")).href)});
      let make;
      const nothing = () => {};
      const logger = { info: nothing, warn: nothing, error: nothing };
      const pluginConfig = { databasePath: ${JSON.stringify(join(home, "t.db"))} };
      const api = { id: "tidepool-context", config: {}, pluginConfig, logger, runtime: {}, on: nothing, registerTool: nothing, registerCommand: nothing };
      plugin.register({ ...api, registerContextEngine: (id, factory) => { make = factory; } });
      await make().assemble({ sessionId: "s", messages: [], tokenBudget: 100 }).catch((error) => console.log(error.message));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(printed).toMatch(/^Cannot find package 'openclaw'/);
  });
});
