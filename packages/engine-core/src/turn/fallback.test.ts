import type { AssistantMessage, ContextEngine } from "@clew/plugin-sdk/core";
import type { ModelError, StreamEvent } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { callTool, MODEL, passThrough, type Reply, testHost, tools } from "../__fixtures__/host.ts";
import type { ModelPort, PolicyPort } from "../index.ts";

const failing = (kind: ModelError["kind"], more: object = {}): Reply => ({
  error: { kind, message: `It failed (${kind}).`, ...more } as ModelError,
});
const second = { model: { ...MODEL, provider: "second", contextWindow: 50_000 } };
const third = { model: { ...MODEL, provider: "third" }, ask: { serviceTier: "flex" } };
const names = (host: ReturnType<typeof testHost>) =>
  host.ports.model.calls.map(({ model }) => model.provider);

it("what is asked and not sent is in the report of each call, and logged until it is something else", async () => {
  const said: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text: "Fine." }],
    stopReason: "stop",
  };
  const host = testHost({
    replies: [
      { message: said, leftOut: ["b, which m does not take"] },
      { message: said, leftOut: ["b, which m does not take"] },
      { error: { kind: "overloaded", message: "Busy." } },
      "Fine.",
      "Fine.",
    ],
  });
  const leftOut = ["a, which m does not have"];
  const fallbacks = [{ model: { ...MODEL, id: "other" }, leftOut: ["c, which other lacks"] }];
  const told: unknown[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const { report } = await host.say("hi", turn === 3 ? {} : { leftOut, fallbacks });
    told.push(...report.modelCalls.map((call) => call.leftOut));
  }
  const both = [...leftOut, "b, which m does not take"];
  expect(told).toEqual([both, both, leftOut, ["c, which other lacks"], undefined]);
  expect(host.log.lines.filter((line) => line.includes("not sent to"))).toEqual([
    expect.stringContaining("test/model: a, which m does not have; b, which m does not take"),
    expect.stringContaining("test/model: a, which m does not have"),
    expect.stringContaining("test/other: c, which other lacks"),
  ]);
});

describe("a model that fails", () => {
  it("gives way to the next of the chain, and everybody is told", async () => {
    const host = testHost({ replies: [failing("overloaded"), "from the second"] });
    const result = await host.say("hi", { fallbacks: [second, third] });
    expect(result.outcome).toBe("completed");
    expect(names(host)).toEqual(["test", "second"]);
    expect(result.report).toMatchObject({
      model: { requested: "test/model", resolved: "second/model", fallback: "overloaded" },
      recoveries: [
        { model: "test/model", kind: "overloaded", action: "fallback", to: "second/model" },
      ],
      modelCalls: [
        { model: "test/model", failure: { kind: "overloaded" } },
        { stopReason: "stop" },
      ],
      budget: { contextWindow: 50_000 },
    });
    expect(result.report.modelCalls[1]).not.toHaveProperty("model");
    expect(host.events).toContainEqual({
      type: "notice",
      text: "test/model is overloaded; second/model answers instead.",
    });
    expect(host.log.lines).toContainEqual(
      expect.stringContaining("model test/model failed (overloaded); second/model answers instead"),
    );
    expect(host.lastSeen()).toEqual(["user: hi"]);
  });

  it("is left behind until one answers, and each is asked in its own way", async () => {
    const host = testHost({
      replies: [failing("rate_limited", { retryAfterMs: 60_000 }), failing("billing"), "third"],
    });
    const result = await host.say("hi", {
      ask: { serviceTier: "priority" },
      fallbacks: [second, third],
    });
    expect(names(host)).toEqual(["test", "second", "third"]);
    expect(host.ports.model.calls.map(({ serviceTier }) => serviceTier)).toEqual([
      "priority",
      undefined,
      "flex",
    ]);
    expect(result.report.recoveries).toMatchObject([
      { kind: "rate_limited", retryAfterMs: 60_000, to: "second/model" },
      { kind: "billing", to: "third/model" },
    ]);
  });

  it("is the last word when nobody is left, and is told as what it was", async () => {
    const host = testHost({ replies: [failing("overloaded"), failing("auth")] });
    const result = await host.say("hi", { fallbacks: [second] });
    expect(result).toMatchObject({ outcome: "failed", error: { kind: "auth" } });
    expect(host.ports.model.calls).toHaveLength(2);
  });

  it.each(["aborted", "refused", "invalid_request"] as const)(
    "keeps the turn when another could do no better: %s",
    async (kind) => {
      const host = testHost({ replies: [failing(kind), "never"] });
      const result = await host.say("hi", { fallbacks: [second] });
      expect(result.error?.kind).toBe(kind);
      expect(names(host)).toEqual(["test"]);
    },
  );

  it("is not replaced once a person has seen the beginning of its answer", async () => {
    const asked: string[] = [];
    const model: ModelPort = {
      async *stream({ model: { provider } }): AsyncIterable<StreamEvent> {
        asked.push(provider);
        yield { type: "text", delta: "Half an" };
        yield {
          type: "error",
          error: { kind: "network", message: "It broke off." },
          partial: {
            role: "assistant",
            content: [{ type: "text", text: "Half an" }],
            stopReason: "error",
          },
        };
      },
      complete: async () => ({
        ok: false,
        error: { kind: "network", message: "" },
        partial: { role: "assistant", content: [], stopReason: "error" },
      }),
    };
    const watched = testHost({ ports: { model } });
    const result = await watched.say("hi", { fallbacks: [second] });
    expect(result.error).toMatchObject({ kind: "network" });
    expect(asked).toEqual(["test"]);
  });

  it("in the middle of a turn hands over what was done", async () => {
    const host = testHost({
      replies: [callTool("look"), failing("timeout"), "done"],
      tools: tools({ look: () => "seen" }),
    });
    const result = await host.say("hi", { fallbacks: [second] });
    expect(result.outcome).toBe("completed");
    expect(names(host)).toEqual(["test", "test", "second"]);
    expect(host.lastSeen()).toEqual(["user: hi", "assistant: [toolCall]", "toolResult: seen"]);
  });

  it("cannot hold the conversation, and a larger one can", async () => {
    const host = testHost({ replies: ["one", failing("overflow"), "held"] });
    await host.say("hi");
    const large = { model: { ...MODEL, provider: "large", contextWindow: 1_000_000 } };
    const result = await host.say("more", { fallbacks: [second, large] });
    expect(result.outcome).toBe("completed");
    expect(names(host)).toEqual(["test", "test", "large"]);
  });
});

describe("after a fallback", () => {
  const settings: object[] = [];
  const engine: ContextEngine = passThrough({
    info: { id: "watching", name: "Watching" },
    assemble: ({ messages, runtimeSettings, tokenBudget }) => {
      settings.push({ runtimeSettings, tokenBudget });
      return { messages, estimatedTokens: 0 };
    },
  });

  it("engines are told mode, reason, both models and the other budget", async () => {
    settings.length = 0;
    const host = testHost({ engine, replies: [failing("rate_limited"), "two"] });
    await host.say("hi", { fallbacks: [second] });
    expect(settings).toMatchObject([
      {
        runtimeSettings: {
          runtime: { mode: "normal" },
          model: { requested: "test/model", resolved: "test/model" },
        },
      },
      {
        runtimeSettings: {
          runtime: { mode: "fallback" },
          model: { requested: "test/model", resolved: "second/model", provider: "second" },
          diagnostics: { fallbackReason: "rate_limited" },
        },
      },
    ]);
    const [before, after] = settings as { tokenBudget: number }[];
    expect(after!.tokenBudget).toBeLessThan(before!.tokenBudget);
  });

  it("that happened in an earlier turn, engines and reports are told the same", async () => {
    settings.length = 0;
    const host = testHost({ engine, replies: ["one"] });
    const result = await host.say("hi", {
      model: second.model,
      requestedModel: "test/model",
      fallback: "auth",
    });
    expect(settings).toMatchObject([
      {
        runtimeSettings: {
          runtime: { mode: "fallback" },
          model: { requested: "test/model", resolved: "second/model" },
          diagnostics: { fallbackReason: "provider_unavailable" },
        },
      },
    ]);
    expect(result.report.model.fallback).toBe("auth");
    expect(result.report).not.toHaveProperty("recoveries");
  });

  it("the history is prepared for the model that answers", async () => {
    const asked: string[] = [];
    const policy: PolicyPort = {
      sanitizeHistory: async ({ messages, model }) => {
        asked.push(`history ${model.provider}`);
        return { messages, changes: [], sideRecords: [] };
      },
      repairPairing: ({ messages }) => ({ messages, changes: [] }),
      prepareOutbound: ({ messages, model }) => {
        asked.push(`call ${model.provider}`);
        return { messages, changes: [] };
      },
    };
    const host = testHost({ replies: [failing("not_found"), "two"], ports: { policy } });
    await host.say("hi", { fallbacks: [second] });
    expect(asked).toEqual(["history test", "call test", "history second", "call second"]);
  });
});
