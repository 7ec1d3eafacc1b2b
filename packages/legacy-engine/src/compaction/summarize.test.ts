import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { assistant, FIRST_TIMESTAMP, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { patientSleep, promptOf, scripted } from "../__fixtures__/session.ts";
import {
  type SummarizeRequest,
  summarizeInStages,
  summarizeStages,
  summarizeTiers,
  summarizeWithFallback,
} from "./summarize.ts";

const broken: ModelError = { kind: "invalid_response", message: "down" };
const overflow: ModelError = { kind: "overflow", message: "too large" };
const one = () => 1;
const turns = (count: number): AgentMessage[] =>
  Array.from({ length: count }, (_, index) =>
    user(`message ${index + 1}`, { timestamp: FIRST_TIMESTAMP + index * 60_000 }),
  );

function request(script: Parameters<typeof scripted>[0], extras: Partial<SummarizeRequest> = {}) {
  const model = scripted(script);
  return {
    model,
    request: {
      model,
      messages: turns(4),
      sleep: patientSleep(),
      random: () => 0.5,
      ...extras,
    } satisfies SummarizeRequest,
  };
}

describe("summarising without any message", () => {
  it("is the summary so far, or says that there was nothing", async () => {
    for (const summarize of [summarizeInStages, summarizeWithFallback]) {
      expect(await summarize(request(["x"], { messages: [] }).request)).toBe("No prior history.");
      expect(
        await summarize(request(["x"], { messages: [], previousSummary: "before" }).request),
      ).toBe("before");
    }
  });
});

describe("what the model surely cannot read", () => {
  it("is not sent to be refused: a message by itself is left out, and said to be", async () => {
    const giant = user("word ".repeat(20_000));
    const { model, request: three } = request(["the rest"], {
      messages: [giant, ...turns(2)],
      contextWindow: 8000,
    });
    const { summary, tier } = await summarizeTiers(three);
    expect(tier).toBe("partial");
    expect(summary).toMatch(/^the rest\n\n\[Large user \(~15K tokens\) omitted from summary\]$/);
    for (const call of model.calls) expect(promptOf(call).length).toBeLessThan(8000 * 4);
  });

  it("costs no request where there is nothing else", async () => {
    const { model, request: alone } = request(["never asked"], {
      messages: [user("word ".repeat(20_000))],
      contextWindow: 8000,
      lastResort: "none",
    });
    expect(await summarizeTiers(alone)).toMatchObject({
      summary: "",
      reason: "it is longer than what the summarising model reads",
    });
    expect(model.calls).toEqual([]);
  });
});

describe("stages", () => {
  it("asks once when everything fits into one chunk", async () => {
    const { model, request: small } = request(["all of it"], { maxChunkTokens: 1000 });
    expect(await summarizeInStages(small)).toBe("all of it");
    expect(model.calls).toHaveLength(1);
  });

  it("asks once for fewer than four messages, whatever their size", async () => {
    const { model, request: three } = request(["s"], {
      messages: turns(3),
      count: one,
      maxChunkTokens: 2,
    });
    await summarizeInStages(three);
    expect(promptOf(model.calls[0]!)).not.toContain("[Chunk");
    expect(model.calls.every((call) => !promptOf(call).includes("Merge them"))).toBe(true);
  });

  it("summarises two halves by themselves and merges them with the summary so far", async () => {
    const { model, request: two } = request(
      (_, index) => ["first half", "second half", "merged"][index]!,
      {
        count: one,
        maxChunkTokens: 3,
        previousSummary: "before",
        focus: "the tests",
      },
    );
    expect(await summarizeStages(two)).toEqual({ summary: "merged", tier: "full" });
    const prompts = model.calls.map(promptOf);
    expect(prompts[0]).toContain("message 2");
    expect(prompts[0]).not.toContain("message 3");
    expect(prompts.map((text) => text.includes("<previous-summary>\nbefore"))).toEqual([
      false,
      false,
      true,
    ]);
    expect(prompts[2]).toContain(
      "[Chunk 1 — oldest messages [2026-01-01 00:00 – 2026-01-01 00:01 UTC]]\nfirst half",
    );
    expect(prompts[2]).toContain(
      "[Chunk 2/2 — most recent messages [2026-01-01 00:02 – 2026-01-01 00:03 UTC]]\nsecond half",
    );
    for (const word of ["decisions", "TODOs", "open questions", "constraints"])
      expect(prompts[2]).toContain(word);
    expect(prompts[2]).toContain("the tests");
  });

  it("names chunks of messages without times by their place alone", async () => {
    const messages = ["a", "b", "c", "d"].map(
      (text): AgentMessage => ({ role: "user", content: text }),
    );
    const { model, request: two } = request(["s"], { messages, count: one, maxChunkTokens: 3 });
    await summarizeInStages(two);
    expect(promptOf(model.calls[2]!)).toContain("[Chunk 1 — oldest messages]\ns");
  });

  it("keeps every half when the merge fails", async () => {
    const script = (_: unknown, index: number) =>
      index < 2 ? `## Decisions\n- decision ${index}` : broken;
    const { request: two } = request(script, {
      count: one,
      maxChunkTokens: 3,
      lastResort: "extract",
      previousSummary: "## Decisions\n- decision before",
    });
    const { summary, tier } = await summarizeStages(two);
    expect(tier).toBe("extract");
    for (const words of ["decision before", "decision 0", "decision 1"])
      expect(summary).toContain(words);
  });

  it("asks nothing more after a failure that no request can mend", async () => {
    const script = (_: unknown, index: number) =>
      index === 0 ? "## Decisions\n- kept" : ({ kind: "auth", message: "no" } as const);
    const { model, request: two } = request(script, {
      messages: turns(8),
      count: one,
      maxChunkTokens: 5,
      lastResort: "extract",
    });
    const { summary, tier } = await summarizeStages(two);
    expect([tier, model.calls.length]).toEqual(["extract", 2]);
    for (const words of ["- kept", "message 8"]) expect(summary).toContain(words);
  });
});

describe("one stage", () => {
  it("carries the summary from chunk to chunk", async () => {
    const { model, request: chunked } = request((_, index) => `summary ${index + 1}`, {
      count: one,
      maxChunkTokens: 2.4,
    });
    expect(await summarizeTiers(chunked)).toEqual({ summary: "summary 2", tier: "full" });
    expect(promptOf(model.calls[0]!)).not.toContain("<previous-summary>");
    expect(promptOf(model.calls[1]!)).toContain("<previous-summary>\nsummary 1");
  });

  it("halves a chunk that does not fit, until it does", async () => {
    const script = (call: Parameters<typeof promptOf>[0]) =>
      (promptOf(call).match(/^\[User\]/gm)?.length ?? 0) > 1 ? overflow : "fits";
    const { model, request: big } = request(script, { maxChunkTokens: 1000 });
    expect(await summarizeTiers(big)).toEqual({ summary: "fits", tier: "full" });
    expect(model.calls).toHaveLength(1 + 2 + 4);
  });

  it("leaves out what is too large, says so, and never parts a call from its result", async () => {
    const call = toolCall("read", { path: "big.log" });
    const messages = [user("look"), assistant([call]), toolResult(call, "huge"), user("and?")];
    const count = (message: AgentMessage) => (message.role === "toolResult" ? 90_000 : 10);
    const script = (asked: Parameters<typeof promptOf>[0]) =>
      promptOf(asked).includes("huge") ? broken : "the rest";
    const { model, request: with90k } = request(script, {
      messages,
      count,
      contextWindow: 128_000,
    });
    const result = await summarizeTiers(with90k);
    expect(result).toMatchObject({
      summary: "the rest\n\n[Large toolResult (~90K tokens) omitted from summary]",
      tier: "partial",
    });
    expect(promptOf(model.calls.at(-1)!)).not.toContain("big.log");
  });

  it("skips the second tier when nothing was too large: it would be the same requests", async () => {
    const { model, request: down } = request([broken], { maxChunkTokens: 1000 });
    await summarizeWithFallback(down);
    expect(model.calls).toHaveLength(3);
  });
});

describe("the last resort", () => {
  it("is by default the documented note, word for word", async () => {
    const count = (message: AgentMessage) =>
      message.role === "user" && message.content === "message 2" ? 100_000 : 1;
    const { request: down } = request([broken], { count, contextWindow: 128_000 });
    expect(await summarizeWithFallback(down)).toBe(
      "Context contained 4 messages (1 oversized). Summary unavailable due to size limits.",
    );
    expect(await summarizeInStages(down)).toBe(
      "Context contained 4 messages (1 oversized). Summary unavailable due to size limits.",
    );
  });

  it("on wish is a summary made by code that goes on from the chunks a model had summarised", async () => {
    const script = (_: unknown, index: number) =>
      index === 0 ? "## Decisions\n- We keep SQLite." : broken;
    const { request: half } = request(script, {
      count: one,
      maxChunkTokens: 2.4,
      lastResort: "extract",
    });
    const { summary, tier, reason } = await summarizeTiers(half);
    expect([tier, reason]).toEqual(["extract", "the summarising model failed (invalid_response)"]);
    expect(summary).toContain("We keep SQLite");
    expect(summary).toContain("message 4");
    expect(summary).not.toContain("unavailable");
  });

  it("is never reached by the caller's abort", async () => {
    const controller = new AbortController();
    const { request: aborted } = request(
      () => {
        controller.abort(new Error("stop"));
        return "never";
      },
      { signal: controller.signal, lastResort: "extract" },
    );
    await expect(summarizeWithFallback(aborted)).rejects.toThrow("stop");
  });
});
