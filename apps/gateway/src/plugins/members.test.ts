// Each member of the api that real plugins use, by a small plugin that uses it as they do.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { clew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { systemText } from "../testing/memory.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startServedGateway, writePlugin } from "../testing/plugins.ts";
import { undeclaredTools } from "./load/register.ts";

type Noted = Record<string, unknown>[];

/** A gateway with one plugin, whose `register` runs the given code; it tells by `note(about)`. */
async function probe(code: string, { manifest = {}, slots = {}, settings = {}, head = "" } = {}) {
  const home = await homeWithOwnPort();
  const noted: Noted = [];
  vi.stubGlobal("noted", noted);
  const folder = writePlugin(join(home, "sources/probe"), {
    id: "probe",
    manifest: { contracts: { tools: TOOLS, sessionActions: ["probe-control"] }, ...manifest },
    code: `${head}
      const note = (about) => void globalThis.noted.push(about);
      const said = (text) => ({ content: [{ type: "text", text: String(text) }] });
      const parameters = { type: "object", required: ["limit"],
        properties: { query: { type: "string" }, limit: { type: "number", default: 5 } } };
      const engine = (more) => ({ info: { id: "probe", name: "Probe" },
        ingest: async () => ({ ingested: true }),
        assemble: async ({ messages }) => ({ messages, estimatedTokens: 0 }),
        compact: async () => ({ ok: true, compacted: false }), ...more });
      export default { id: "probe", register(api) { ${code} } };`,
  });
  const { server, config } = await obedientModel();
  const entry = { hooks: { allowConversationAccess: true }, tools: { allow: TOOLS } };
  const plugins = { load: { paths: [folder] }, slots, entries: { probe: entry } };
  const raw = { ...config, ...settings, plugins };
  writeFileSync(join(home, "clew.json"), JSON.stringify(raw));
  const { gateway, plugins: host, server: http, leave } = await startServedGateway(raw, home);
  host.startServices();
  const say = (text: string, session = "main") => gateway.send({ key: session, content: text });
  return {
    ...{ home, noted, gateway, host, leave, say, url: http.url },
    reply: async (text: string) => JSON.stringify((await say(text)).reply),
    command: async (name: string, args = "") =>
      (await gateway.command("main", { kind: "command", name, args })).text,
    system: () => systemText(server.requests.at(-1)!),
    // All of them declare tools that only some register.
    diagnostics: () =>
      host
        .records()[0]!
        .diagnostics.map(({ message }) => message)
        .filter((each) => !/not registered, so/.test(each)),
    of: (name: string) => noted.filter((about) => about.is === name),
  };
}

type Probe = Awaited<ReturnType<typeof probe>>;

const TOOLS = ["look", "first", "second"];

/** What a hook says it was told. */
const listens = (...names: string[]) =>
  names
    .map((name) => `api.on("${name}", (event, ctx) => note({ is: "${name}", event, ctx }));`)
    .join("\n");

interface Row {
  code: string;
  options?: Parameters<typeof probe>[1];
  works(given: Probe): Promise<void>;
}

/** Named as in the table of what real plugins use. */
const ROWS: Record<string, Row> = {
  "registerTool, value / factory": {
    code: `
      api.registerTool({ name: "look", description: "Looks.", parameters,
        execute: async (id, given) => said(JSON.stringify(given)) });
      api.registerTool({ name: "undeclared", description: "", parameters, execute: () => said("never") });
      api.registerTool((ctx) => ["first", "second", "third"].map((name) => ({ name, description: name, parameters,
        execute: async () => said([ctx.agentId, ctx.sessionKey, ctx.messageChannel, typeof ctx.workspaceDir, typeof ctx.agentDir]) })),
        { names: ["first", "second"] });
      api.registerTool({ name: "look", description: "", parameters, execute: () => said("never") }, { name: "other" });`,
    async works({ reply, diagnostics }) {
      expect(await reply(run("look", { query: "boat", limit: "2" }))).toContain('\\"limit\\":2');
      expect(await reply(run("look", { query: "boat" }))).toContain('\\"limit\\":5');
      expect(await reply(run("second", {}))).toContain("main,agent:main:main,clew,string,string");
      expect(await reply(run("third", {}))).toContain("no tool");
      expect(diagnostics()).toEqual([undeclaredTools(["undeclared", "other"])]);
    },
  },
  "names of tools": {
    code: `for (const name of ["dotted.name", "look"])
      api.registerTool({ name, description: "", parameters, execute: () => said(name) });
      api.registerTool(() => ({ name: "x".repeat(65), description: "", parameters, execute: () => said("never") }));`,
    options: { manifest: { contracts: { tools: ["dotted.name", "look", "x".repeat(65)] } } },
    async works({ reply, diagnostics }) {
      expect(await reply(run("look", {}))).toContain("look");
      expect(diagnostics()).toEqual([
        'tool "dotted.name" is left out: a tool\'s name may have letters, digits, "_" and "-", and at most 64 of them',
      ]);
    },
  },
  "on before_prompt_build": {
    code: `api.on("before_prompt_build", ({ prompt, messages }, { trigger }) => ({
      prependContext: trigger + " said " + prompt.length + " after " + messages.length, ephemeral: true,
      prependSystemContext: "FIRST", appendSystemContext: "LAST" }));`,
    async works({ reply, system }) {
      expect(await reply("four")).toContain("four");
      expect(system()).toMatch(/FIRST.*You are.*LAST/);
    },
  },
  "on agent_end": {
    code: listens("agent_end"),
    async works({ say, leave, of }) {
      await say("one");
      await say("two\nFAIL");
      await say("three");
      await leave();
      const ends = of("agent_end").map(({ event }) => event as Noted[number]);
      expect(ends.map(({ success }) => success)).toEqual([true, false, true]);
      const [, , last] = ends;
      expect((last!.messages as { role: string }[]).map(({ role }) => role)).toEqual([
        ...["user", "assistant", "user", "assistant", "user", "assistant"],
      ]);
    },
  },
  "on session_end": {
    code: listens("session_end"),
    async works({ say, gateway, leave, of }) {
      await say("one");
      await gateway.command("main", { kind: "command", name: "new", args: "" });
      await say("two");
      await leave();
      expect(of("session_end").map(({ event }) => event)).toMatchObject([
        { reason: "new", nextSessionKey: "agent:main:main", messageCount: 2 },
        { reason: "shutdown", sessionKey: "agent:main:main", sessionFile: expect.any(String) },
      ]);
    },
  },
  "on before_reset / gateway_start / gateway_stop": {
    code: listens("before_reset", "gateway_start", "gateway_stop"),
    async works({ say, gateway, leave, noted }) {
      await gateway.reloadPlugins();
      await say("one");
      await gateway.command("main", { kind: "command", name: "reset", args: "" });
      await leave();
      const names = noted.map(({ is }) => is);
      expect(names).toEqual(expect.arrayContaining(["gateway_start", "before_reset"]));
      expect(names.at(-1)).toBe("gateway_stop");
    },
  },
  "on before_compaction, after_compaction": {
    code: `${listens("before_compaction", "after_compaction")}
      api.registerContextEngine("probe", () => engine({ info: { id: "probe", name: "P", ownsCompaction: true },
        compact: async () => ({ ok: true, compacted: true, result: { tokensBefore: 9, tokensAfter: 1 } }) }));`,
    options: { manifest: { kind: "context-engine" }, slots: { contextEngine: "probe" } },
    async works({ say, gateway, noted }) {
      await say("one");
      await gateway.command("main", { kind: "command", name: "compact", args: "" });
      expect(noted.map(({ is }) => is)).toEqual(["before_compaction", "after_compaction"]);
    },
  },
  "on message_received, before_message_write": {
    code: `${listens("message_received")}
      api.on("before_message_write", ({ message }) => note({ is: "written", role: message.role }));`,
    async works({ say, leave, of }) {
      await say("hello");
      await leave();
      expect(of("message_received")).toMatchObject([
        {
          event: { content: "hello" },
          ctx: { channelId: "clew", conversationId: "agent:main:main" },
        },
      ]);
      expect(of("written").map(({ role }) => role)).toEqual(["user", "assistant"]);
    },
  },
  "on before_dispatch / after_tool_call / llm_input, subagent_spawned, subagent_ended": {
    code: `${listens("before_dispatch", "after_tool_call", "llm_input", "subagent_spawned", "subagent_ended")}
      api.registerTool({ name: "look", description: "", parameters, execute: () => { throw new Error("dark"); } });`,
    async works({ say, leave, of }) {
      await say(run("look", {}));
      await say(run("sessions_spawn", { task: "work", wait: true }));
      await leave();
      expect(of("before_dispatch")[0]).toMatchObject({
        event: { senderId: "owner", channel: "clew" },
      });
      expect(of("after_tool_call")[0]).toMatchObject({
        event: { toolName: "look", error: expect.stringContaining("dark") },
      });
      expect(of("llm_input").length).toBeGreaterThan(3);
      const [spawned] = of("subagent_spawned");
      const child = (spawned!.event as { childSessionKey: string }).childSessionKey;
      expect(child).toContain(":subagent:");
      expect(of("subagent_ended")).toMatchObject([
        { event: { targetSessionKey: child, outcome: "ok" } },
      ]);
    },
  },
  "on before_agent_start": {
    code: `api.on("before_agent_start", ({ prompt }) => ({ systemPrompt: "MEMORY of " + prompt }));`,
    async works({ say, system }) {
      await say("boats");
      expect(system()).toMatch(/You are.*MEMORY of boats/);
    },
  },
  registerCli: {
    code: `api.registerCli(({ program, workspaceDir }) => {
      note({ is: "added", mode: api.registrationMode });
      program.command("probe").option("--deep").action((given, command) =>
        note({ is: "ran", given, parent: command.parent.name(), where: typeof workspaceDir }));
    }, { descriptors: [{ name: "probe", description: "Probes.", hasSubcommands: false }] });`,
    async works({ home, leave, noted }) {
      await leave();
      expect((await clew(home, ["probe", "--deep"])).code).toBe(0);
      expect(noted).toEqual([
        { is: "added", mode: "cli-metadata" },
        { is: "ran", given: { deep: true }, parent: "clew", where: "string" },
      ]);
    },
  },
  registerService: {
    code: `api.registerService({ id: "probe", start: (ctx) => note({ is: "start", ctx: Object.keys(ctx) }), stop: () => note({ is: "stop" }) });`,
    async works({ leave, noted }) {
      await leave();
      expect(noted).toEqual([
        {
          is: "start",
          ctx: expect.arrayContaining(["config", "workspaceDir", "stateDir", "logger"]),
        },
        { is: "stop" },
      ]);
    },
  },
  registerMemoryCapability: {
    code: `if (typeof api.registerMemoryCapability === "function") api.registerMemoryCapability({
      promptBuilder: ({ availableTools }) => ["Ask " + (availableTools.has("memory_search") ? "memory_search" : "nobody")],
      flushPlanResolver: () => null,
      runtime: { getMemorySearchManager: async () => ({ manager: {
        search: async (query) => [{ path: "a.md", startLine: 1, endLine: 2, score: 1, snippet: "of " + query }],
        readFile: async ({ relPath }) => ({ text: "all of " + relPath }) } }) } });`,
    options: { manifest: { kind: "memory" }, slots: { memory: "probe" } },
    async works({ reply, system }) {
      expect(await reply(run("memory_search", { query: "boats" }))).toContain("of boats");
      expect(await reply(run("memory_get", { path: "a.md" }))).toContain("all of a.md");
      expect(system()).toContain("Ask memory_search");
    },
  },
  "registerMemoryRuntime / PromptSection / FlushPlan": {
    code: `api.registerMemoryPromptSection(() => ["Old lines"]);
      api.registerMemoryFlushPlan(() => null);
      api.registerMemoryRuntime({ getMemorySearchManager: async () => ({ manager: { status: () => ({}) } }) });`,
    options: { manifest: { kind: "memory" }, slots: { memory: "probe" } },
    async works({ reply, system, diagnostics }) {
      expect(await reply(run("memory_search", { query: "boats" }))).toContain("There is no tool");
      expect(system()).toContain("Old lines");
      expect(diagnostics()).toEqual([]);
    },
  },
  registerHook: {
    code: `api.registerHook(["command:new", "command:reset"], (event) => note({ is: event.type + ":" + event.action, key: event.sessionKey }),
        { name: "probe-hook", description: "Probes." });
      api.registerHook("agent:bootstrap", () => {}, { name: "boot" });`,
    async works({ say, gateway, noted, diagnostics }) {
      await say("one");
      await gateway.command("main", { kind: "command", name: "new", args: "" });
      expect(noted).toEqual([{ is: "command:new", key: "agent:main:main" }]);
      expect(diagnostics()).toEqual([expect.stringContaining('"agent:bootstrap" is never called')]);
    },
  },
  registerHttpRoute: {
    code: `api.registerHttpRoute({ path: "/probe", auth: "plugin", match: "prefix",
        handler: (request, response) => response.end("seen " + request.url) });
      if (typeof api.registerHttpRoute === "function") api.registerHttpRoute("GET", "/old", () => {});`,
    async works({ url, diagnostics }) {
      expect(await (await fetch(`${url}/probe/deep?x=1`)).text()).toBe("seen /probe/deep?x=1");
      expect(diagnostics()).toEqual([expect.stringContaining("this one is left out")]);
    },
  },
  "registerContextEngine; registerCommand; session.controls.registerSessionAction": {
    code: `api.registerContextEngine("probe", () => engine());
      api.registerCommand({ name: "probe", description: "Probes.", acceptsArgs: true,
        handler: async ({ args, channel, isAuthorizedSender, commandBody }) => ({ text: [args, channel, isAuthorizedSender, commandBody].join() }) });
      api.session.controls.registerSessionAction({ id: "probe-control", handler: ({ payload }) => ({ told: payload.operation }) });`,
    options: { manifest: { kind: "context-engine" }, slots: { contextEngine: "probe" } },
    async works({ say, command, url }) {
      expect((await say("one")).report.engine).toMatchObject({ ran: "probe", degraded: null });
      expect(await command("probe", "now")).toBe("now,clew,true,/probe now");
      const body = JSON.stringify({ payload: { operation: "status" } });
      const headers = { "content-type": "application/json" };
      const acted = await fetch(`${url}/api/plugins/probe/actions/probe-control`, {
        method: "POST",
        body,
        headers,
      });
      expect(await acted.json()).toEqual({ result: { told: "status" } });
    },
  },
  "runtime.config, llm, logging, agent.session, inspection, diagnostics": {
    code: `api.registerTool({ name: "look", description: "", parameters, execute: async () => {
      const { config, llm, logging, agent, inspection, diagnostics } = api.runtime;
      logging.getChildLogger({ plugin: "probe" }).info("seen");
      const { text } = await llm.complete({ messages: [{ role: "user", content: "summarise" }] });
      const known = Object.keys(agent.session.loadSessionStore(agent.session.resolveStorePath(undefined, { agentId: "main" })));
      return said([typeof config.current().models, text, known, inspection.readOnly, diagnostics.readOnly]);
    } });`,
    async works({ reply }) {
      expect(await reply(run("look", {}))).toContain(
        "object,heard: summarise,agent:main:main,false,false",
      );
    },
  },
  "runtime.subagent.run, waitForRun, getSessionMessages, deleteSession": {
    code: `api.registerTool({ name: "look", description: "", parameters, execute: async () => {
      const { subagent } = api.runtime;
      const sessionKey = "agent:main:subagent:probe";
      const { runId } = await subagent.run({ sessionKey, message: "dive", deliver: false });
      const { status } = await subagent.waitForRun({ runId, timeoutMs: 20000 });
      const { messages } = await subagent.getSessionMessages({ sessionKey, limit: 5 });
      await subagent.deleteSession({ sessionKey, deleteTranscript: true });
      return said([status, messages.length]);
    } });`,
    async works({ reply }) {
      expect(await reply(run("look", {}))).toContain("ok,2");
    },
  },
  "runtime.tools.createMemorySearchTool, createMemoryGetTool / runtime.agent.runEmbeddedPiAgent": {
    code: `api.registerTool((ctx) => {
        const search = api.runtime.tools.createMemorySearchTool({ config: ctx.config, agentSessionKey: ctx.sessionKey });
        const get = api.runtime.tools.createMemoryGetTool({ config: ctx.config, agentSessionKey: ctx.sessionKey });
        return search && get ? [search, get] : null;
      }, { names: ["first", "second"] });
      api.registerTool({ name: "look", description: "", parameters, execute: async () => {
        const runAgent = api.runtime.agent.runEmbeddedPiAgent ?? api.runtime.agent.runEmbeddedAgent;
        return said(runAgent === undefined ? "without an agent" : "by an agent");
      } });`,
    async works({ reply, diagnostics }) {
      expect(await reply(run("look", {}))).toContain("without an agent");
      expect(diagnostics()).toEqual([]);
    },
  },
  'registrationMode "cli-metadata"': {
    code: `note({ is: api.registrationMode });
      if (api.registrationMode === "cli-metadata") { api.registerCli(({ program }) =>
        void program.command("probe").action(() => note({ is: "ran" })), { commands: ["probe"] }); return; }
      api.registerCli(() => {}, { commands: ["probe"] });
      api.registerService({ id: "probe", start: () => note({ is: "service" }) });`,
    async works({ home, leave, noted }) {
      await leave();
      noted.length = 0;
      expect((await clew(home, ["probe"])).code).toBe(0);
      expect(noted.map(({ is }) => is)).toEqual(["cli-metadata", "ran"]);
    },
  },
  "import plugin-entry / session-transcript-runtime / logging-core; plugin-sdk, core": {
    code: `api.registerTool({ name: "look", description: "", parameters, execute: async (id, given) => {
      const entries = await readEntries({ sessionKey: "agent:main:main" });
      const hidden = require("openclaw/plugin-sdk/logging-core");
      const whole = await import("openclaw/plugin-sdk");
      return said([definePluginEntry({ id: "x", name: "X", register() {} }).id, entries[0].message.role, typeof hidden.redactSensitiveText, whole.delegateCompactionToRuntime === delegate]);
    } });`,
    options: {
      head: `import { createRequire } from "node:module";
        import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
        import { readVisibleSessionTranscriptMessageEntries as readEntries } from "openclaw/plugin-sdk/session-transcript-runtime";
        import { delegateCompactionToRuntime as delegate } from "openclaw/plugin-sdk/core";
        const require = createRequire(import.meta.url);`,
    },
    async works({ reply }) {
      expect(await reply(run("look", {}))).toContain("x,user,function,true");
    },
  },
  "runtimeContext.tokenBudget in maintain, commitTurn": {
    code: `const told = (is) => async ({ runtimeContext = {} }) => {
        const { provider, modelId, modelContextWindow, tokenBudget } = runtimeContext;
        note({ is, provider, modelId, modelContextWindow, knows: tokenBudget > 0 });
        return is === "maintain" ? { changed: false, bytesFreed: 0, rewrittenEntries: 0 } : { status: "committed" };
      };
      api.registerContextEngine("probe", () => engine({
        info: { id: "probe", name: "Probe", transcriptSemantics: {
          currentTurnFence: "before-current-turn-entry-v1", turnAdvancementIdempotency: "atomic-idempotent-v1" } },
        maintain: told("maintain"), commitTurn: told("commitTurn") }));`,
    options: { manifest: { kind: "context-engine" }, slots: { contextEngine: "probe" } },
    async works({ say, of }) {
      await say("one");
      const about = {
        provider: "emulated",
        modelId: "emulated",
        modelContextWindow: 100_000,
        knows: true,
      };
      expect(of("commitTurn")[0]).toMatchObject(about);
      expect(of("maintain")[0]).toMatchObject(about);
    },
  },
};

describe("what real plugins use", () => {
  it.each(Object.keys(ROWS))("%s", async (name) => {
    const { code, options, works } = ROWS[name]!;
    onTestFinished(() => void vi.unstubAllGlobals());
    await works(await probe(code, options));
  });
});
