import { join } from "node:path";
import type { RegistrationMode } from "@clew/plugin-sdk/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { collectLog, type WrittenPlugin, writePlugin } from "../../testing/plugins.ts";
import { createPluginHost } from "../host.ts";

async function load(plugin: WrittenPlugin, mode: RegistrationMode = "full") {
  const home = await temporaryHome();
  const folder = writePlugin(join(home, "sources/small"), plugin);
  const log = collectLog();
  const plugins = { load: { paths: [folder] } };
  const host = await createPluginHost({ home, plugins, raw: { plugins }, log, mode });
  onTestFinished(() => host.close());
  return { record: host.records()[0]!, log };
}

describe("a plugin that registers what this host has no use for", () => {
  it("is loaded with the rest, and all of it is named once", async () => {
    const code = `export default (api) => {
      if (typeof api.registerVoiceProvider === "function") api.registerVoiceProvider({ id: "v" });
      api.registerVoiceProvider({ id: "w" });
      if ("registerChannel" in api) api.registerChannel({});
      api.session.state.registerSessionExtension({});
      if (api.getRunContext("key") !== undefined) throw new Error("made up");
      api.agent.events.registerAgentEventSubscription({});
      api.registerContextEngine("e", () => 1);
      if (api.noSuchMember !== undefined || api.then !== undefined) throw new Error("made up");
    };`;
    const { record } = await load({ code });
    expect(record).toMatchObject({ status: "loaded", engines: ["e"] });
    expect(record.diagnostics).toEqual([
      {
        level: "warning",
        message:
          "api.registerVoiceProvider is not something this host does anything with; what it was given is not used (the same of api.registerChannel, api.session.state.registerSessionExtension, api.getRunContext, api.agent.events.registerAgentEventSubscription)",
      },
    ]);
  });

  it("and calls a member of a group later gets nothing, and a line in the log", async () => {
    const code = `export default (api) => { globalThis.laterApi = api; };`;
    const { log } = await load({ code });
    const api = (
      globalThis as unknown as { laterApi: { session: { workflow: { next(): unknown } } } }
    ).laterApi;
    expect([api.session.workflow.next(), api.session.workflow.next()]).toEqual([
      undefined,
      undefined,
    ]);
    expect(log.lines.filter((line) => line.includes("session.workflow.next"))).toHaveLength(1);
  });
});

describe("what a plugin offers beside engines, tools and hooks", () => {
  const code = `export default (api) => {
    api.registerService({ id: " clock ", start() {}, stop() {} });
    api.registerService({ id: "clock", start() {} });
    api.registerService({ id: "lame" });
    api.registerCli(() => {}, { commands: ["tide"], descriptors: [{ name: "flood", description: "Floods." }, { name: "no word" }] });
    api.registerCli(() => {});
    api.registerHttpRoute({ path: "/tide", auth: "plugin", handler() {} });
    api.registerHttpRoute({ path: "/tide", auth: "gateway", handler() {} });
    api.registerHttpRoute({ path: "/api/health", auth: "plugin", handler() {} });
    api.registerHttpRoute({ path: "/v1", match: "prefix", auth: "plugin", handler() {} });
    api.registerHttpRoute({ path: "/metrics", auth: "plugin", handler() {} });
    api.registerHttpRoute({ path: "/open-to-all", handler() {} });
    api.registerHttpRoute("GET", "/old", () => {});
    api.registerGatewayMethod("tide.status", () => {});
    api.registerGatewayMethod("tide.status", () => {});
    api.registerHook(["command:new", "command"], () => {}, { name: "news" });
    api.registerHook("agent:bootstrap", () => {}, { name: "boot" });
  };`;

  it("is taken where it is whole and its name free, and what is not says why", async () => {
    const { record } = await load({ code });
    expect(record).toMatchObject({
      services: ["clock"],
      programs: ["tide", "flood"],
      routes: ["/tide"],
      methods: ["tide.status"],
      hooks: ["command:new", "command:reset"],
    });
    expect(record.diagnostics.map(({ message }) => message)).toEqual([
      "service already registered: clock",
      "service registration missing id or start",
      "command-line registration names no command; its options need commands or descriptors",
      "HTTP route already registered: /tide",
      "HTTP route /api/health is the gateway's own; it is left out",
      "HTTP route /v1 is the gateway's own; it is left out",
      "HTTP route /metrics is the gateway's own; it is left out",
      'HTTP route /open-to-all does not say who sees to access: auth must be "gateway" or "plugin"; it is left out',
      "an HTTP route is registered as an object with path, handler and auth; this one is left out",
      "gateway method already registered: tide.status",
      expect.stringContaining('hook "agent:bootstrap" is never called by this host'),
    ]);
  });

  it("and has no name, but an object or a list for it, is refused in a sentence each", async () => {
    const { record } = await load({
      manifest: { contracts: { tools: ["odd"], sessionActions: ["odd"] } },
      code: `export default (api) => {
        for (const odd of [Object.create(null), [Object.create(null)]]) {
          api.registerContextEngine(odd, () => 1);
          api.registerTool({ name: odd, description: "", parameters: {}, execute() {} }, { name: odd });
          api.registerCommand({ name: odd, description: "", handler() {} });
          api.registerService({ id: odd, start() {} });
          api.registerGatewayMethod(odd, () => {});
          api.registerHttpRoute({ path: odd, auth: "plugin", handler() {} });
          api.registerCli(() => {}, { commands: [odd] });
          api.registerHook(odd, () => {}, { name: odd });
          api.on(odd, () => {});
          api.on(odd);
          api.session.controls.registerSessionAction({ id: odd, handler() {} });
        }
        api.registerContextEngine("fine", () => 1);
      };`,
    });
    expect(record).toMatchObject({ status: "loaded", engines: ["fine"] });
    expect(record.diagnostics.map(({ message }) => message)).toEqual([
      "context engine registration missing id",
      "a tool that was given to api.registerTool has no name; it is left out",
      'command name "(an object)" is not a word',
      "service registration missing id or start",
      "gateway method registration missing name or handler",
      "HTTP route registration missing path or handler",
      "command-line registration names no command; its options need commands or descriptors",
      "hook registration names no event",
      expect.stringMatching(/^hook "\(an object\)" is never called .* same of "\(a list\)"\)$/),
      "hook (an object) registration missing handler",
      "session action registration missing id or handler",
      'command name "(a list)" is not a word',
      "hook (a list) registration missing handler",
      expect.stringContaining('tool "odd" is declared'),
    ]);
  });

  it("and is nothing of the kind is refused in a sentence that names the member", async () => {
    const { record } = await load({
      manifest: { contracts: { tools: ["odd", "bad name"], sessionActions: ["odd"] } },
      code: `export default (api) => {
        for (const odd of [null, undefined, 7, "text", []]) api.registerTool(odd);
        api.registerTool({ execute() {} });
        api.registerTool({ name: "odd" });
        api.registerTool({ name: "odd", parameters: "none", execute() {} });
        api.registerTool({ name: "bad name", execute() {} });
        api.registerCommand(null);
        api.registerService(7);
        api.registerHttpRoute(null);
        api.registerCli("tide");
        api.session.controls.registerSessionAction(null);
        api.registerMemoryCapability(null);
        api.registerContextEngine(null, null);
        api.registerGatewayMethod(null, null);
        api.registerHook(null, null);
        api.on(null, null);
        api.registerContextEngine("fine", () => 1);
      };`,
    });
    expect(record).toMatchObject({ status: "loaded", engines: ["fine"], registeredTools: [] });
    const takes = "takes a tool, or a function that makes tools, and was given";
    expect(record.diagnostics.map(({ message }) => message)).toEqual([
      `api.registerTool ${takes} null`,
      `api.registerTool ${takes} undefined`,
      `api.registerTool ${takes} a number`,
      `api.registerTool ${takes} a text`,
      `api.registerTool ${takes} a list`,
      "a tool that was given to api.registerTool has no name; it is left out",
      'tool odd has no function "execute"; it is left out',
      "the parameters of tool odd are no JSON Schema; it is left out",
      expect.stringContaining('tool "bad name" is left out'),
      "api.registerCommand takes an object with name and handler, and was given null",
      "api.registerService takes an object with id and start, and was given a number",
      "api.registerHttpRoute takes an object with path, handler and auth, and was given null",
      "api.registerCli takes a function, and options with commands or descriptors, and was given a text",
      "api.session.controls.registerSessionAction takes an object with id and handler, and was given null",
      expect.stringContaining("registerMemoryCapability needs an object"),
      "context engine registration missing id",
      "gateway method registration missing name or handler",
      "hook registration names no event",
      "hook null registration missing handler",
      expect.stringContaining('tool "odd" is declared'),
    ]);
  });

  it("and has a name in which something hides is refused, and told without it", async () => {
    const { record } = await load({
      code: `export default (api) => {
        api.registerContextEngine("\\u202eenil", () => 1);
        api.registerService({ id: "a\\u001b[31m", start() {} });
        api.registerGatewayMethod("a\\u200bb", () => {});
        api.registerHttpRoute({ path: "/a\\u2066", auth: "plugin", handler() {} });
        api.registerCommand({ name: "a\\u202e", handler() {} });
        api.on("a\\u202e", () => {});
      };`,
    });
    expect(record).toMatchObject({ status: "loaded", engines: [], services: [], methods: [] });
    const hidden = "holds characters that nobody can see; it is left out";
    expect(record.diagnostics.map(({ message }) => message)).toEqual([
      `context engine id "\\u202eenil" ${hidden}`,
      `service id "a\\u001b[31m" ${hidden}`,
      `method name "a\\u200bb" ${hidden}`,
      `HTTP route "/a\\u2066" ${hidden}`,
      'command name "a\\u202e" is not a word',
      expect.stringContaining('hook "a\\u202e" is never called by this host'),
    ]);
  });

  it("is nothing but programs where only the command line asks", async () => {
    const { record } = await load({ code }, "cli-metadata");
    expect(record).toMatchObject({ services: [], programs: ["tide", "flood"], routes: [] });
  });
});
