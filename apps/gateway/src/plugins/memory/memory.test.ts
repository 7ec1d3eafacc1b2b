// Memory plugins of every kind, good and bad, inside real turns.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { memoryModel, systemText } from "../../testing/memory.ts";
import { run } from "../../testing/obedient-model.ts";
import { startPluginGateway, writePlugin } from "../../testing/plugins.ts";

/** A plugin whose `register` runs the given code. */
const code = (body: string) => `export default { register(api) { ${body} } };\n`;

async function withMemory(
  body: string,
  {
    slots = { memory: "mem" },
    memory,
    others = {},
  }: { slots?: object; memory?: object; others?: Record<string, string> } = {},
) {
  const home = await temporaryHome();
  const paths = Object.entries({ mem: body, ...others }).map(([id, text]) =>
    writePlugin(join(home, "sources", id), {
      id,
      manifest: { kind: "memory", contracts: { tools: ["memory_search"] } },
      code: code(text),
    }),
  );
  const { server, config } = await memoryModel();
  const started = await startPluginGateway(
    { ...config, ...(memory && { memory }), plugins: { load: { paths }, slots } },
    home,
  );
  const system = () => systemText(server.requests.at(-1)!);
  return { ...started, server, system };
}

const search = run("memory_search", { query: "boat" });
const MANAGER = (manager: string) =>
  `api.registerMemoryCapability({ runtime: { getMemorySearchManager: async () => ({ manager: ${manager} }) } });`;

describe("the memory section", () => {
  it("has the chosen plugin's lines first, then supplements by plugin id", async () => {
    const { say, system } = await withMemory(
      "api.registerMemoryPromptSupplement(() => ['from mem itself']); api.registerMemoryCapability({ promptBuilder: () => ['chosen', '', 7] });",
      {
        others: {
          b: "api.registerMemoryPromptSupplement(async () => ['from b, waited for']);",
          a: "api.registerMemoryPromptSupplement(() => ['from a']);",
        },
      },
    );
    const { report } = await say("hello");
    expect(system()).toContain("chosen\\n\\nfrom a\\nfrom b, waited for\\nfrom mem itself");
    expect(report.memory).toMatchObject({ plugin: "mem", shownBy: "host" });
  });

  it("is told the tools, the agent, the session and the citations mode", async () => {
    const { say, system } = await withMemory(
      "api.registerMemoryPromptSection((p) => [JSON.stringify({ ...p, availableTools: p.availableTools.has('read_file') })]);",
      { memory: { citations: "off" } },
    );
    await say("hello");
    const told = { citationsMode: "off", agentId: "main", agentSessionKey: "agent:main:main" };
    for (const [key, value] of Object.entries(told))
      expect(system()).toContain(`\\"${key}\\":\\"${value}\\"`);
  });

  it.each([
    ["throws", "(() => { throw new Error('no') })()", "no"],
    ["rejects", "Promise.reject(new Error('later no'))", "later no"],
    ["gives megabytes", "['x'.repeat(5e6)]", "it has 4.8 MiB, and at most 97.7 KiB are taken"],
  ])("of a plugin that %s is left out, and the report says why", async (_, lines, reason) => {
    const { say, system, log } = await withMemory(
      `api.registerMemoryCapability({ promptBuilder: () => ${lines} });`,
    );
    const { outcome, report } = await say("hello");
    expect(outcome).toBe("completed");
    expect(report.refusals).toEqual([
      { plugin: "mem", asked: "memory section", reason: expect.stringContaining(reason) },
    ]);
    expect(report.memory).toEqual({ plugin: "mem", bytes: 0 });
    expect(system()).not.toContain("xxxx");
    expect(log.lines.join("\n")).toContain(`mem: memory section: ${reason}`);
  });

  it.each([
    ["null", "null", "it answered in a wrong shape: expected array, received null"],
    ["a number", "7", "it answered in a wrong shape: expected array, received number"],
    ["one text", "'just text'", "it answered in a wrong shape: expected array, received string"],
    ["what is no text among lines", "['ok', null, {}]", "2 lines of 3 are no text, and left out"],
    ["a list with holes", "new Array(5)", "5 lines of 5 are no text, and left out"],
    [
      "what throws when it is looked at",
      "new Proxy([], { get() { throw new Error('no look') } })",
      "no look",
    ],
  ])("of a plugin that gives %s says so in the report and the log", async (_, lines, reason) => {
    const { say, system, log } = await withMemory(
      `api.registerMemoryCapability({ promptBuilder: () => ${lines} }); api.registerMemoryPromptSupplement(() => ['supplement']);`,
    );
    const { outcome, report } = await say("hello");
    expect(outcome).toBe("completed");
    expect(report.refusals).toEqual([{ plugin: "mem", asked: "memory section", reason }]);
    expect(log.lines.join("\n")).toContain(`[plugins] mem: memory section: ${reason}`);
    expect(system()).toContain("supplement");
    expect(system().includes("ok\\nsupplement")).toBe(lines.includes("'ok'"));
  });

  it("of a plugin beside the slot is not used, and its record says how it would be", async () => {
    const { say, system, plugins } = await withMemory(
      "api.registerMemoryCapability({ promptBuilder: () => ['never'] });",
      { slots: {} },
    );
    const { report } = await say("hello");
    expect(system()).not.toContain("never");
    expect(report.memory).toBeUndefined();
    expect(plugins.records()[0]!.diagnostics).toEqual([
      {
        level: "warning",
        message:
          "it offers a memory, which is not used because no memory is chosen; to use it: clew config set plugins.slots.memory mem",
      },
    ]);
  });

  it("is waited for once per run, however often the engine assembles", async () => {
    const engine = `let times = 0; api.registerMemoryCapability({ promptBuilder: async () => [\`built \${++times} times\`] });
      api.registerContextEngine("reads", () => ({
        info: { id: "reads", name: "reads" },
        ingest: async () => ({ ingested: true }),
        assemble: async ({ messages, availableTools }) => {
          const { buildMemorySystemPromptAddition } = await import("openclaw/plugin-sdk/core");
          return { messages, estimatedTokens: 0, systemPromptAddition: buildMemorySystemPromptAddition({ availableTools }) };
        },
        compact: async () => ({ ok: true, compacted: false, reason: "nothing" }),
      }));`;
    const { say, server } = await withMemory(engine, {
      slots: { memory: "mem", contextEngine: "reads" },
    });
    const { report } = await say(run("list_files", {}));
    expect(report.memory).toMatchObject({ plugin: "mem", shownBy: "engine" });
    expect(server.requests).toHaveLength(2);
    for (const request of server.requests) expect(systemText(request)).toContain("built 1 times");
    await say("again");
    expect(systemText(server.requests.at(-1)!)).toContain("built 2 times");
  });

  it("that an engine leaves out is told", async () => {
    const engine = `api.registerMemoryCapability({ promptBuilder: () => ["unread"] });
      api.registerContextEngine("deaf", () => ({
        info: { id: "deaf", name: "deaf" },
        ingest: async () => ({ ingested: true }),
        assemble: async ({ messages }) => ({ messages, estimatedTokens: 0 }),
        compact: async () => ({ ok: true, compacted: false, reason: "nothing" }),
      }));`;
    const { say, system } = await withMemory(engine, {
      slots: { memory: "mem", contextEngine: "deaf" },
    });
    expect((await say("hello")).report.memory).toMatchObject({ shownBy: "nobody" });
    expect(system()).not.toContain("unread");
  });
});

describe("memory_search", () => {
  it("is not offered where the plugin has nothing to search", async () => {
    const { say, server } = await withMemory(
      "api.registerMemoryCapability({ promptBuilder: () => [] });",
    );
    await say("hello");
    expect(JSON.stringify(server.requests[0]!.body)).not.toContain("memory_search");
  });

  it.each([
    ["neither searched nor read", "{ status() {} }", []],
    ["searched only", "{ search: async () => [] }", ["memory_search"]],
    ["read only", "{ readFile: async () => ({ text: '' }) }", ["memory_get"]],
    ["had at all", "null, error: 'no key'", []],
  ])("and memory_get are not offered where it cannot be %s", async (_, manager, offered) => {
    const { say, server, system } = await withMemory(
      `${MANAGER(manager)} api.registerMemoryPromptSection(({ availableTools }) => ["Offered: " + JSON.stringify([...availableTools].filter((name) => name.startsWith("memory_")))]);`,
    );
    await say("hello");
    await say("and again");
    for (const { body } of server.requests) {
      const { tools } = body as { tools: { function: { name: string } }[] };
      const names = tools.map((tool) => tool.function.name);
      expect(names.filter((name) => name.startsWith("memory_"))).toEqual(offered);
    }
    expect(system().replaceAll("\\", "")).toContain(`Offered: ${JSON.stringify(offered)}`);
  });

  it("is offered again once there is something to search, and says until then why not", async () => {
    const { say, server, log } = await withMemory(
      `let asked = 0;
       api.registerMemoryCapability({ runtime: { getMemorySearchManager: async () =>
         ++asked < 3 ? { manager: null, error: "no key" } : { manager: { search: async () => [] } } } });`,
    );
    for (const text of ["one", "two", "three"]) await say(text);
    const has = server.requests.map(({ body }) => JSON.stringify(body).includes("memory_search"));
    expect(has).toEqual([false, false, true]);
    expect(log.lines.filter((line) => line.includes("cannot be searched"))).toEqual([
      expect.stringContaining("[plugins] mem: its memory cannot be searched: no key"),
    ]);
  });

  it.each([
    ["throws", MANAGER("{ search() { throw new Error('broken') } }"), "failed: broken"],
    [
      "gives nonsense among results",
      MANAGER("{ search: async () => [null, 7, { path: 'a', snippet: 'the boat' }] }"),
      "the boat",
    ],
    [
      "gives megabytes",
      MANAGER("{ search: async () => [{ path: 'a', snippet: 'y'.repeat(5e6) }] }"),
      "yyyy",
    ],
  ])("of a memory that %s says so", async (_, body, said) => {
    const { say } = await withMemory(body);
    const { outcome, reply } = await say(search);
    expect(outcome).toBe("completed");
    const text = JSON.stringify(reply);
    expect(text).toContain(said);
    expect(text.length).toBeLessThan(10_000);
  });

  it.each([
    ["null", "expected array, received null"],
    ["undefined", "expected array, received undefined"],
    ["7", "expected array, received number"],
    ["'text'", "expected array, received string"],
  ])("of a memory that answers %s is refused, and told in the report", async (given, wrong) => {
    const { say, log } = await withMemory(MANAGER(`{ search: async () => ${given} }`));
    const { report } = await say(search);
    const reason = `it answered in a wrong shape: ${wrong}`;
    expect(report.refusals).toEqual([{ plugin: "mem", asked: "memory_search", reason }]);
    expect(report.toolCalls).toMatchObject([
      { isError: true, note: `The memory of plugin "mem" cannot be used: ${reason}.` },
    ]);
    expect(log.lines.join("\n")).toContain(`[plugins] mem: memory_search: ${reason}`);
  });

  it("tells which results are left out, and gives the others", async () => {
    const { say } = await withMemory(
      MANAGER(
        "{ search: async () => [null, { path: 5, snippet: 'a' }, { path: 'b', snippet: 'boat', startLine: 1, endLine: {} }] }",
      ),
    );
    const { report, reply } = await say(search);
    expect(report.refusals).toEqual([
      {
        ...{ plugin: "mem", asked: "memory_search" },
        reason: "2 results left out (result 1: expected object, received null)",
      },
    ]);
    expect(report.toolCalls).toMatchObject([{ isError: false }]);
    expect(JSON.stringify(reply)).toContain("boat\\nSource: b#L1-L1");
  });

  it.each([
    ["null", "expected object, received null"],
    ["7", "expected object, received number"],
    ["{ text: 7 }", "text: expected string, received number"],
  ])("memory_get of a memory that answers %s is refused, and told", async (given, wrong) => {
    const { say } = await withMemory(MANAGER(`{ readFile: async () => (${given}) }`));
    const { report } = await say(run("memory_get", { path: "a.md" }));
    const reason = `it answered in a wrong shape: ${wrong}`;
    expect(report.refusals).toEqual([{ plugin: "mem", asked: "memory_get", reason }]);
    expect(report.toolCalls).toMatchObject([{ isError: true }]);
  });

  it.each([
    ["7", "expected object, received number"],
    ["{}", "manager: expected object, received undefined"],
    ["{ manager: 'x' }", "manager: expected object, received string"],
  ])("of a memory that has %s for a manager is refused, and told", async (given, wrong) => {
    const { say } = await withMemory(
      `api.registerMemoryCapability({ runtime: { getMemorySearchManager: async () => (${given}) } });`,
    );
    const reason = `it answered in a wrong shape: ${wrong}`;
    expect((await say(search)).report.refusals).toEqual([
      { plugin: "mem", asked: "memory manager", reason },
    ]);
  });

  it("is the plugin's own where it brings one", async () => {
    const { say } = await withMemory(
      `${MANAGER("{ search: async () => [] }")} api.registerTool({ name: "memory_search", description: "own", parameters: { type: "object" }, annotations: { readOnlyHint: true }, execute: () => ({ content: [{ type: "text", text: "by the plugin" }] }) });`,
    );
    expect(JSON.stringify((await say(search)).reply)).toContain("by the plugin");
  });

  it("names no source where citations are off", async () => {
    const { say } = await withMemory(
      MANAGER(
        "{ search: async () => [{ path: 'a.md', startLine: 2, endLine: 3, snippet: 'boat' }] }",
      ),
      { memory: { citations: "off" } },
    );
    expect(JSON.stringify((await say(search)).reply)).not.toContain("Source:");
  });
});

it("what is no capability is told, and the rest of the plugin is used", async () => {
  const { plugins, say } = await withMemory(
    "api.registerMemoryCapability(null); api.registerMemoryRuntime({}); api.registerMemoryFlushPlan(7); api.registerMemoryCapability({ promptBuilder: 'x', publicArtifacts: {} });",
  );
  expect(plugins.records()[0]!.diagnostics.map(({ message }) => message)).toEqual([
    "registerMemoryCapability needs an object with what the memory can do",
    "registerMemoryRuntime needs a runtime with getMemorySearchManager",
    "registerMemoryFlushPlan needs a function that returns a plan",
    "the promptBuilder of the memory must be a function that returns lines; it is left out",
  ]);
  expect((await say("hello")).outcome).toBe("completed");
});

describe("a flush plan", () => {
  it.each([
    ["7", "it answered in a wrong shape: expected object, received number"],
    ["'text'", "it answered in a wrong shape: expected object, received string"],
    [
      "new Proxy([], { get() { throw new Error('no look') } })",
      "it answered in a wrong shape: expected object, received array",
    ],
    ["new Proxy({}, { get() { throw new Error('no look') } })", "no look"],
    ["Promise.reject(new Error('later'))", "it is a promise, and a plan is needed at once"],
    ["{ then() {} }", "it is a promise, and a plan is needed at once"],
    ["(() => { throw new Error('boom') })()", "boom"],
    [
      "{ relativePath: 5, prompt: 'p', softThresholdTokens: -5 }",
      "without relativePath and softThresholdTokens (relativePath: expected string, received number)",
    ],
  ])("that is %s is told in the report and the log", async (plan, reason) => {
    const { say, log } = await withMemory(
      `api.registerMemoryCapability({ flushPlanResolver: () => (${plan}) });`,
    );
    const { outcome, report } = await say("hello");
    expect(outcome).toBe("completed");
    expect(report.refusals).toEqual([{ plugin: "mem", asked: "memory flush plan", reason }]);
    expect(log.lines.join("\n")).toContain(`[plugins] mem: memory flush plan: ${reason}`);
  });

  it.each(["null", "undefined", "{}", "{ relativePath: 'a.md', reserveTokensFloor: 'x' }"])(
    "that is %s is none or a right one, and nothing is told",
    async (plan) => {
      const { say } = await withMemory(
        `api.registerMemoryCapability({ flushPlanResolver: () => (${plan}) });`,
      );
      expect((await say("hello")).report.refusals).toBeUndefined();
    },
  );
});

describe("a manager", () => {
  /** What the plugin wrote down; it is in this process. */
  const told = () => (globalThis as { told?: string[] }).told;
  const plugin = (given: string) =>
    `globalThis.told = []; let made = 0;
     const make = () => { const id = ++made; return { search: async () => [], close() { told.push('close ' + id); if (id === 2) throw new Error('stuck'); } }; };
     const one = make();
     api.registerMemoryCapability({ runtime: {
       getMemorySearchManager: async () => ({ manager: ${given} }),
       closeAllMemorySearchManagers: async () => { told.push('close all'); } } });`;

  it("that stays is closed once, when the gateway stops, and then the plugin closes all", async () => {
    const { say, stop } = await withMemory(plugin("one"));
    await say(search);
    await say(search);
    expect(told()).toEqual([]);
    await stop();
    expect(told()).toEqual(["close 1", "close all"]);
  });

  it("that another one replaces is closed then, and what it does wrong is logged", async () => {
    const { say, stop, log } = await withMemory(plugin("make()"));
    for (const _ of [1, 2, 3]) await say(search);
    expect(told()).toEqual(["close 2", "close 3", "close 4"]);
    await stop();
    expect(told()).toEqual(["close 2", "close 3", "close 4", "close 5", "close all"]);
    expect(log.lines.join("\n")).toContain("mem: its memory could not be closed: stuck");
  });

  it("that nobody asked for is closed by the plugin", async () => {
    const { stop } = await withMemory(plugin("null"));
    await stop();
    expect(told()).toEqual(["close all"]);
  });
});
