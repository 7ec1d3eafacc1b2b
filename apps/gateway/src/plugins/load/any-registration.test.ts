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
  it("is loaded with the rest, and each kind is named once", async () => {
    const code = `export default (api) => {
      if (typeof api.registerVoiceProvider === "function") api.registerVoiceProvider({ id: "v" });
      api.registerVoiceProvider({ id: "w" });
      if ("registerChannel" in api) api.registerChannel({});
      api.session.state.registerSessionExtension({});
      api.agent.events.registerAgentEventSubscription({});
      api.registerContextEngine("e", () => 1);
      if (api.noSuchMember !== undefined || api.then !== undefined) throw new Error("made up");
    };`;
    const { record } = await load({ code });
    const unused = (member: string) => ({
      level: "warning",
      message: `api.${member} is not something this host does anything with; what it was given is not used`,
    });
    expect(record).toMatchObject({ status: "loaded", engines: ["e"] });
    expect(record.diagnostics).toEqual([
      unused("registerVoiceProvider"),
      unused("registerChannel"),
      unused("session.state.registerSessionExtension"),
      unused("agent.events.registerAgentEventSubscription"),
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
      'command name "(an object)" is not a word',
      "service registration missing id or start",
      "gateway method registration missing name or handler",
      "HTTP route registration missing path or handler",
      "command-line registration names no command; its options need commands or descriptors",
      "hook registration names no event",
      expect.stringContaining('hook "(an object)" is never called by this host'),
      "hook (an object) registration missing handler",
      "session action registration missing id or handler",
      'command name "(a list)" is not a word',
      expect.stringContaining('hook "(a list)" is never called by this host'),
      "hook (a list) registration missing handler",
    ]);
  });

  it("is nothing but programs where only the command line asks", async () => {
    const { record } = await load({ code }, "cli-metadata");
    expect(record).toMatchObject({ services: [], programs: ["tide", "flood"], routes: [] });
  });
});
