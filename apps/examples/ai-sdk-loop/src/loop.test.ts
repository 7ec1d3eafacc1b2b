import { createEngineRegistry, type EngineRegistry } from "@clew/engine-core";
import { createEngine } from "@clew/example-minimal-engine";
import { createLegacyEngine } from "@clew/legacy-engine";
import { type AgentMessage, type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import { isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createLoop } from "./loop.ts";

const log = { info() {}, warn() {}, error() {} };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

function registryWith(engine: ContextEngine): EngineRegistry {
  const registry = createEngineRegistry({ fallback: () => createLegacyEngine(), log, clock });
  registry.register({ engineId: "mine", owner: "plugin:mine", factory: () => engine });
  return registry;
}

type Content = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>["content"];

/** Answers with the next of `replies`; a text is one text part. */
function modelSaying(...replies: (string | Content)[]) {
  const counted = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens: counted, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  return new MockLanguageModelV4({
    doGenerate: replies.map((reply) => ({
      content: typeof reply === "string" ? [{ type: "text" as const, text: reply }] : reply,
      finishReason: {
        unified: typeof reply === "string" ? ("stop" as const) : ("tool-calls" as const),
        raw: undefined,
      },
      usage,
      warnings: [],
    })),
  });
}

/** What the model was shown in its last call, role and content. */
const lastShown = (model: MockLanguageModelV4) =>
  model.doGenerateCalls.at(-1)!.prompt.map(({ role, content }) => [role, content]);

const instructions = "Be brief.";
const text = (value: string) => [expect.objectContaining({ type: "text", text: value })];

describe("a loop of the AI SDK", () => {
  it("shows the model what the engine chose, calls and results included", async () => {
    const call: Content = [
      { type: "tool-call", toolCallId: "call-1", toolName: "look", input: '{"where":"pier"}' },
    ];
    const model = modelSaying(call, "The tide is out.", "As I said.");
    const look = tool({
      inputSchema: z.object({ where: z.string() }),
      execute: async ({ where }) => `low water at the ${where}`,
    });
    const settings = { model, instructions, tools: { look }, stopWhen: isStepCount(3) };
    const ask = createLoop(registryWith(createEngine()), "mine", settings);
    expect(await ask("How is the tide?")).toBe("The tide is out.");
    expect(await ask("Really?")).toBe("As I said.");
    expect(lastShown(model)).toEqual([
      ["system", instructions],
      ["user", text("How is the tide?")],
      ["assistant", [expect.objectContaining({ toolCallId: "call-1", input: { where: "pier" } })]],
      [
        "tool",
        [
          expect.objectContaining({
            toolCallId: "call-1",
            output: { type: "text", value: "low water at the pier" },
          }),
        ],
      ],
      ["assistant", text("The tide is out.")],
      ["user", text("Really?")],
    ]);
  });

  it("gives the engine each message once, with an id that stays", async () => {
    const told: AgentMessage[] = [];
    const shown: AgentMessage[][] = [];
    const engine: ContextEngine = {
      ...createEngine(),
      assemble({ messages }) {
        shown.push(messages);
        return { messages, estimatedTokens: 0, systemPromptAddition: "Say it in Latin." };
      },
      afterTurn({ messages, prePromptMessageCount }) {
        told.push(...messages.slice(prePromptMessageCount));
      },
    };
    const model = modelSaying("a", "b", "c");
    const ask = createLoop(registryWith(engine), "mine", { model, instructions });
    for (const prompt of ["1", "2", "3"]) await ask(prompt);
    expect(told.map(({ role }) => role)).toEqual(Array(3).fill(["user", "assistant"]).flat());
    expect(new Set(told.map(messageId)).size).toBe(6);
    expect(shown.at(-1)!.map(messageId)).toEqual(told.slice(0, 4).map(messageId));
    expect(lastShown(model)[0]).toEqual(["system", `${instructions}\n\nSay it in Latin.`]);
  });

  it("goes on with the fallback when the engine fails, for good or in the middle", async () => {
    const engine: ContextEngine = {
      ...createEngine(),
      assemble: () => Promise.reject(new Error("no disk")),
    };
    const registry = registryWith(engine);
    const model = modelSaying("a", "b");
    const ask = createLoop(registry, "mine", { model, instructions });
    await ask("1");
    expect(await ask("2")).toBe("b");
    expect(lastShown(model)).toHaveLength(4);
    expect(registry.quarantine.list()).toMatchObject([{ engineId: "mine", reason: "no disk" }]);
  });

  it("forgets a prompt whose call failed", async () => {
    const model = modelSaying("a");
    const { doGenerate } = model;
    model.doGenerate = () => Promise.reject(new Error("no network"));
    const ask = createLoop(registryWith(createEngine()), "mine", { model, instructions });
    await expect(ask("1")).rejects.toThrow();
    model.doGenerate = doGenerate;
    await ask("2");
    expect(lastShown(model)).toEqual([
      ["system", instructions],
      ["user", text("2")],
    ]);
  });
});
