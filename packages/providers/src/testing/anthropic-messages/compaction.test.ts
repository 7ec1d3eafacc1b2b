import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { expect, it, onTestFinished } from "vitest";
import { completeModel } from "../../stream.ts";
import { createAnthropicEmulator } from "../emulators.ts";

const LONG = "The tide was high and the harbour full of boats. ".repeat(4300);
const BETA = { "anthropic-beta": "compact-2026-01-12" };

async function start(id: string) {
  const server = await createAnthropicEmulator({
    answers: [{ thinking: "Hm.", text: "Fine." }],
  });
  onTestFinished(() => server.close());
  const { baseUrl } = server;
  const say = async (messages: readonly AgentMessage[]): Promise<AssistantMessage> => {
    const call: ModelCall = {
      model: {
        ...{ provider: "anthropic", api: "anthropic-messages", id },
        ...{ contextWindow: 200_000, maxOutputTokens: 4000 },
      },
      ...{ systemPrompt: "Be brief.", messages, tools: [] },
      reasoning: { effort: "low" },
      serverContext: { compactAbove: 50_000 },
      signal: new AbortController().signal,
    };
    const result = await completeModel({ call, endpoint: { baseUrl, apiKey: "key-for-tests" } });
    if (!result.ok) throw new Error(result.error.message);
    return result.message;
  };
  const ask = (context_management: object, headers: object = BETA) =>
    fetch(`${baseUrl}/messages`, {
      method: "POST",
      headers: { "x-api-key": "key-for-tests", ...headers },
      body: JSON.stringify({
        ...{ model: id, max_tokens: 100, context_management },
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
  return { server, say, ask };
}

it.each(["claude-opus-4-6", "claude-opus-5-5"])(
  "a history of %s that is too long is compacted, and what stands before that is not read again",
  async (id) => {
    const { server, say } = await start(id);
    const messages: AgentMessage[] = [{ role: "user", content: "Hi" }];
    const first = await say(messages);
    expect(first.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
    messages.push(first, { role: "user", content: LONG });
    const second = await say(messages);
    expect(second.content.map(({ type }) => type)).toEqual(["provider", "thinking", "text"]);
    expect(server.requests.at(-1)!.changes).toEqual([
      expect.stringMatching(/^history_compacted \d{5,} tokens$/),
    ]);
    messages.push(second, { role: "user", content: "And now?" });
    const third = await say(messages);
    expect(third.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
    expect(server.requests.at(-1)!.changes).toEqual([]);
    expect(server.requests.at(-1)!.bill!.fresh).toBeLessThan(1000);
    expect(server.violations).toEqual([]);
  },
);

it("a compaction needs its beta, and room of at least 50,000 tokens", async () => {
  const { server, ask } = await start("claude-opus-4-6");
  const edit = (value: number) => ({
    edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value } }],
  });
  expect((await ask(edit(50_000))).status).toBe(200);
  expect((await ask(edit(49_999))).status).toBe(400);
  expect((await ask(edit(50_000), {})).status).toBe(400);
  expect(server.violations.map(({ rule }) => rule)).toEqual([
    "compaction.trigger",
    "compaction.beta",
  ]);
});
