import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DRIVER_TABLE } from "./driver-table.ts";
import { completeModel } from "./stream.ts";

const callOf = (api: string, messages: readonly AgentMessage[]): ModelCall => ({
  model: { provider: "p", api, id: "m", contextWindow: 100_000, maxOutputTokens: 1000 },
  systemPrompt: "Be brief.",
  messages,
  tools: [{ name: "read", description: "Reads.", parameters: { type: "object" } }],
  signal: new AbortController().signal,
});

/** A message of every role, calls paired, each as a host stores it. */
const stored = fc
  .record({
    question: fc.string(),
    answer: fc.string({ minLength: 1 }),
    id: fc.string({ minLength: 1 }).map((id) => `stored-as-${id}`),
    kind: fc.constantFrom("heartbeat" as const, "cron" as const),
  })
  .map(({ question, answer, id, kind }): AgentMessage[] => {
    const text = [{ type: "text" as const, text: answer }];
    const asked = { type: "toolCall" as const, id: "call_1", name: "read", arguments: {} };
    const messages: AgentMessage[] = [
      { role: "compactionSummary", summary: answer },
      { role: "branchSummary", summary: answer },
      { role: "custom", customType: "note", content: answer },
      { role: "bashExecution", command: "ls", output: answer },
      { role: "user", content: question },
      { role: "assistant", content: [asked], stopReason: "toolUse" },
      {
        role: "toolResult",
        toolCallId: "call_1",
        toolName: "read",
        content: text,
        isError: false,
      },
      { role: "assistant", content: text, stopReason: "stop" },
      { role: "user", content: question },
    ];
    return messages.map((message, index) => ({
      ...message,
      __openclaw: { id: `${id}-${index}`, kind, runId: `${id}-run` },
    }));
  });
const bare = (messages: readonly AgentMessage[]) =>
  messages.map(({ __openclaw: _envelope, ...message }) => message as AgentMessage);

describe.each(DRIVER_TABLE.map((driver) => [driver.api, driver] as const))(
  "the driver of %s",
  (api, driver) => {
    it("tells a model neither a message's id nor what else only the host knows of it", async () => {
      const endpoint = { baseUrl: "http://127.0.0.1:1234/v1" };
      // The body of a request; of a model in this process, what it answers.
      const told = async (messages: readonly AgentMessage[]) =>
        driver.kind === "wire"
          ? driver.buildRequest(callOf(api, messages), endpoint).body
          : JSON.stringify(
              await completeModel({ call: callOf(api, messages), endpoint, now: () => 1 }),
            );
      await fc.assert(
        fc.asyncProperty(stored, async (messages) => {
          const text = await told(messages);
          expect(text).not.toContain("__openclaw");
          expect(text).not.toContain("stored-as-");
          expect(text).toBe(await told(bare(messages)));
        }),
      );
    });
  },
);
