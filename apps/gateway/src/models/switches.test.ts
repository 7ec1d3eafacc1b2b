import type { AgentMessage } from "@clew/plugin-sdk/core";
import { completeModel, DRIVER_APIS } from "@clew/providers";
import {
  createEmulator,
  EMULATED_APIS,
  type EmulatedReply,
  type Emulator,
} from "@clew/providers/testing";
import { createTranscriptPolicy } from "@clew/transcript-policy";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";

/** Models that think, each particular in what it takes back. */
const MODELS = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "global.amazon.nova-2-lite-v1:0"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["google-vertex", "google-generative-ai", "gemini-3-pro-preview"],
  ["google", "google-generative-ai", "gemini-2.5-flash"],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro-preview"],
  ["deepseek", "openai-completions", "deepseek-reasoner", "deepseek"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai", "openai-chatgpt-responses", "gpt-5.6-codex"],
  ["mistral", "mistral-conversations", "magistral-medium-latest"],
] as const;

let next: EmulatedReply = {};
const servers = new Map<string, Emulator>();
afterAll(async () => {
  for (const server of servers.values()) await server.close();
});

/** Remembers what it signed, over all sessions. */
async function serverOf(api: string, flavor?: string): Promise<Emulator> {
  const key = `${api} ${flavor}`;
  const server =
    servers.get(key) ??
    (await createEmulator(api, {
      answers: () => next,
      // Only older models of Mistral refuse text beside calls.
      tolerant: api === "mistral-conversations",
      ...(flavor !== undefined && { flavor }),
    }));
  servers.set(key, server);
  return server;
}

const step = fc.record({
  model: fc.nat(MODELS.length - 1),
  /** Switches are rarer than replies. */
  stays: fc.boolean(),
  thinking: fc.constantFrom("", "Hm.", "So it is, I think."),
  text: fc.constantFrom("", "Looking.", "There: नमस्ते 👋"),
  calls: fc.integer({ min: 0, max: 3 }),
  interrupted: fc.integer({ max: 5, min: 0 }).map((roll) => roll === 0),
});
const tools = ["read", "look"].map((name) => ({
  name,
  description: "A tool.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));

describe("a session that goes on with another model", () => {
  it("has models of every wire that can be emulated", () => {
    const wires = DRIVER_APIS.filter((api) => EMULATED_APIS.includes(api));
    expect(new Set(MODELS.map(([, api]) => api))).toEqual(new Set(wires));
  });

  it("is never refused, wherever in a turn that is", { timeout: 900_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
        const policy = createTranscriptPolicy({ clock: { now: () => 1 } });
        const stored: AgentMessage[] = [{ role: "user", content: "Begin." }];
        let current = steps[0]!.model;
        for (const { model: wanted, stays, thinking, text, calls, interrupted } of steps) {
          if (!stays) current = wanted;
          const [provider, api, id, flavor] = MODELS[current]!;
          const server = await serverOf(api, flavor);
          next = {
            thinking,
            text: calls === 0 ? text || "Done." : text,
            toolCalls: Array.from({ length: calls }, (_, index) => ({
              name: index === 1 ? "look" : "read",
              arguments: { path: `${index}` },
            })),
          };
          const model = { provider, api, id, contextWindow: 200_000, maxOutputTokens: 8000 };
          const { messages } = policy.prepareOutbound({ messages: stored, model });
          const before = server.requests.length;
          const result = await completeModel({
            call: {
              model,
              systemPrompt: "Be brief.",
              messages,
              tools,
              reasoning: { effort: "high" },
              signal: new AbortController().signal,
            },
            endpoint: { baseUrl: server.baseUrl },
            now: () => 1000,
          });
          const broken = server.requests.slice(before).flatMap(({ violations }) => violations);
          expect(broken.filter(({ rule }) => rule !== "assistant.both")).toEqual([]);
          if (!result.ok) throw new Error(result.error.message);
          stored.push(result.message);
          for (const block of result.message.content) {
            if (block.type !== "toolCall") continue;
            stored.push({
              role: "toolResult",
              toolCallId: block.id,
              toolName: block.name,
              content: [{ type: "text", text: "one line" }],
              isError: false,
            });
          }
          if (calls === 0 || interrupted) stored.push({ role: "user", content: "And then?" });
        }
      }),
    );
  });
});
