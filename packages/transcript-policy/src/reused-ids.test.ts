import type { AgentMessage } from "@clew/plugin-sdk/core";
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
