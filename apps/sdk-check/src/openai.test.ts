import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import {
  createOpenAIEmulator,
  createResponsesEmulator,
  type EmulatorAnswer,
} from "../../../packages/providers/src/testing.ts";
import { open, READ, TOOL_LOOP } from "./servers.ts";

const clientOf = (baseURL: string) => new OpenAI({ baseURL, apiKey: "key", maxRetries: 0 });
const FAULTS: readonly EmulatorAnswer[] = [
  { fault: "rate-limit", retryAfterMs: 3000 },
  { fault: "overloaded" },
  { fault: "error", text: "so far", message: "no more" },
  { fault: "cut", text: "so far" },
];

describe("openai and the emulated Responses api", () => {
  const start = async (answers: readonly EmulatorAnswer[]) => {
    const server = await open(createResponsesEmulator({ answers }));
    return { server, client: clientOf(server.baseUrl) };
  };
  const tools: OpenAI.Responses.Tool[] = [
    { type: "function", name: READ.name, parameters: READ.schema, strict: false },
  ];
  const hi: OpenAI.Responses.ResponseInputItem = { role: "user", content: "Look at a and b." };

  it.each([true, false])(
    "goes through a loop of parallel tools with reasoning (stream: %s)",
    async (streamed) => {
      const { server, client } = await start(TOOL_LOOP);
      const input: OpenAI.Responses.ResponseInput = [hi];
      const ask = async (): Promise<OpenAI.Responses.Response> => {
        const request = { model: "gpt-5.6", store: false, tools, input };
        return streamed
          ? client.responses.stream(request).finalResponse()
          : client.responses.create(request);
      };
      const first = await ask();
      expect(first.output.map(({ type }) => type)).toEqual([
        "reasoning",
        "message",
        "function_call",
        "function_call",
      ]);
      expect(first.output_text).toBe("Let me look.");
      const calls = first.output.filter((item) => item.type === "function_call");
      expect(calls.map((call) => JSON.parse(call.arguments) as unknown)).toEqual([
        { path: "a" },
        { path: "b" },
      ]);
      for (const item of first.output) {
        // The client adds what it parsed, and would not send it.
        const { parsed_arguments: _parsed, ...given } = item as typeof item & {
          parsed_arguments?: unknown;
        };
        const content =
          given.type === "message"
            ? {
                content: given.content.map((part) => {
                  const { parsed: _text, ...rest } = part as typeof part & { parsed?: unknown };
                  return rest;
                }),
              }
            : {};
        input.push({ ...given, ...content } as OpenAI.Responses.ResponseInputItem);
      }
      for (const { call_id } of calls)
        input.push({ type: "function_call_output", call_id, output: "" });
      const second = await ask();
      expect(second.output_text).toBe("Both are empty.");
      expect(second.usage?.total_tokens).toBeGreaterThan(0);
      expect(server.violations).toEqual([]);
    },
  );

  it("knows each refusal and failure for what it is", async () => {
    const { client } = await start(FAULTS);
    const ask = (input: OpenAI.Responses.ResponseInput = [hi]) =>
      client.responses.create({ model: "gpt-5.6", input });
    const stream = () => client.responses.stream({ model: "gpt-5.6", input: [hi] }).finalResponse();
    const limited = await ask().catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError);
    await expect(ask()).rejects.toMatchObject({ status: 503 });
    await expect(stream()).rejects.toThrow("no more");
    await expect(stream()).rejects.toThrow();
    await expect(
      ask([{ type: "function_call_output", call_id: "x", output: "" }]),
    ).rejects.toMatchObject({ status: 400, param: "output.orphan" });
  });
});

describe("openai and the emulated Chat Completions api", () => {
  const start = async (answers: readonly EmulatorAnswer[]) => {
    const server = await open(createOpenAIEmulator({ answers, flavor: "openai" }));
    return { server, client: clientOf(server.baseUrl) };
  };
  const tools: OpenAI.ChatCompletionFunctionTool[] = [
    { type: "function", function: { name: READ.name, parameters: READ.schema } },
  ];
  const hi: OpenAI.ChatCompletionMessageParam = { role: "user", content: "Look at a and b." };

  it.each([true, false])("goes through a loop of parallel tools (stream: %s)", async (streamed) => {
    const { server, client } = await start(TOOL_LOOP);
    const messages: OpenAI.ChatCompletionMessageParam[] = [hi];
    const ask = async () => {
      const request = { model: "gpt-5.2", tools, messages };
      const done = streamed
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request);
      return done.choices[0]!;
    };
    const { message, finish_reason } = await ask();
    expect(finish_reason).toBe("tool_calls");
    const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
    expect(calls.map((call) => JSON.parse(call.function.arguments) as unknown)).toEqual([
      { path: "a" },
      { path: "b" },
    ]);
    messages.push({
      role: "assistant",
      content: message.content,
      tool_calls: calls.map(({ id, type, function: { name, arguments: given } }) => ({
        id,
        type,
        function: { name, arguments: given },
      })),
    });
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: "" });
    expect((await ask()).message.content).toBe("Both are empty.");
    expect(server.violations).toEqual([]);
  });

  it("knows each refusal and failure for what it is", async () => {
    const { client } = await start(FAULTS);
    const ask = () => client.chat.completions.create({ model: "m", messages: [hi] });
    const stream = () =>
      client.chat.completions.stream({ model: "m", messages: [hi] }).finalChatCompletion();
    await expect(ask()).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    await expect(ask()).rejects.toMatchObject({ status: 503 });
    await expect(stream()).rejects.toThrow("no more");
    await expect(stream()).rejects.toThrow();
  });

  it("lists models", async () => {
    const server = await open(createOpenAIEmulator({ models: ["a", "b"] }));
    const { data } = await clientOf(server.baseUrl).models.list();
    expect(data.map(({ id }) => id)).toEqual(["a", "b"]);
  });
});
