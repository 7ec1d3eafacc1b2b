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
    expect(log.lines.join("\n")).toContain(`mem: its memory section is missing: ${reason}`);
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
    ["has no search", MANAGER("{ status() {} }"), "cannot be searched; use the tools"],
    ["has no manager", MANAGER("null, error: 'no key'"), "is not there: no key"],
    ["throws", MANAGER("{ search() { throw new Error('broken') } }"), "failed: broken"],
    ["gives no list", MANAGER("{ search: async () => 'x' }"), "Nothing that fits is remembered."],
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

it("managers are closed when the gateway stops", async () => {
  const { stop } = await withMemory(
    "api.registerMemoryCapability({ runtime: { getMemorySearchManager: async () => ({ manager: null }), closeAllMemorySearchManagers: async () => { globalThis.closedMemory = true; } } });",
  );
  await stop();
  expect((globalThis as { closedMemory?: boolean }).closedMemory).toBe(true);
});
