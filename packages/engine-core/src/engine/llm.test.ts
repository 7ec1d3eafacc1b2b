import { describe, expect, it } from "vitest";
import { MODEL, memoryTranscript, scriptedModel } from "../__fixtures__/host.ts";
import { completeForEngine, type LlmBinding } from "../index.ts";

const usage = { input: 7, output: 3, cacheRead: 1, cacheWrite: 0, totalTokens: 11 };
const bind = (overrides: Partial<LlmBinding> = {}) => {
  const model = scriptedModel([
    { role: "assistant", content: [{ type: "text", text: "short" }], stopReason: "stop", usage },
  ]);
  const binding: LlmBinding = {
    model: {
      ...model,
      resolve: (reference) =>
        reference === "other/small" ? { ...MODEL, provider: "other", id: "small" } : undefined,
    },
    sessionModel: MODEL,
    session: memoryTranscript().session,
    pluginId: "notes",
    policy: {},
    purpose: "context-engine.compaction",
    signal: undefined,
    ...overrides,
  };
  return { binding, model };
};
const ask = { messages: [{ role: "user" as const, content: "summarise" }] };

describe("an engine's own model call", () => {
  it("uses the session's model and is audited in the plugin's name", async () => {
    const { binding, model } = bind();
    const result = await completeForEngine(binding, {
      ...ask,
      systemPrompt: "Be short.",
      maxTokens: 50,
    });
    expect(result).toMatchObject({
      text: "short",
      provider: "test",
      model: "model",
      agentId: "main",
      usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 1, totalTokens: 11 },
      audit: {
        caller: { kind: "context-engine", id: "notes" },
        purpose: "context-engine.compaction",
        sessionKey: "agent:main:main",
      },
    });
    expect(model.calls[0]).toMatchObject({
      systemPrompt: "Be short.",
      maxOutputTokens: 50,
      tools: [],
    });
  });

  it.each([
    {
      name: "without permission",
      policy: {},
      params: { model: "other/small" },
      error: "Plugin LLM completion cannot override the target model.",
    },
    {
      name: "outside the allow-list",
      policy: { allowModelOverride: true, allowedModels: ["a/b"] },
      params: { model: "other/small" },
      error: 'Plugin LLM completion model override "other/small" is not allowlisted.',
    },
    {
      name: "unknown to the host",
      policy: { allowModelOverride: true },
      params: { model: "x/y" },
      error: 'model "x/y" is not known to this host',
    },
    {
      name: "for another agent",
      policy: {},
      params: { agentId: "other" },
      error: "cannot override the active session agent",
    },
  ])("is refused $name", async ({ policy, params, error }) => {
    await expect(
      completeForEngine(bind({ policy }).binding, { ...ask, ...params }),
    ).rejects.toThrow(error);
  });

  it("may use another model when the operator lists it, or any with *", async () => {
    for (const allowedModels of [["other/small"], ["*"]]) {
      const { binding } = bind({ policy: { allowModelOverride: true, allowedModels } });
      expect(await completeForEngine(binding, { ...ask, model: "other/small" })).toMatchObject({
        provider: "other",
        model: "small",
      });
    }
  });

  it("is refused when it is bound to no session", async () => {
    await expect(completeForEngine(bind({ session: undefined }).binding, ask)).rejects.toThrow(
      "not bound to an active session agent",
    );
  });

  it("that fails says why, and is aborted, not failed, with its caller", async () => {
    const failing = scriptedModel([
      { error: { kind: "unavailable", message: "The server is down." } },
    ]);
    await expect(completeForEngine(bind({ model: failing }).binding, ask)).rejects.toThrow(
      "The server is down.",
    );
    const abort = new AbortController();
    const cancelled = scriptedModel([
      () => {
        abort.abort();
        return { error: { kind: "aborted", message: "cancelled" } };
      },
    ]);
    await expect(
      completeForEngine(bind({ model: cancelled }).binding, { ...ask, signal: abort.signal }),
    ).rejects.toMatchObject({
      name: "AbortError",
    });
  });
});
