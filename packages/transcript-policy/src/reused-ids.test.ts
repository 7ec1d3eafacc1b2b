import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf, textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { createTranscriptPolicy } from "./port.ts";

const ROUTES = [
  ["anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["xai", "openai-responses", "grok-4"],
  ["openai", "openai-completions", "gpt-4.1"],
  ["vllm", "openai-completions", "qwen3"],
  ["moonshot", "openai-completions", "kimi-k2-thinking"],
  ["openrouter", "openai-completions", "mistralai/mistral-large"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["mistral", "mistral-conversations", "magistral-medium-latest"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "amazon.nova-pro-v1:0"],
] as const;
/** As servers call their calls: the same in every turn. */
const IDS = ["call_1", "t-1", "functions.read:0", "abcdefgh1", "call_1|fc_1"];

const THINKING = [
  ["anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["minimax", "anthropic-messages", "MiniMax-M3"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "amazon.nova-pro-v1:0"],
  ["vllm", "openai-completions", "qwen3"],
] as const;

describe.each(THINKING)("a thinking model that uses ids again: %s over %s", (...route) => {
  const [provider, api, id] = route;
  it.each(IDS)("is sent the result of every call, each beside its own (%s)", async (callId) => {
    const model = { provider, api, id, contextWindow: 200_000, maxOutputTokens: 8_000 };
    const policy = createTranscriptPolicy({ clock: { now: () => 1 } });
    const stored: AgentMessage[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const { messages: history } = await policy.sanitizeHistory({
        ...{ messages: stored.slice(), model, branch: [] },
      });
      const thinking = { type: "thinking", thinking: `T${turn}`, thinkingSignature: "c2lnc2ln" };
      // Twice in one reply, too.
      const calls = ["a", "b"].map((path) => ({
        ...{ type: "toolCall", id: callId, name: "read", arguments: { path } },
      }));
      const results = ["a", "b"].map((path) => ({
        ...{ role: "toolResult", toolCallId: callId, toolName: "read", isError: false },
        content: [{ type: "text", text: `result ${turn}${path}` }],
      }));
      const reply = { role: "assistant", stopReason: "toolUse", provider, api, model: id };
      const done = { ...reply, stopReason: "stop", content: [{ type: "text", text: "Done." }] };
      const running = [
        { role: "user", content: `turn ${turn}` },
        { ...reply, content: [thinking, ...calls] },
        ...results,
      ] as AgentMessage[];
      const { messages } = policy.prepareOutbound({ messages: [...history, ...running], model });
      const sent = messages.flatMap((message) =>
        message.role === "assistant"
          ? blocksOf(message.content).filter(({ type }) => type === "toolCall")
          : [],
      );
      expect(new Set(sent.map((call) => call.id)).size).toBe(2 * (turn + 1));
      const told = messages.filter((message) => message.role === "toolResult");
      for (const [at, message] of told.entries()) {
        expect(textOf(message)).toBe(`result ${Math.floor(at / 2)}${"ab"[at % 2]}`);
        expect(message.toolCallId).toBe(sent[at]!.id);
      }
      stored.push(...running, done as AgentMessage);
    }
  });
});

describe.each(ROUTES)(
  "a model that uses a call's id again in every turn: %s over %s",
  (...route) => {
    const [provider, api, id] = route;
    it.each(IDS)("is sent what it was sent, turn after turn (%s)", async (callId) => {
      const model = { provider, api, id, contextWindow: 200_000, maxOutputTokens: 8_000 };
      const policy = createTranscriptPolicy({ clock: { now: () => 1 } });
      const from = { provider, api, model: id };
      const stored: AgentMessage[] = [];
      let before: string[] = [];
      for (let turn = 0; turn < 5; turn++) {
        const { messages: history } = await policy.sanitizeHistory({
          ...{ messages: stored.slice(), model, branch: [] },
        });
        const running: AgentMessage[] = [{ role: "user", content: `turn ${turn}` }];
        for (const reply of ["call", "answer"]) {
          const { messages } = policy.prepareOutbound({
            messages: [...history, ...running],
            model,
          });
          const sent = messages.map((message) => JSON.stringify(message));
          expect(sent.slice(0, before.length)).toEqual(before);
          before = sent;
          const call = { type: "toolCall" as const, id: callId, name: "read", arguments: {} };
          running.push(
            ...(reply === "call"
              ? ([
                  { role: "assistant", content: [call], stopReason: "toolUse", ...from },
                  {
                    ...{ role: "toolResult", toolCallId: callId, toolName: "read", isError: false },
                    content: [{ type: "text", text: `read in turn ${turn}` }],
                  },
                ] as AgentMessage[])
              : ([
                  {
                    ...{ role: "assistant", content: [{ type: "text", text: "Done." }], ...from },
                    stopReason: "stop",
                  },
                ] as AgentMessage[])),
          );
        }
        stored.push(...running);
      }
    });
  },
);
