import type { ContextEngine } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { callTool, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import type { FailurePolicy } from "../index.ts";

const owner = (assemble: ContextEngine["assemble"]): ContextEngine =>
  passThrough({ info: { id: "odd", name: "Odd", ownsCompaction: true }, assemble });

const session = (engine: ContextEngine, policy: FailurePolicy = "quarantine") =>
  testHost({
    engine,
    replies: [callTool("t"), callTool("t"), callTool("t"), "done"],
    tools: tools({ t: () => "x" }),
    registry: { failurePolicy: () => policy },
  });

describe("a view without the running turn", () => {
  it("is never sent: each call holds the prompt and the newest tool result", async () => {
    const host = session(owner(() => ({ messages: [], estimatedTokens: 0 })));
    const result = await host.say("hi");
    expect(result.outcome).toBe("completed");
    for (const { messages } of host.ports.model.calls) {
      expect(messages[0]).toMatchObject({ role: "user", content: "hi" });
      expect(messages.at(-1)!.role).toBe(messages.length === 1 ? "user" : "toolResult");
    }
    expect(result.report.views).toEqual({ fallbacks: 3 });
    expect(result.report.engine.degraded).toMatchObject({ operation: "assemble" });
    expect(host.registry.quarantine.list()).toHaveLength(1);
  });

  it("is told of once per turn", async () => {
    const host = session(owner(() => ({ messages: [], estimatedTokens: 0 })));
    await host.say("hi");
    const notices = host.events.filter(
      (event) => event.type === "notice" && event.text.includes("without its choice"),
    );
    expect(notices).toHaveLength(1);
  });

  it("ends the turn under strict, and the message stays", async () => {
    const host = session(
      owner(() => ({ messages: [], estimatedTokens: 0 })),
      "strict",
    );
    const result = await host.say("hi");
    expect(result).toMatchObject({ outcome: "failed", error: { kind: "engine" } });
    expect(host.ports.transcript.entries[0]).toMatchObject({ message: { content: "hi" } });
  });
});

describe("an empty view although there is history", () => {
  it("is replaced by the history", async () => {
    let empty = false;
    const host = testHost({
      engine: passThrough({
        info: { id: "odd", name: "Odd" },
        assemble: ({ messages }) => ({ messages: empty ? [] : messages, estimatedTokens: 0 }),
      }),
    });
    await host.say("a");
    empty = true;
    await host.say("b");
    expect(host.lastSeen()).toEqual(["user: a", "assistant: ok", "user: b"]);
  });
});

describe("an engine that returns messages without their ids", () => {
  it("is understood by content, and the report says so", async () => {
    const host = testHost({
      engine: passThrough({
        info: { id: "plain", name: "Plain" },
        assemble: ({ messages }) => ({
          messages: messages.map(({ __openclaw: _envelope, ...message }) => message as never),
          estimatedTokens: 0,
        }),
      }),
    });
    await host.say("a");
    const { report } = await host.say("b");
    expect(report.views).toEqual({ aligned: 2 });
    expect(report.modelCalls[0]!.messages.items.map(({ source }) => source.kind)).toEqual(
      expect.arrayContaining(["entry"]),
    );
  });

  it("may leave out an old message that says the same as the prompt", async () => {
    const host = testHost({
      engine: owner(({ messages }) => {
        const prompt = messages.findLastIndex(({ role }) => role === "user");
        const shown = messages
          .slice(prompt)
          .map(({ __openclaw: _envelope, ...message }) => message as never);
        return { messages: [{ role: "user", content: "what was" }, ...shown], estimatedTokens: 0 };
      }),
      replies: ["one", callTool("t"), "two"],
      tools: tools({ t: () => "x" }),
    });
    await host.say("continue");
    const { report } = await host.say("continue");
    expect(report.views).not.toHaveProperty("fallbacks");
    expect(host.lastSeen()).toEqual([
      "user: what was",
      "user: continue",
      "assistant: [toolCall]",
      "toolResult: x",
    ]);
  });
});
