import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { createAnthropicEmulator } from "../../../packages/providers/src/testing.ts";
import { open, READ, TOOL_LOOP } from "./servers.ts";

type Options = Parameters<typeof createAnthropicEmulator>[0];

async function start(options: Options = {}) {
  const server = await open(createAnthropicEmulator(options));
  const client = new Anthropic({ baseURL: server.url, apiKey: "key", maxRetries: 0 });
  return { server, client };
}

const MODEL = "claude-opus-5-5";
const hi: Anthropic.MessageParam = { role: "user", content: "Look at a and b." };
const tools: Anthropic.Tool[] = [
  { name: READ.name, description: READ.description, input_schema: READ.schema },
];

describe("@anthropic-ai/sdk and the emulated Messages api", () => {
  it.each([true, false])(
    "goes through a loop of parallel tools with thinking (stream: %s)",
    async (streamed) => {
      const { server, client } = await start({ answers: TOOL_LOOP });
      const messages: Anthropic.MessageParam[] = [hi];
      const ask = async (): Promise<Anthropic.Message> => {
        const request = {
          model: MODEL,
          max_tokens: 2000,
          thinking: { type: "adaptive" as const },
          tools,
          messages,
        };
        return streamed
          ? client.messages.stream(request).finalMessage()
          : client.messages.create(request);
      };
      const first = await ask();
      expect(first.stop_reason).toBe("tool_use");
      expect(first.content.map(({ type }) => type)).toEqual([
        "thinking",
        "text",
        "tool_use",
        "tool_use",
      ]);
      const calls = first.content.filter((block) => block.type === "tool_use");
      expect(calls.map(({ input }) => input)).toEqual([{ path: "a" }, { path: "b" }]);
      messages.push(
        { role: "assistant", content: first.content },
        {
          role: "user",
          content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "" })),
        },
      );
      const second = await ask();
      expect(second.content.at(-1)).toMatchObject({ type: "text", text: "Both are empty." });
      expect(second.usage.input_tokens).toBeGreaterThan(0);
      messages.push(
        { role: "assistant", content: second.content },
        { role: "user", content: "Thanks." },
      );
      await ask();
      expect(server.violations).toEqual([]);
      expect(server.requests.at(-1)?.changes).toEqual([]);
    },
  );

  it("knows each refusal and failure for what it is", async () => {
    const { client } = await start({
      answers: [
        { fault: "rate-limit", retryAfterMs: 3000 },
        { fault: "overloaded" },
        { fault: "status", status: 500 },
        { fault: "error", text: "so far", message: "Overloaded" },
        { fault: "cut", text: "so far" },
      ],
    });
    const ask = () => client.messages.create({ model: MODEL, max_tokens: 5, messages: [hi] });
    const stream = () =>
      client.messages.stream({ model: MODEL, max_tokens: 5, messages: [hi] }).finalMessage();
    const limited = await ask().catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(Anthropic.RateLimitError);
    expect(
      (limited as InstanceType<typeof Anthropic.RateLimitError>).headers.get("retry-after"),
    ).toBe("3");
    await expect(ask()).rejects.toMatchObject({ status: 529, type: "overloaded_error" });
    await expect(ask()).rejects.toBeInstanceOf(Anthropic.InternalServerError);
    await expect(stream()).rejects.toThrow("Overloaded");
    await expect(stream()).rejects.toThrow();
    await expect(
      client.messages.create({ model: MODEL, max_tokens: 5, messages: [] }),
    ).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  });

  it("lists models", async () => {
    const { client } = await start({ models: ["claude-a", "claude-b"] });
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(["claude-a", "claude-b"]);
  });
});
