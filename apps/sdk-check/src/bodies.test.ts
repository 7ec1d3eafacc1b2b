import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import type { AgentMessage } from "../../../packages/plugin-sdk/src/core.ts";
import type { ModelCall } from "../../../packages/plugin-sdk/src/host.ts";
import { bodyOf, buildRequest } from "../../../packages/providers/src/index.ts";
import { READ } from "./servers.ts";

/** Types of vendors, as they stand in a file of ours: what is imported, and the type. */
const VENDORS: Readonly<Record<string, readonly [from: string, type: string]>> = {
  messages: [
    'import type Anthropic from "@anthropic-ai/sdk";',
    'Omit<Anthropic.Beta.Messages.MessageCreateParamsStreaming, "betas">',
  ],
  responses: [
    'import type OpenAI from "openai";',
    "OpenAI.Responses.ResponseCreateParamsStreaming",
  ],
  chat: ['import type OpenAI from "openai";', "OpenAI.Chat.ChatCompletionCreateParamsStreaming"],
  converse: [
    'import type { ConverseStreamCommandInput } from "@aws-sdk/client-bedrock-runtime";',
    'Omit<ConverseStreamCommandInput, "modelId">',
  ],
  mistral: [
    'import type { ChatCompletionStreamRequest$Outbound } from "@mistralai/mistralai/models/components/index.js";',
    "ChatCompletionStreamRequest$Outbound",
  ],
};

const ROUTES = [
  ["messages", "anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["messages", "anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["responses", "openai", "openai-responses", "gpt-5.6"],
  ["responses", "openai", "openai-chatgpt-responses", "gpt-5.6-codex"],
  ["chat", "openai", "openai-completions", "gpt-5.5"],
  ["converse", "amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["converse", "amazon-bedrock", "bedrock-converse-stream", "us.amazon.nova-2-lite-v1:0"],
  ["mistral", "mistral", "mistral-conversations", "magistral-medium-latest"],
] as const;

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mM4IScHAAK2AQUKW6YGAAAAAElFTkSuQmCC";
const text = (words: string) => ({ type: "text" as const, text: words });
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };

/** What of thinking goes back, in the form of its wire. */
const PROOFS: Readonly<Record<string, object>> = {
  messages: { thinkingSignature: "c2ln", carrier: "signed" },
  converse: { thinkingSignature: "c2ln", carrier: "signed" },
  responses: {
    thinkingSignature: JSON.stringify({
      ...{ type: "reasoning", id: "rs_1", encrypted_content: "gAAA" },
      summary: [{ type: "summary_text", text: "Hm." }],
    }),
    carrier: "item",
  },
  mistral: { carrier: "chunk" },
  chat: {},
};

/** A session with everything that has a place on the wire. */
function callOf([vendor, provider, api, id]: (typeof ROUTES)[number]): ModelCall {
  const said = (content: object[], stopReason: string) =>
    ({ ...{ role: "assistant", api, provider, model: id }, content, stopReason }) as AgentMessage;
  const thinking = { type: "thinking", thinking: "Hm.", ...PROOFS[vendor] };
  const call = {
    type: "toolCall",
    id: "call_abcd",
    name: "read",
    arguments: { path: "a", b: [1] },
  };
  const callId = vendor === "mistral" ? "callabcde" : call.id;
  const isBound = api === "openai-chatgpt-responses";
  return {
    model: { provider, api, id, contextWindow: 200_000, maxOutputTokens: 8000 },
    systemPrompt: "Be brief.",
    messages: [
      { role: "user", content: [text("Look."), image] },
      said([thinking, { ...call, id: callId }], "toolUse"),
      {
        ...{ role: "toolResult", toolCallId: callId, toolName: "read", isError: true },
        content: [text("no"), image],
      },
      said([thinking, text("No.")], "stop"),
      { role: "user", content: "Again." },
    ],
    tools: [{ name: READ.name, description: READ.description, parameters: READ.schema }],
    toolChoice: "auto",
    parallelToolCalls: false,
    reasoning: { effort: "high", display: "summary" },
    cache: { retention: "long", stableMessages: 1 },
    serverContext: { clearToolResultsAbove: 60_000, compactAbove: 100_000 },
    serviceTier: vendor === "messages" ? "auto" : "flex",
    responseFormat: { type: "json_schema", name: "answer", schema: READ.schema },
    sessionId: "session-1",
    ...(!isBound && { maxOutputTokens: 4000 }),
    signal: new AbortController().signal,
  };
}

/** A value as TypeScript, with bytes where the vendor's client wants them. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, inner]) =>
    (key === "bytes" || key === "redactedContent") && typeof inner === "string"
      ? `${key}: new Uint8Array()`
      : `${JSON.stringify(key)}: ${written(inner)}`,
  );
  return `{ ${fields.join(", ")} }`;
}

const FOLDER = join(import.meta.dirname, "../node_modules/.bodies");
const TSC = join(import.meta.dirname, "../../../node_modules/typescript/bin/tsc");

/** Diagnostics by file. */
async function compiled(files: Readonly<Record<string, string>>): Promise<string> {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  for (const [name, source] of Object.entries(files)) await writeFile(join(FOLDER, name), source);
  const options = { module: "nodenext", target: "es2024", strict: true, noEmit: true, types: [] };
  const compilerOptions = { ...options, skipLibCheck: true };
  const config = { compilerOptions, files: Object.keys(files) };
  await writeFile(join(FOLDER, "tsconfig.json"), JSON.stringify(config));
  return promisify(execFile)(process.execPath, [TSC, "-p", FOLDER]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

/** What a type has and a request leaves out: ids that nobody stored, and defaults. */
function filledUp(vendor: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => filledUp(vendor, each));
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, filledUp(vendor, each)]),
  );
  if (vendor === "responses" && inner.type === "reasoning") return { id: "rs_1", ...inner };
  if (vendor === "responses" && inner.type === "output_text") return { annotations: [], ...inner };
  if (vendor === "responses" && inner.role === "assistant")
    return { id: "msg_1", status: "completed", ...inner };
  if (vendor === "mistral" && inner.role === "assistant") return { prefix: false, ...inner };
  if (vendor === "mistral" && "function" in inner && "id" in inner) return { index: 0, ...inner };
  return inner;
}

const fileOf = (vendor: string, body: object): string => {
  const [from, type] = VENDORS[vendor]!;
  return `${from}\nexport const body = ${written(filledUp(vendor, body))} satisfies ${type};\n`;
};
const bodyAt = (at: number) =>
  bodyOf(buildRequest(callOf(ROUTES[at]!), { baseUrl: "https://api.anthropic.com/v1" })) as object;

describe("the body of a request of ours", () => {
  let told = "";
  beforeAll(async () => {
    const files = ROUTES.map(([vendor], at) => [`${at}.mts`, fileOf(vendor, bodyAt(at))] as const);
    // What nobody would take shows that each type is looked at.
    const wrong = ROUTES.map(
      ([vendor], at) => [`wrong-${at}.mts`, fileOf(vendor, { ...bodyAt(at), nobody: 1 })] as const,
    );
    told = await compiled(Object.fromEntries([...files, ...wrong]));
  }, 120_000);

  it.each(ROUTES.map((route, at) => [...route.slice(1), at] as const))(
    "satisfies the type of its vendor: %s over %s with %s",
    (...route) => {
      const at = route.at(-1);
      const lines = told.split("\n");
      expect(lines.filter((line) => line.includes(`/${at}.mts`))).toEqual([]);
      expect(lines.filter((line) => line.includes(`/wrong-${at}.mts`))).not.toEqual([]);
    },
  );
});
