import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type Message,
  type Tool,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { describe, expect, it } from "vitest";
import { bedrockConverseStream } from "../../../packages/providers/src/drivers/bedrock-converse-stream.ts";
import {
  createBedrockEmulator,
  type EmulatorAnswer,
} from "../../../packages/providers/src/testing.ts";
import { open, READ, TOOL_LOOP } from "./servers.ts";

const MODEL = "us.anthropic.claude-opus-5-5-v1:0";

async function start(answers: readonly EmulatorAnswer[]) {
  const server = await open(createBedrockEmulator({ answers }));
  const client = new BedrockRuntimeClient({
    endpoint: server.url,
    region: "us-east-1",
    credentials: { accessKeyId: "AKIAEMULATED", secretAccessKey: "secret" },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });
  return { server, client };
}

const hi: Message = { role: "user", content: [{ text: "Look at a and b." }] };
const tools: Tool[] = [{ toolSpec: { name: READ.name, inputSchema: { json: READ.schema } } }];

interface Building {
  text?: string;
  thinking?: string;
  signature?: string;
  call?: { toolUseId: string; name: string; input: string };
}

/** What a client must put together itself. */
async function contentOf(stream: AsyncIterable<ConverseStreamOutput>) {
  const blocks: Building[] = [];
  let stopReason: string | undefined;
  for await (const event of stream) {
    const { contentBlockStart: begun, contentBlockDelta: more } = event;
    if (begun?.start?.toolUse !== undefined) {
      const { toolUseId, name } = begun.start.toolUse;
      blocks[begun.contentBlockIndex!] = {
        call: { toolUseId: toolUseId!, name: name!, input: "" },
      };
    }
    if (more !== undefined) {
      const block = blocks[more.contentBlockIndex!] ?? {};
      blocks[more.contentBlockIndex!] = block;
      if (more.delta?.text !== undefined) block.text = (block.text ?? "") + more.delta.text;
      if (more.delta?.toolUse !== undefined) block.call!.input += more.delta.toolUse.input;
      const { text, signature } = more.delta?.reasoningContent ?? {};
      if (text !== undefined) block.thinking = (block.thinking ?? "") + text;
      if (signature !== undefined) block.signature = signature;
    }
    stopReason = event.messageStop?.stopReason ?? stopReason;
  }
  const content = blocks.map(({ text, thinking, signature, call }): ContentBlock => {
    if (call !== undefined)
      return { toolUse: { ...call, input: JSON.parse(call.input) as { path: string } } };
    return thinking === undefined
      ? { text: text! }
      : { reasoningContent: { reasoningText: { text: thinking, signature } } };
  });
  return { content, stopReason };
}

describe("@aws-sdk/client-bedrock-runtime and the emulated Converse api", () => {
  it.each([true, false])(
    "goes through a loop of parallel tools with reasoning (stream: %s)",
    async (streamed) => {
      const { server, client } = await start(TOOL_LOOP);
      const messages = [hi];
      const ask = async (): Promise<ContentBlock[]> => {
        const request = { modelId: MODEL, messages, toolConfig: { tools } };
        if (streamed)
          return (await contentOf((await client.send(new ConverseStreamCommand(request))).stream!))
            .content;
        return (await client.send(new ConverseCommand(request))).output?.message?.content ?? [];
      };
      const content = await ask();
      const calls = content.flatMap(({ toolUse }) => toolUse ?? []);
      expect(calls.map(({ input }) => input)).toEqual([{ path: "a" }, { path: "b" }]);
      expect(content[0]?.reasoningContent?.reasoningText?.signature).toBeTruthy();
      messages.push(
        { role: "assistant", content },
        {
          role: "user",
          content: calls.map(({ toolUseId }) => ({
            toolResult: { toolUseId, content: [{ text: "empty" }] },
          })),
        },
      );
      expect((await ask()).at(-1)).toMatchObject({ text: "Both are empty." });
      expect(server.violations).toEqual([]);
      expect(server.requests.at(-1)?.changes).toEqual([]);
    },
  );

  it("knows each refusal and failure for what it is", async () => {
    const { client } = await start([
      { fault: "rate-limit", retryAfterMs: 3000 },
      { fault: "overloaded" },
      { fault: "error", text: "so far", message: "no more" },
      { fault: "cut", text: "so far" },
      { fault: "malformed", text: "so far" },
    ]);
    const ask = (messages = [hi]) => client.send(new ConverseCommand({ modelId: MODEL, messages }));
    const stream = async () =>
      contentOf(
        (await client.send(new ConverseStreamCommand({ modelId: MODEL, messages: [hi] }))).stream!,
      );
    await expect(ask()).rejects.toMatchObject({ name: "ThrottlingException" });
    await expect(ask()).rejects.toMatchObject({ name: "ServiceUnavailableException" });
    await expect(stream()).rejects.toMatchObject({ name: "InternalServerException" });
    await expect(stream()).rejects.toThrow();
    await expect(stream()).rejects.toThrow(/CRC|checksum/i);
    await expect(ask([])).rejects.toMatchObject({ name: "ValidationException" });
  });
});

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mM4IScHAAK2AQUKW6YGAAAAAElFTkSuQmCC";
type DriverCall = Parameters<typeof bedrockConverseStream.buildRequest>[0];

/** A call with everything that has a place on the wire. */
function callOf(id: string): DriverCall {
  const text = (words: string) => ({ type: "text" as const, text: words });
  return {
    model: {
      provider: "amazon-bedrock",
      api: "bedrock-converse-stream",
      id,
      contextWindow: 200_000,
      maxOutputTokens: 8000,
    },
    systemPrompt: "Be brief.",
    messages: [
      {
        role: "user",
        content: [text("Look."), { type: "image", data: PNG, mimeType: "image/png" }],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln", carrier: "signed" },
          { type: "redacted_thinking", data: "AAEC" },
          {
            type: "toolCall",
            id: "a",
            name: "read",
            arguments: { path: "a", deep: [{ b: null }] },
          },
        ],
        stopReason: "toolUse",
      },
      {
        role: "toolResult",
        toolCallId: "a",
        toolName: "read",
        content: [text("no"), { type: "image", data: PNG, mimeType: "image/png" }],
        isError: true,
      },
    ],
    tools: [{ name: READ.name, description: READ.description, parameters: READ.schema }],
    parallelToolCalls: false,
    temperature: 0.5,
    reasoning: { effort: "high" },
    cache: { retention: "long", stableMessages: 1 },
    serviceTier: "flex",
    responseFormat: { type: "json_schema", name: "answer", schema: READ.schema },
    signal: new AbortController().signal,
  };
}

/** The client wants bytes where the wire has base64. */
const inBytes = (_key: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  const named = value as { bytes?: unknown; redactedContent?: unknown };
  const decoded = (text: unknown) => Uint8Array.from(Buffer.from(String(text), "base64"));
  if (typeof named.bytes === "string") return { ...named, bytes: decoded(named.bytes) };
  return typeof named.redactedContent === "string"
    ? { ...named, redactedContent: decoded(named.redactedContent) }
    : value;
};

describe("a request of ours", () => {
  it.each([MODEL, "us.anthropic.claude-opus-4-5-20251101-v1:0", "us.amazon.nova-2-lite-v1:0"])(
    "for %s is one that the client would send: every field is known to it",
    async (modelId) => {
      const { server, client } = await start([{ text: "Hello." }]);
      const { body, url } = bedrockConverseStream.buildRequest(callOf(modelId), {
        baseUrl: server.url,
      });
      type Input = ConstructorParameters<typeof ConverseStreamCommand>[0];
      const input = JSON.parse(body, inBytes) as Omit<Input, "modelId">;
      // The signature is made up, which a model that signs refuses.
      await client.send(new ConverseStreamCommand({ modelId, ...input })).catch(() => undefined);
      const [sent] = server.requests;
      expect(JSON.parse(sent!.text)).toEqual(JSON.parse(body));
      expect(sent!.path).toBe(new URL(url).pathname);
      expect(server.violations.filter(({ rule }) => !rule.startsWith("signature"))).toEqual([]);
    },
  );
});
