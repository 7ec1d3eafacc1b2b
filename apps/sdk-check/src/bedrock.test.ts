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
