// A plugin that offers the chosen memory's tools as its own, as real ones do.
import { join } from "node:path";
import { textOf } from "@clew/plugin-sdk/transcript";
import { expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { bodyOf, memoryModel } from "../../testing/memory.ts";
import { run } from "../../testing/obedient-model.ts";
import { startPluginGateway, writePlugin } from "../../testing/plugins.ts";

const PASSES_ON = `export default { register(api) {
  const { tools } = api.runtime;
  globalThis.whileRegistering = tools.createMemorySearchTool({ config: api.config });
  api.registerTool((ctx) => {
    const asked = { config: ctx.config, agentSessionKey: ctx.sessionKey };
    const search = tools.createMemorySearchTool(asked);
    const get = tools.createMemoryGetTool(asked);
    return search && get ? [search, get] : null;
  }, { names: ["memory_search", "memory_get"] });
} };\n`;

const REMEMBERS = `export default { register(api) {
  const manager = {
    search: async (query, { maxResults, sessionKey }) =>
      Array.from({ length: maxResults }, (_, at) => ({ path: "boats.md", startLine: at + 1, snippet: query + " in " + sessionKey })),
    readFile: async ({ relPath, from }) => ({ text: relPath + " from " + from }),
  };
  api.registerMemoryCapability({ runtime: {
    getMemorySearchManager: async ({ agentId }) =>
      agentId === "main" ? { manager } : { manager: null, error: "no memory of " + agentId },
  } });
} };\n`;

const CHOOSES_NOTHING = "export default { register() {} };\n";

async function passedOn(code = REMEMBERS, config: object = {}) {
  const home = await temporaryHome();
  const write = (id: string, text: string, tools: string[]) =>
    writePlugin(join(home, "sources", id), {
      ...{ id, code: text, manifest: { kind: "memory", contracts: { tools } } },
    });
  const paths = [
    write("mem", code, []),
    write("passes-on", PASSES_ON, ["memory_search", "memory_get"]),
  ];
  const { server, config: model } = await memoryModel();
  const plugins = { load: { paths }, slots: { memory: "mem" } };
  const started = await startPluginGateway({ ...model, ...config, plugins }, home);
  const offered = () =>
    (bodyOf(server.requests.at(-1)!).tools ?? []).map((tool) => tool.function.name);
  return { ...started, offered };
}

it("searches and reads the memory that is chosen, for the session that it was made for", async () => {
  const { say, offered } = await passedOn();
  const found = await say(run("memory_search", { query: "pelican", maxResults: 2 }));
  expect(offered().filter((name) => name.startsWith("memory_"))).toEqual([
    "memory_search",
    "memory_get",
  ]);
  expect(textOf(found.reply!)).toBe(
    "result: pelican in agent:main:main\nSource: boats.md#L1-L1\n\npelican in agent:main:main\nSource: boats.md#L2-L2",
  );
  expect(found.report.toolCalls).toMatchObject([{ name: "memory_search", isError: false }]);
  const read = await say(run("memory_get", { path: "boats.md", from: 3 }));
  expect(textOf(read.reply!)).toBe("result: boats.md from 3");
  expect((globalThis as { whileRegistering?: unknown }).whileRegistering).toBeNull();
});

it("is not made for an agent whose memory is not there; places are not named where those are switched off", async () => {
  const list = [{ id: "main" }, { id: "second" }];
  const agents = { list, defaults: { model: "emulated/emulated" } };
  const { say, log } = await passedOn(REMEMBERS, { agents, memory: { citations: "off" } });
  const { reply } = await say(run("memory_search", { query: "x" }), {
    session: "agent:second:main",
  });
  expect(textOf(reply!)).toContain("There is no tool");
  expect(log.lines.join("\n")).toContain("mem: its memory cannot be searched: no memory of second");
  const found = await say(run("memory_search", { query: "pelican", maxResults: 1 }));
  expect(textOf(found.reply!)).toBe("result: pelican in agent:main:main\n(boats.md)");
});

it("is not made where no memory is chosen that could be searched", async () => {
  const { say, offered } = await passedOn(CHOOSES_NOTHING);
  await say("hello");
  expect(offered().filter((name) => name.startsWith("memory_"))).toEqual([]);
});
