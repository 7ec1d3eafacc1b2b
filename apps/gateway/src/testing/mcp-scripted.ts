// An MCP server for tests that does badly whatever it is called to do.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// Flags: --mute, --exit, --die-first=N with --starts=FILE, --stubborn, --flawed, --notes=FILE
const flags = new Map(
  process.argv.slice(2).map((each) => {
    const [name = "", value = ""] = each.split("=");
    return [name, value];
  }),
);
const starts = flags.get("--starts");
if (starts !== undefined) appendFileSync(starts, `${process.pid}\n`);
const startsSoFar =
  starts !== undefined && existsSync(starts)
    ? readFileSync(starts, "utf8").trim().split("\n").length
    : 1;
if (startsSoFar <= Number(flags.get("--die-first") ?? 0) || flags.has("--exit")) {
  process.stderr.write(`cannot open the ${process.env.FAKE_TOKEN ?? "thing"}\nsecond line\n`);
  process.exit(3);
}
if (flags.has("--stubborn")) process.on("SIGTERM", () => {});
if (flags.has("--stubborn")) setInterval(() => {}, 1000);

type Json = Record<string, unknown>;
const object = (properties: Json) => ({ type: "object", properties });
const text = { text: { type: "string" } };
const tool = (name: string, properties: Json = {}, more: Json = {}) => ({
  ...{ name, description: `does ${name}`, inputSchema: object(properties), ...more },
});
const readOnly = { annotations: { readOnlyHint: true } };

let tools = [
  tool("echo", text, readOnly),
  tool("note", text),
  tool("rename", {}, readOnly),
  tool("hang", {}, readOnly),
  tool("huge", { bytes: { type: "number" } }, readOnly),
  tool("over", { bytes: { type: "number" } }, readOnly),
  tool("die", {}, readOnly),
  tool("fail", {}, readOnly),
  tool("refuse", {}, readOnly),
  tool("garbage", { lines: { type: "number" } }, readOnly),
  tool("variables", {}, readOnly),
  tool("blocks", {}, readOnly),
];

if (flags.has("--flawed"))
  tools.push(
    ...([
      { name: "bare", description: "says no arguments" },
      { name: "wordy", inputSchema: { type: "string" } },
      {},
      tool("odd_blocks", {}, readOnly),
    ] as typeof tools),
  );

const send = (message: Json) => process.stdout.write(`${JSON.stringify(message)}\n`);
const notify = (method: string, params: Json = {}) => send({ jsonrpc: "2.0", method, params });
const said = (words: string) => ({ content: [{ type: "text", text: words }] });

const RUNS: Record<string, (given: Json) => Json | undefined> = {
  echo: (given) => said(`echo: ${String(given.text)}`),
  note(given) {
    appendFileSync(flags.get("--notes")!, `${String(given.text)}\n`);
    return said("noted");
  },
  rename() {
    tools = tools.map((each) => (each.name === "echo" ? { ...each, name: "shout" } : each));
    for (let count = 0; count < 21; count++) notify("notifications/tools/list_changed");
    return said("renamed");
  },
  hang: () => undefined,
  huge(given) {
    const words = "0123456789abcdef".repeat(Math.ceil(Number(given.bytes) / 16));
    return { ...said(JSON.stringify({ words })), structuredContent: { words } };
  },
  over: (given) => said("x".repeat(Number(given.bytes))),
  die() {
    process.stderr.write("the disk is gone\n");
    process.exit(7);
  },
  fail: () => ({ ...said("that went wrong"), isError: true }),
  garbage(given) {
    for (let line = 0; line < Number(given.lines); line++)
      process.stdout.write(`garbage ${line}\n`);
    return said("after the garbage");
  },
  variables: () => said(JSON.stringify(process.env)),
  odd_blocks: () => ({
    content: [
      { type: "text", text: "before" },
      { type: "video", data: "AAAA" },
      { type: "image", mimeType: "image/png" },
      7,
      { type: "text", text: "behind" },
    ],
    structuredContent: ["data"],
  }),
  blocks: () => ({
    content: [
      { type: "text", text: "first" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a.txt", text: "of a file" } },
      { type: "resource_link", uri: "file:///b.txt", name: "b" },
    ],
    structuredContent: { more: 1 },
  }),
};

function answer(method: string, params: Json): Json | undefined {
  if (method === "initialize")
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "scripted", version: "1.0.0" },
    };
  if (method === "tools/list") return { tools };
  if (method === "ping") return {};
  const { name, arguments: given } = params as { name: string; arguments: Json };
  if (!tools.some((each) => each.name === name) && name !== "refuse")
    throw { code: -32602, message: `unknown tool ${name}` };
  if (name === "refuse") throw { code: -32602, message: "not today" };
  return RUNS[name === "shout" ? "echo" : name]!(given);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: Json };
  if (id === undefined || flags.has("--mute")) return;
  try {
    const result = answer(method, params ?? {});
    if (result !== undefined) send({ jsonrpc: "2.0", id, result });
  } catch (error) {
    send({ jsonrpc: "2.0", id, error: error as Json });
  }
});
