import { join } from "node:path";
import type { HostSession, ToolPort } from "@clew/engine-core";
import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { collectLog, writePlugin } from "../../testing/plugins.ts";
import type { Approve } from "../../tools/tool.ts";
import { createPluginHost } from "../host.ts";
import { createPluginTools } from "./tools.ts";

const session: HostSession = {
  agentId: "main",
  sessionId: "s1",
  sessionKey: "agent:main:main",
  sessionFile: "/none.jsonl",
};
const call = (name: string, parameters: Record<string, unknown> = {}): ToolCallBlock => ({
  type: "toolCall",
  id: "c1",
  name,
  arguments: parameters,
});
const base: ToolPort = {
  list: () => [{ name: "own_tool", description: "", parameters: {} }],
  run: async ({ call: { name } }) => ({
    content: [{ type: "text", text: name === "own_tool" ? "own" : `There is no tool "${name}".` }],
    isError: name !== "own_tool",
  }),
};

const CODE = `export default (api) => {
  const n = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
  const say = (text) => ({ content: [{ type: "text", text }] });
  api.registerTool({ name: "look", description: "Looks", parameters: n, annotations: { readOnlyHint: true }, execute: (id, { n }) => say(id + " saw " + n) });
  api.registerTool({ name: "change", description: "Changes", parameters: { type: "object" }, execute: async () => ({ ...say("changed"), details: { rows: 1 } }) });
  api.registerTool((ctx) => [
    { name: "who", description: "For " + ctx.sessionKey, parameters: {}, annotations: { readOnlyHint: true }, execute: () => say(ctx.sessionId) },
    { name: "stray", description: "", parameters: {}, execute: () => say("never") },
  ]);
  api.registerTool(() => null, { names: ["absent"] });
  api.registerTool(() => { throw new Error("no factory today"); }, { names: ["broken"] });
  api.registerTool({ name: "throws", description: "", parameters: {}, annotations: { readOnlyHint: true }, execute: () => { throw new Error("no luck"); } });
  api.registerTool({ name: "hangs", description: "", parameters: {}, annotations: { readOnlyHint: true }, execute: () => new Promise(() => {}) });
  api.registerTool({ name: "empty", description: "", parameters: {}, annotations: { readOnlyHint: true }, execute: () => ({}) });
  api.registerTool({ name: "answers", description: "", parameters: {}, execute: (id, { given }) => JSON.parse(given) });
  api.registerTool(() => [null, { name: "lame" }, { name: "beside", description: "", parameters: {}, execute: () => say("beside") }], { names: ["beside"] });
  api.registerTool({ name: "own_tool", description: "", parameters: {}, execute: () => say("stolen") });
};`;

async function openTools(permissions: Record<string, unknown> = {}, approve?: Approve) {
  const home = await temporaryHome();
  const tools = [
    "look",
    "change",
    "who",
    "absent",
    "broken",
    "throws",
    "hangs",
    "empty",
    "answers",
    "beside",
    "own_tool",
  ];
  const folder = writePlugin(join(home, "sources/small"), {
    code: CODE,
    manifest: { contracts: { tools } },
  });
  const log = collectLog();
  const plugins = { load: { paths: [folder] }, entries: { small: { tools: permissions } } };
  const host = await createPluginHost({ home, plugins, raw: {}, log, reservedTools: ["own_tool"] });
  const pluginTools = createPluginTools({ log, runAs: host.runAs });
  const nextPort = () => pluginTools({ base, tools: host.tools(), approve });
  const port = nextPort();
  const run = async (
    name: string,
    parameters: Record<string, unknown> = {},
    signal = new AbortController().signal,
  ) => port.run({ call: call(name, parameters), session, signal });
  const text = async (...given: Parameters<typeof run>) => {
    const { content, isError } = await run(...given);
    return `${isError ? "ERROR " : ""}${content.map((block) => (block.type === "text" ? block.text : block.type)).join("")}`;
  };
  return { port, nextPort, run, text, log, host };
}

describe("tools of plugins", () => {
  it("stand beside the gateway's own, as each session's factories make them", async () => {
    const { port, log, host } = await openTools();
    expect(port.list(session).map(({ name }) => name)).toEqual([
      "own_tool",
      "look",
      "change",
      "who",
      "throws",
      "hangs",
      "empty",
      "answers",
      "beside",
    ]);
    expect(port.list(session).find(({ name }) => name === "who")?.description).toBe(
      "For agent:main:main",
    );
    expect(log.lines).toContain(
      'warn [plugins] small: tool "stray" is left out, because openclaw.plugin.json does not declare it; add to it: "contracts": { "tools": ["stray"] }',
    );
    expect(log.lines).toContainEqual(
      expect.stringMatching(
        /^warn \[plugins\] small: a tool could not be created: no factory today, at index\.js:\d+$/,
      ),
    );
    expect(host.records()[0]!.diagnostics).toEqual([
      { level: "warning", message: 'tool "own_tool" belongs to the gateway; it is left out' },
    ]);
  });

  it("that only read run unasked; everything else needs somebody's yes, and without anybody the answer is no", async () => {
    const asked: string[] = [];
    const alone = await openTools();
    expect(await alone.text("look", { n: 3 })).toBe("c1 saw 3");
    expect(await alone.text("who")).toBe("s1");
    expect(await alone.text("change")).toBe(
      "ERROR change was not run: it needs a person's approval, and nobody is there to ask.",
    );
    const answering =
      (yes: boolean): Approve =>
      async ({ call: { name } }) => {
        asked.push(name);
        return { kind: "answered", answer: yes ? "once" : "no", at: "terminal" };
      };
    expect(await (await openTools({}, answering(false))).text("change")).toMatch(/^ERROR/);
    const allowed = await (await openTools({}, answering(true))).run("change");
    expect(allowed).toEqual({
      content: [{ type: "text", text: "changed" }],
      isError: false,
      details: { rows: 1 },
      note: "allowed once at the terminal",
    });
    expect(asked).toEqual(["change", "change"]);
  });

  it("run unasked, or are not offered, as the operator says", async () => {
    const { text, port } = await openTools({ allow: ["change"], deny: ["look"] });
    expect(await text("change")).toBe("changed");
    expect(await text("look", { n: 1 })).toMatch(
      /^ERROR There is no tool "look"; there is: own_tool, change, who, [a-z, ]+\.$/,
    );
    expect(port.list(session).some(({ name }) => name === "look")).toBe(false);
  });

  it("get arguments that fit their schema", async () => {
    const { text } = await openTools();
    expect(await text("look", { n: "three" })).toBe(
      "ERROR The arguments of look are wrong: n must be integer",
    );
  });

  it("get what a model meant: a number written as text, and nothing by null", async () => {
    const { text } = await openTools();
    expect(await text("look", { n: "3" })).toBe("c1 saw 3");
    expect(await text("look", { n: null })).toBe(
      "ERROR The arguments of look are wrong: must have required property 'n'",
    );
  });

  it("that fail are an answer to the model", async () => {
    const { text } = await openTools();
    expect(await text("throws")).toBe("ERROR throws failed: no luck");
    expect(await text("empty")).toBe("ERROR empty gave no result.");
    expect(await text("own_tool")).toBe("own");
  });

  it("answer with a text, or with blocks, and what is neither is told", async () => {
    const { text } = await openTools({ allow: ["answers"] });
    const answer = (given: string) => text("answers", { given });
    expect(await answer(`"a text"`)).toBe("a text");
    expect(await answer(`{ "content": "a text" }`)).toBe("a text");
    expect(await answer(`{ "content": [{ "type": "text" }] }`)).toBe(
      "ERROR answers gave no result. Its content[0] is neither a text block nor an image block.",
    );
    expect(await answer(`{ "content": [{ "type": "text", "text": "kept" }, null] }`)).toBe(
      "keptIts content[1] is neither a text block nor an image block.",
    );
    expect(await answer(`{ "content": { "type": "text", "text": "x" } }`)).toBe(
      "ERROR answers gave no result. Its content is no list of blocks.",
    );
    expect(await answer("null")).toBe("ERROR answers gave no result.");
  });

  it("that are none are left out alone, and told of", async () => {
    const { port, log } = await openTools();
    expect(port.list(session).map(({ name }) => name)).toContain("beside");
    expect(log.lines.filter((line) => /beside|takes a tool|"execute"/.test(line))).toEqual([
      "warn [plugins] small: api.registerTool takes a tool, or a function that makes tools, and was given null",
      'warn [plugins] small: tool lame has no function "execute"; it is left out',
    ]);
  });

  it("that do not end give way to an abort", async () => {
    const { run } = await openTools();
    const controller = new AbortController();
    const running = run("hangs", {}, controller.signal);
    controller.abort(new DOMException("enough", "AbortError"));
    await expect(running).rejects.toThrow("enough");
  });

  it("stay as they are for a run that goes on, and change with a reload for the next", async () => {
    const { port, nextPort, host } = await openTools();
    expect(port.list(session)).toHaveLength(9);
    await host.reload({ plugins: { enabled: false }, raw: {} });
    expect(port.list(session)).toHaveLength(9);
    expect(
      nextPort()
        .list(session)
        .map(({ name }) => name),
    ).toEqual(["own_tool"]);
  });
});

it("a tool whose parameters cost too much to check is left out and told of", async () => {
  const home = await temporaryHome();
  const code = `export default (api) => {
    const definitions = { d9: {} };
    for (let level = 8; level >= 0; level--)
      definitions["d" + level] = { allOf: Array(8).fill({ $ref: "#/definitions/d" + (level + 1) }) };
    const parameters = { definitions, $ref: "#/definitions/d0" };
    api.registerTool({ name: "dear", description: "", parameters, execute: () => ({}) });
    api.registerTool(() => ({ name: "late", description: "", parameters, execute: () => ({}) }));
  };`;
  const manifest = { contracts: { tools: ["dear", "late"] } };
  const folder = writePlugin(join(home, "sources/small"), { code, manifest });
  const log = collectLog();
  const plugins = { load: { paths: [folder] } };
  const host = await createPluginHost({ home, plugins, raw: {}, log });
  const port = createPluginTools({ log, runAs: host.runAs })({ base, tools: host.tools() });
  expect(port.list(session).map(({ name }) => name)).toEqual(["own_tool"]);
  expect(log.lines.join("\n")).toMatch(/tool dear is left out.*needs more than 100000 checks/);
  expect(log.lines.join("\n")).toMatch(/tool late is left out.*needs more than 100000 checks/);
});
