import { Mistral } from "@mistralai/mistralai";
import type {
  ChatCompletionRequestMessage,
  ContentChunk,
  ToolCall,
} from "@mistralai/mistralai/models/components";
import { describe, expect, it } from "vitest";
import {
  createMistralEmulator,
  type EmulatorAnswer,
} from "../../../packages/providers/src/testing.ts";
import { open, READ, TOOL_LOOP } from "./servers.ts";

const MODEL = "mistral-large-latest";

async function start(answers: readonly EmulatorAnswer[]) {
  const server = await open(createMistralEmulator({ answers, tolerant: true }));
  const client = new Mistral({
    serverURL: server.url,
    apiKey: "key",
    retryConfig: { strategy: "none" },
  });
  return { server, client };
}

const hi: ChatCompletionRequestMessage = { role: "user", content: "Look at a and b." };
const tools = [
  { type: "function" as const, function: { name: READ.name, parameters: READ.schema } },
];

interface Said {
  content: ContentChunk[];
  toolCalls: ToolCall[];
}

const chunksOf = (content: string | ContentChunk[] | null | undefined): ContentChunk[] => {
  if (typeof content !== "string") return content ?? [];
  return content === "" ? [] : [{ type: "text", text: content }];
};

describe("@mistralai/mistralai and the emulated chat", () => {
  it.each([true, false])(
    "goes through a loop of parallel tools with thinking (stream: %s)",
    async (streamed) => {
      const { server, client } = await start(TOOL_LOOP);
      const messages: ChatCompletionRequestMessage[] = [hi];
      const ask = async (): Promise<Said> => {
        const request = { model: MODEL, messages, tools };
        const said: Said = { content: [], toolCalls: [] };
        if (!streamed) {
          const { message } = (await client.chat.complete(request)).choices[0]!;
          return { content: chunksOf(message?.content), toolCalls: message?.toolCalls ?? [] };
        }
        for await (const { data } of await client.chat.stream(request)) {
          const { delta } = data.choices[0]!;
          said.content.push(...chunksOf(delta.content));
          said.toolCalls.push(...(delta.toolCalls ?? []));
        }
        return said;
      };
      const first = await ask();
      expect(first.content[0]?.type).toBe("thinking");
      expect(first.toolCalls.map((call) => JSON.parse(String(call.function.arguments)))).toEqual([
        { path: "a" },
        { path: "b" },
      ]);
      messages.push({ role: "assistant", content: first.content, toolCalls: first.toolCalls });
      for (const { id } of first.toolCalls)
        messages.push({ role: "tool", toolCallId: id ?? "", content: "" });
      const words = (await ask()).content.flatMap((chunk) =>
        chunk.type === "text" ? [chunk.text] : [],
      );
      expect(words.join("")).toBe("Both are empty.");
      // What it splits while streaming is for the client to join.
      expect(server.violations.filter(({ level }) => level === "reject")).toEqual([]);
    },
  );

  it("knows each refusal and failure for what it is", async () => {
    const { client } = await start([
      { fault: "rate-limit", retryAfterMs: 3000 },
      { fault: "overloaded" },
      { fault: "cut", text: "so far" },
    ]);
    const ask = (messages: ChatCompletionRequestMessage[] = [hi]) =>
      client.chat.complete({ model: MODEL, messages });
    await expect(ask()).rejects.toMatchObject({ statusCode: 429 });
    await expect(ask()).rejects.toMatchObject({ statusCode: 503 });
    const stream = await client.chat.stream({ model: MODEL, messages: [hi] });
    await expect(
      (async () => {
        for await (const _event of stream);
      })(),
    ).rejects.toThrow();
    await expect(ask([])).rejects.toMatchObject({ statusCode: 400 });
    await expect(
      ask([{ role: "user", content: [{ type: "thinking", thinking: [] }] }]),
    ).rejects.toMatchObject({ statusCode: 422 });
  });
});
